"""Okapi BM25 (Robertson & Zaragoza, 2009) as a sparse matrix: sound weights, and those of ``rank_bm25``.

A sound term weight is never negative, as Lucene has it; words without content are left out. ``rank_bm25.BM25Okapi``
lifts the negative weight of a term in more than half of the texts to a quarter of the mean. Over filings, whose terms
are mostly numbers that occur once, "the" then weighs more than "revenue"; published studies used those scores.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence

import numpy as np
from scipy import sparse

from lib.method import Search, remembered
from lib.tokens import content_tokens, tokenize

#: How texts become tokens; a negative weight's floor as a share of the mean weight (None: sound weights).
FORMS: dict[str, tuple[Callable[[str], list[str]], float | None]] = {
    "sound": (content_tokens, None),
    "rank_bm25": (tokenize, 0.25),
    "rank_bm25, white space": (lambda text: text.lower().split(), 0.25),
}


def idf(n_texts: int, n_containing: np.ndarray, floor: float | None = None) -> np.ndarray:
    """Lucene's weight of terms, ``log(1 + (N - n + 0.5) / (n + 0.5))``, of the same shape as ``n_containing``.

    With a ``floor`` it is that of ``rank_bm25``: without the 1, and what is negative is this share of the mean.
    """
    if floor is None:
        return np.log1p((n_texts - n_containing + 0.5) / (n_containing + 0.5))
    weights = np.log(n_texts - n_containing + 0.5) - np.log(n_containing + 0.5)
    return np.where(weights < 0, floor * weights.cumsum()[-1] / len(weights), weights)


class BM25:
    """BM25 over tokenised texts; its ``idf`` has the weight of each term, shape (n_terms,).

    ``k1`` saturates term frequency, ``b`` (0 to 1) normalises length, for ``floor`` see :func:`idf`; ``only`` has the
    terms that queries may have, by default all.
    """

    tokens: Callable[[str], list[str]] = staticmethod(tokenize)  # of questions, where built from texts

    def __init__(
        self,
        texts: Sequence[Sequence[str]],
        k1: float = 1.5,
        b: float = 0.75,
        floor: float | None = None,
        only: Container[str] | None = None,
    ):
        counts = [Counter(text if only is None else filter(only.__contains__, text)) for text in texts]
        self.vocabulary = known = {}
        rows = np.array([known.setdefault(term, len(known)) for c in counts for term in c], int)
        columns = np.repeat(np.arange(len(texts)), [len(c) for c in counts])
        values = np.array([number for c in counts for number in c.values()], float)
        lengths = np.array([len(text) for text in texts], float)
        norm = k1 * (1 - b + b * lengths / (lengths.sum() / max(1, len(texts)) or 1.0))
        self.idf = idf(len(texts), np.bincount(rows, minlength=len(known)), floor)
        weights = self.idf[rows] * values * (k1 + 1) / (values + norm[columns])
        self.weights = sparse.csr_array((weights, (rows, columns)), shape=(len(known), len(texts)))

    @classmethod
    def of_texts(cls, texts: Iterable[str], k1: float, b: float, form: str = "sound") -> "BM25":
        """A model of texts in one of FORMS, which also says how questions become tokens."""
        tokens, floor = FORMS[form]
        model = cls([tokens(text) for text in texts], k1, b, floor)
        model.tokens = tokens
        return model

    @classmethod
    def of_weights(cls, terms: Iterable[str], weights: sparse.csr_array) -> "BM25":
        """A model of sound weights as it was, (n_terms, n_texts): it scores, and has no ``idf``."""
        model = cls.__new__(cls)
        model.vocabulary, model.weights = {term: row for row, term in enumerate(terms)}, weights
        model.tokens = FORMS["sound"][0]
        return model

    def scores(self, query: Sequence[str]) -> np.ndarray:
        """The score of every text for a tokenised query, shape (n_texts,); a repeated term counts again."""
        rows = [self.vocabulary[term] for term in query if term in self.vocabulary]
        return np.asarray(self.weights[rows].sum(axis=0)).ravel() if rows else np.zeros(self.weights.shape[1])


@remembered
def index(study: Search, k1: float | None = None, form: str = "sound") -> BM25:
    """BM25 over the study's chunks, built once a process for each ``k1`` (by default the profile's) and form."""
    settings = study.profile.bm25
    return BM25.of_texts(study.chunks["text"], settings.k1 if k1 is None else k1, settings.b, form)


def text_scores(model: BM25, texts: Iterable[str]) -> np.ndarray:
    """BM25 of each chunk for each text, shape (n_texts, n_chunks)."""
    return np.stack([model.scores(model.tokens(text)) for text in texts])


def score(study: Search, candidates: np.ndarray, *, k1: float | None = None, form: str = "sound") -> np.ndarray:
    """BM25 of each chunk for each question, shape (n_questions, n_chunks), with the whole index's statistics."""
    return text_scores(index(study, k1, form), study.questions["question"])
