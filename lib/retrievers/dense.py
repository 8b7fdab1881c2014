"""Dense retrieval (Karpukhin et al., EMNLP 2020; Reimers & Gurevych, EMNLP 2019): cosine of unit vectors.

A chunk that is longer than the encoder's window is several windows, and scores as its best one; one of a fixed size has
one vector. Parent-child (small-to-big; Yang, 2023) searches small children and returns the chunks that they are of.
"""

from collections.abc import Iterable

import numpy as np

from lib.chunkings.sizes import SIZES, child_vectors, children, sizes_together
from lib.method import Search
from lib.models.vectors import chunk_vectors, encode_queries, window_vectors
from lib.settings import SPECIAL_TOKENS

BLOCK = 8192  # vectors that are held in double precision at a time


def cosines(queries: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """The cosine of each pair of unit vectors, float32 of shape (n_queries, n_vectors).

    Products in double precision are rounded once, so that equal vectors score equally wherever they stand.
    """
    queries, products = queries.astype(np.float64), np.empty((len(queries), len(vectors)), np.float32)
    for start in range(0, len(vectors), BLOCK):
        rows = slice(start, start + BLOCK)
        products[:, rows] = queries @ vectors[rows].astype(np.float64).T
    return products


def best_window_scores(queries: np.ndarray, windows: np.ndarray, owners: np.ndarray, n_chunks: int) -> np.ndarray:
    """The cosine of each chunk's best window, shape (n_queries, n_chunks); ``-inf`` for a chunk without a window.

    ``owners`` has the chunk that each window lies in, not falling, shape (n_windows,); vectors are of length 1.
    """
    scores = np.full((len(queries), n_chunks), -np.inf, np.float32)
    if len(windows):
        chunks, starts = np.unique(owners, return_index=True)
        scores[:, chunks] = np.maximum.reduceat(cosines(queries, windows), starts, axis=1)
    return scores


def question_vectors(search: Search) -> np.ndarray:
    """The unit vectors of the questions, shape (n_questions, dimension)."""
    return encode_queries(search, search.questions["question"].tolist())


def score_vectors(search: Search, queries: np.ndarray) -> np.ndarray:
    """As :func:`score`, with given query vectors."""
    owners, vectors = window_vectors(search)
    return best_window_scores(queries, vectors, owners, len(search.chunks))


def score_texts(search: Search, texts: Iterable[str]) -> np.ndarray:
    """As :func:`score`, with one text in place of each question."""
    return score_vectors(search, encode_queries(search, list(texts)))


def score(search: Search, candidates: np.ndarray) -> np.ndarray:
    """Cosine between the question and the best window of each chunk, shape (n_questions, n_chunks)."""
    return score_texts(search, search.questions["question"])


def score_whole(search: Search, candidates: np.ndarray) -> np.ndarray:
    """Cosine between the question and one vector of all of each chunk of a fixed size, shape (n_questions, n_chunks);
    the encoder's window is widened where a chunk is longer."""
    window = max(search.profile.embedder.window, SIZES[search.chunking][0] + SPECIAL_TOKENS)
    chunks = search.chunks
    vectors = chunk_vectors(search, search.chunking, np.arange(len(chunks)), chunks["text"], window=window)
    return cosines(question_vectors(search), vectors)


def score_sizes(search: Search, candidates: np.ndarray) -> np.ndarray:
    """The scores of the chunks of all fixed sizes in one index, shape (n_questions, n_chunks)."""
    scores = np.concatenate([score_whole(search.with_chunks(name), candidates) for name in SIZES], axis=1)
    return scores[:, sizes_together(search)[1]]


def score_children(search: Search, candidates: np.ndarray) -> np.ndarray:
    """Cosine between the question and each chunk's best child, shape (n_questions, n_chunks)."""
    owners = children(search)["chunk"].to_numpy()
    return best_window_scores(question_vectors(search), child_vectors(search), owners, candidates.shape[1])
