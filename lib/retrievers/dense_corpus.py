"""Dense retrieval over another chunk table: cosine of unit vectors, taken from the study's own where texts agree.

As in :mod:`lib.retrievers.dense`, a chunk of several windows scores as its best one; ``pooling="mean"`` scores it by
the mean of its windows instead, as one vector that has to stand for all of the chunk.
"""

import numpy as np

from lib.chunkings.aggregate import PARTS
from lib.chunkings.embedding import window_vectors_of
from lib.models.index import encode_queries, window_vectors
from lib.retrievers.dense import best_window_scores


def score(study, candidates: np.ndarray, *, pooling: str = "best") -> np.ndarray:
    """Cosine between the question and each chunk, shape (n_questions, n_chunks).

    Args:
        study: over any chunk table.
        candidates: not read; a chunk's score does not depend on the others.
        pooling: ``best`` window of a chunk, or the ``mean`` of its windows.

    Raises:
        ValueError: another pooling.
    """
    queries = encode_queries(study.base, study.questions["question"].tolist())
    owners, vectors = window_vectors_of(study) if study.corpus else window_vectors(study)
    if pooling == "mean":
        owners, vectors = mean_vectors(owners, vectors)
    elif pooling != "best":
        raise ValueError(f"pooling is {pooling!r}: say best or mean")
    return best_window_scores(queries, vectors, owners, len(study.chunks))


def mean_vectors(owners: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean of each chunk's windows, made a unit vector again: the chunks, and their vectors (n_chunks, d)."""
    if not len(owners):
        return owners, vectors
    chunks, starts = np.unique(owners, return_index=True)
    sums = np.add.reduceat(vectors, starts, axis=0)
    return chunks, sums / np.linalg.norm(sums, axis=1, keepdims=True).clip(1e-12)


def score_aggregate(study, candidates: np.ndarray) -> np.ndarray:
    """The scores of all parts of the table ``aggregate`` side by side, shape (n_questions, n_chunks)."""
    return np.concatenate([score(study.over(name), candidates) for name in PARTS], axis=1)
