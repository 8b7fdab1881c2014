"""Dense retrieval (Karpukhin et al., EMNLP 2020; Reimers & Gurevych, EMNLP 2019): cosine of unit vectors.

A chunk that is longer than the encoder's window is several windows, and scores as its best one.
"""

import numpy as np

from lib.models.index import encode_queries, window_vectors


def best_window_scores(
    queries: np.ndarray, windows: np.ndarray, owners: np.ndarray, n_chunks: int
) -> np.ndarray:
    """The cosine of each chunk's best window.

    Args:
        queries: unit vectors, shape (n_queries, dimension).
        windows: unit vectors, shape (n_windows, dimension).
        owners: the chunk that each window lies in, not falling, shape (n_windows,).
        n_chunks: number of chunks.

    Returns:
        Shape (n_queries, n_chunks); ``-inf`` for a chunk without a window.
    """
    scores = np.full((len(queries), n_chunks), -np.inf, np.float32)
    if len(windows):
        chunks, starts = np.unique(owners, return_index=True)
        scores[:, chunks] = np.maximum.reduceat(queries @ windows.T, starts, axis=1)
    return scores


def score(study, candidates: np.ndarray) -> np.ndarray:
    """Cosine between the question and each chunk's best window, shape (n_questions, n_chunks)."""
    return score_vectors(study, encode_queries(study, study.questions["question"].tolist()))


def score_vectors(study, queries: np.ndarray) -> np.ndarray:
    """Cosine between given query vectors and each chunk's best window, shape (n_queries, n_chunks)."""
    owners, vectors = window_vectors(study)
    return best_window_scores(queries, vectors, owners, len(study.chunks))
