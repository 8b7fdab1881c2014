"""Dense retrieval (Karpukhin et al., EMNLP 2020; Reimers & Gurevych, EMNLP 2019): cosine of unit vectors.

A chunk that is longer than the encoder's window is several windows, and scores as its best one; ``pooling="mean"``
scores it by the mean of its windows instead, as one vector that has to stand for all of the chunk. Parent-child
(small-to-big retrieval; Yang, 2023) searches small children and returns the chunks that they are spans of.
"""

import numpy as np

from lib.chunkings.sizes import PARTS, child_vectors, children
from lib.models.index import encode_queries, window_vectors
from lib.study import Study


def best_window_scores(
    queries: np.ndarray, windows: np.ndarray, owners: np.ndarray, n_chunks: int
) -> np.ndarray:
    """The cosine of each chunk's best window, shape (n_queries, n_chunks); ``-inf`` for a chunk without a window.

    Args:
        queries, windows: unit vectors, shapes (n_queries, dimension) and (n_windows, dimension).
        owners: the chunk that each window lies in, not falling, shape (n_windows,).
        n_chunks: number of chunks.
    """
    scores = np.full((len(queries), n_chunks), -np.inf, np.float32)
    if len(windows):
        chunks, starts = np.unique(owners, return_index=True)
        scores[:, chunks] = np.maximum.reduceat(queries @ windows.T, starts, axis=1)
    return scores


def mean_vectors(owners: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean of each chunk's windows, made a unit vector again: the chunks, and their vectors (n_chunks, d)."""
    chunks, starts = np.unique(owners, return_index=True)
    sums = np.add.reduceat(vectors, starts, axis=0) if len(owners) else vectors
    return chunks, sums / np.linalg.norm(sums, axis=1, keepdims=True).clip(1e-12)


def question_vectors(study: Study) -> np.ndarray:
    """The unit vectors of the questions, shape (n_questions, dimension)."""
    return encode_queries(study, study.questions["question"].tolist())


def score_vectors(study: Study, queries: np.ndarray, pooling: str = "best") -> np.ndarray:
    """Cosine between given query vectors and each chunk, shape (n_queries, n_chunks); see :func:`score`."""
    owners, vectors = window_vectors(study)
    if pooling == "mean":
        owners, vectors = mean_vectors(owners, vectors)
    return best_window_scores(queries, vectors, owners, len(study.chunks))


def score(study: Study, candidates: np.ndarray, *, pooling: str = "best") -> np.ndarray:
    """Cosine between the question and each chunk, by its ``best`` window or the ``mean`` of its windows."""
    return score_vectors(study, question_vectors(study), pooling)


def score_aggregate(study: Study, candidates: np.ndarray) -> np.ndarray:
    """The scores of all parts of the table ``aggregate`` side by side, shape (n_questions, n_chunks)."""
    return np.concatenate([score(study.with_chunks(name), candidates) for name in PARTS], axis=1)


def score_children(study: Study, candidates: np.ndarray) -> np.ndarray:
    """Cosine between the question and each chunk's best child, shape (n_questions, n_chunks)."""
    owners = children(study)["chunk"].to_numpy()
    return best_window_scores(question_vectors(study), child_vectors(study), owners, candidates.shape[1])
