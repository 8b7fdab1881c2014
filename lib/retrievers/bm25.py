"""Okapi BM25 (Robertson & Zaragoza, 2009), with the statistics of ``rank_bm25`` and a sparse matrix for speed.

``rank_bm25.BM25Okapi`` scores one question in a Python loop over all chunks. Its term statistics (idf with its floor,
document lengths) are taken as they are, and every term's contribution to every chunk is laid into one sparse
matrix, so that a question is a few row sums. A test holds both to equal scores.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
from rank_bm25 import BM25Okapi
from scipy import sparse

from lib.study import Study

TOKEN = re.compile(r"\$?\d+(?:,\d{3})*(?:\.\d+)?%?|[a-z]+(?:[&'-][a-z]+)*|[$%]")


def tokenize(text: str) -> list[str]:
    """Lower-case words and numbers; ``$1,577.0``, ``4.2%``, ``p&l`` and ``year-end`` stay whole.

    A number with signs or thousands' commas also gives the bare number, since a question says ``$1577`` and a table
    ``1,577``.
    """
    tokens = []
    for token in TOKEN.findall(text.lower()):
        bare = token.strip("$%").replace(",", "")
        tokens += [token, bare] if bare and bare != token else [token]
    return tokens


class BM25:
    """BM25 over tokenised texts.

    Args:
        texts: tokenised texts.
        k1: saturation of term frequency.
        b: weight of the length normalisation, 0 to 1.
        epsilon: floor of a negative idf, as a share of the mean idf (``rank_bm25``'s rule: a term in more than half
            of the texts would otherwise count against them).
    """

    def __init__(
        self, texts: Sequence[Sequence[str]], k1: float = 1.5, b: float = 0.75, epsilon: float = 0.25
    ):
        statistics = BM25Okapi([list(text) for text in texts], k1=k1, b=b, epsilon=epsilon)
        self.vocabulary = {term: row for row, term in enumerate(statistics.idf)}
        lengths = np.asarray(statistics.doc_len, np.float64)
        norm = k1 * (1 - b + b * lengths / statistics.avgdl)
        rows, columns, counts = [], [], []
        for column, frequencies in enumerate(statistics.doc_freqs):
            rows += [self.vocabulary[term] for term in frequencies]
            columns += [column] * len(frequencies)
            counts += frequencies.values()
        rows, columns, counts = np.asarray(rows, int), np.asarray(columns, int), np.asarray(counts, float)
        idf = np.fromiter(statistics.idf.values(), float, len(statistics.idf))
        weights = idf[rows] * counts * (k1 + 1) / (counts + norm[columns])
        self.weights = sparse.csr_array((weights, (rows, columns)), shape=(len(idf), len(texts)))

    @classmethod
    def of_weights(cls, weights: sparse.csr_array, vocabulary: dict[str, int]) -> "BM25":
        """A model from stored weights, shape (n_terms, n_texts), and the row of each term."""
        model = cls.__new__(cls)
        model.weights, model.vocabulary = weights, vocabulary
        return model

    def scores(self, query: Sequence[str]) -> np.ndarray:
        """The score of every text for a tokenised query, shape (n_texts,); a repeated term counts again."""
        rows = [self.vocabulary[term] for term in query if term in self.vocabulary]
        return np.asarray(self.weights[rows].sum(axis=0)).ravel() if rows else np.zeros(self.weights.shape[1])


def index(study: Study, k1: float | None = None, b: float | None = None) -> BM25:
    """BM25 over the study's chunks, built once a process for each ``k1`` and ``b``; by default the profile's."""
    k1 = study.profile.bm25.k1 if k1 is None else k1
    b = study.profile.bm25.b if b is None else b
    return study.memo(("bm25", k1, b), lambda: BM25(list(map(tokenize, study.chunks["text"])), k1, b))


def text_scores(model: BM25, texts: Iterable[str]) -> np.ndarray:
    """BM25 of each chunk for each text, shape (n_texts, n_chunks)."""
    return np.stack([model.scores(tokenize(text)) for text in texts])


def score(
    study: Study, candidates: np.ndarray, *, k1: float | None = None, b: float | None = None
) -> np.ndarray:
    """BM25 of each chunk for each question, shape (n_questions, n_chunks).

    The statistics are those of the whole shared index under every condition, as the candidates of a condition are a
    filter on one index. ``k1`` and ``b`` are the profile's if they are not given.
    """
    return text_scores(index(study, k1, b), study.questions["question"])
