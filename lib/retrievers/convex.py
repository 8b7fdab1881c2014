"""Convex combination of dense and BM25 scores (Bruch, Gai & Ingber, TOIS 2023): ``alpha dense + (1 - alpha) BM25``.

Both are first brought to 0..1 question by question, by the least and the greatest score among the candidates, since
cosines and BM25 sums have different ranges. Akarsu et al. (2026) and Kim et al. (2025) fuse in this way.
"""

import numpy as np

from lib.retrievers import bm25, dense


def min_max(scores: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Scores brought to 0..1 over the candidates of each question.

    Args:
        scores: shape (n_questions, n_chunks); ``-inf`` for what was not scored, which counts as the least.
        candidates: boolean, same shape.

    Returns:
        float64, same shape; 0 outside of the candidates, and where all candidates score the same.
    """
    is_scored = candidates & np.isfinite(scores)
    low = np.where(is_scored, scores, np.inf).min(axis=1, keepdims=True, initial=np.inf)
    high = np.where(is_scored, scores, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    has_range = high > low
    scaled = (scores - np.where(has_range, low, 0.0)) / np.where(has_range, high - low, 1.0)
    return np.where(is_scored & has_range, scaled, 0.0)


def mix(dense_scores: np.ndarray, sparse_scores: np.ndarray, candidates: np.ndarray, alpha) -> np.ndarray:
    """``alpha`` times the dense scores plus ``1 - alpha`` times the sparse ones, both as :func:`min_max` gives them.

    Args:
        dense_scores, sparse_scores: shape (n_questions, n_chunks), 0..1.
        candidates: boolean, same shape.
        alpha: a weight from 0 to 1, or one for each question, shape (n_questions, 1).

    Returns:
        Same shape, 0..1; ``-inf`` outside of the candidates.

    Raises:
        ValueError: an ``alpha`` is not between 0 and 1.
    """
    if np.min(alpha) < 0 or np.max(alpha) > 1:
        raise ValueError(f"alpha is {alpha}: give a weight from 0 to 1")
    return np.where(candidates, alpha * dense_scores + (1 - alpha) * sparse_scores, -np.inf)


def scaled(study, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The scores of ``dense`` and of ``bm25`` over the candidates, as :func:`min_max` gives them."""
    matrices = (
        study.memo(("matrix", "dense"), lambda: dense.score(study, candidates)),
        study.memo(("matrix", "bm25"), lambda: bm25.score(study, candidates)),
    )
    return min_max(matrices[0], candidates), min_max(matrices[1], candidates)


def score(study, candidates: np.ndarray, *, alpha: float) -> np.ndarray:
    """The combination with a fixed ``alpha``, shape (n_questions, n_chunks)."""
    return mix(*scaled(study, candidates), candidates, alpha)
