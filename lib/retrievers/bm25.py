"""Okapi BM25 (Robertson & Zaragoza, 2009) by ``rank_bm25``, with sound weights and as a sparse matrix.

A sound term weight is never negative, as Lucene has it; words without content are left out. ``rank_bm25.BM25Okapi``
lifts the negative weight of a term in more than half of the texts to a quarter of the mean. Over filings, whose terms
are mostly numbers that occur once, "the" then weighs more than "revenue"; published studies used those scores.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from rank_bm25 import BM25Okapi
from scipy import sparse

from lib.method import Search, memoized
from lib.text.tokens import content_tokens, tokenize

#: How texts become tokens, and whether weights are sound.
FORMS: dict[str, tuple[Callable[[str], list[str]], bool]] = {
    "sound": (content_tokens, True),
    "rank_bm25": (tokenize, False),
    "rank_bm25, white space": (lambda text: text.lower().split(), False),
}


def sound_idf(n_texts: int, n_containing: np.ndarray) -> np.ndarray:
    """Lucene's weight of terms, ``log(1 + (N - n + 0.5) / (n + 0.5))``, of the same shape as ``n_containing``."""
    return np.log1p((n_texts - n_containing + 0.5) / (n_containing + 0.5))


class BM25(BM25Okapi):
    """``rank_bm25``'s model of tokenised texts; ``weights``, (n_terms, n_texts), is what a term adds to a score.

    ``k1`` saturates term frequency, ``b`` (0 to 1) normalises length; ``is_sound`` says whether a term has Lucene's
    weight or the library's.
    """

    tokens: Callable[[str], list[str]] = staticmethod(tokenize)  # of questions, where built from texts

    def __init__(self, texts: Sequence[Sequence[str]], k1: float = 1.5, b: float = 0.75, is_sound: bool = True):
        self.is_sound = is_sound
        super().__init__(texts or [[]], k1=k1, b=b)  # the library divides by the number of texts
        self.vocabulary = row_of = {term: row for row, term in enumerate(self.idf)}
        rows = np.array([row_of[term] for text in self.doc_freqs for term in text], int)
        columns = np.repeat(np.arange(len(self.doc_freqs)), [len(text) for text in self.doc_freqs])
        counts = np.array([count for text in self.doc_freqs for count in text.values()], float)
        norm = k1 * (1 - b + b * np.array(self.doc_len)[columns] / self.avgdl)
        weights = np.array([*self.idf.values()])[rows] * (counts * (k1 + 1) / (counts + norm))
        self.weights = sparse.csr_array((weights, (rows, columns)), shape=(len(row_of), len(texts)))
        del self.doc_freqs  # hundreds of MiB over FinanceBench's pages, and all in the matrix

    @classmethod
    def of_texts(cls, texts: Iterable[str], k1: float, b: float, form: str = "sound") -> "BM25":
        """A model of texts in one of FORMS, which also says how questions become tokens."""
        tokens, is_sound = FORMS[form]
        model = cls([tokens(text) for text in texts], k1, b, is_sound)
        model.tokens = tokens
        return model

    @classmethod
    def of_weights(cls, terms: Iterable[str], weights: sparse.csr_array) -> "BM25":
        """A model of sound weights as it was, (n_terms, n_texts): it scores, and has no ``idf``."""
        model = cls.__new__(cls)
        model.vocabulary, model.weights = {term: row for row, term in enumerate(terms)}, weights
        model.tokens = FORMS["sound"][0]
        return model

    def _calc_idf(self, nd: dict[str, int]) -> None:
        if self.is_sound:
            self.idf = dict(zip(nd, sound_idf(self.corpus_size, np.array([*nd.values()])).tolist(), strict=True))
        elif nd:  # by whose number the library divides
            super()._calc_idf(nd)

    def get_scores(self, query: Sequence[str]) -> np.ndarray:
        """The score of every text for a tokenised query, shape (n_texts,); a repeated term counts again."""
        rows = [self.vocabulary[term] for term in query if term in self.vocabulary]
        return np.asarray(self.weights[rows].sum(axis=0)).ravel() if rows else np.zeros(self.weights.shape[1])


@memoized
def index(search: Search, k1: float | None = None, form: str = "sound") -> BM25:
    """BM25 over the study's chunks, built once a process for each ``k1`` (by default the profile's) and form."""
    settings = search.profile.bm25
    return BM25.of_texts(search.chunks["text"], settings.k1 if k1 is None else k1, settings.b, form)


def text_scores(model: BM25, texts: Iterable[str]) -> np.ndarray:
    """BM25 of each chunk for each text, shape (n_texts, n_chunks)."""
    return np.stack([model.get_scores(model.tokens(text)) for text in texts])


def score(search: Search, candidates: np.ndarray, *, k1: float | None = None, form: str = "sound") -> np.ndarray:
    """BM25 of each chunk for each question, shape (n_questions, n_chunks), with the whole index's statistics."""
    return text_scores(index(search, k1, form), search.questions["question"])
