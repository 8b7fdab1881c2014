"""Reciprocal rank fusion (Cormack, Clarke & Buettcher, SIGIR 2009), and scales on which scores can be added.

Each scale is of a question's candidates, over axis 1; what was not scored (``-inf``) and all others are 0.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from lib.method import Search
from lib.runs import rank


def reciprocal_rank_fusion(
    runs: Iterable[pd.DataFrame], questions: pd.DataFrame, chunks: pd.DataFrame, k_rrf: int = 60
) -> np.ndarray:
    """Sums of ``1 / (k_rrf + rank)`` over ranked lists, shape (n_questions, n_chunks), ``-inf`` for no list.

    Chunks with one key are one: they count once in a list, at their best rank, and the first of them has the score;
    with a small ``k_rrf`` the first ranks decide.
    """
    _, first, key_of = np.unique(chunks["key"], return_index=True, return_inverse=True)
    sums = np.zeros((len(questions), len(chunks)))
    for run in runs:
        rows = pd.Index(questions["question_id"]).get_indexer(run["question_id"])
        columns = first[key_of[pd.Index(chunks["chunk_id"]).get_indexer(run["chunk_id"])]]
        best = pd.DataFrame({"row": rows, "column": columns}).drop_duplicates()
        sums[best["row"], best["column"]] += 1 / (k_rrf + best.groupby("row").cumcount().to_numpy() + 1)
    return np.where(sums > 0, sums, -np.inf).astype(np.float32)


def fused(search: Search, matrices: Iterable[np.ndarray], candidates: np.ndarray) -> np.ndarray:
    """Score matrices, each ranked among the candidates, fused as the profile says, shape (n_questions, n_chunks)."""
    settings, about = search.profile.hybrid_rrf, (search.questions, search.chunks)
    lists = (rank(np.where(candidates, scores, -np.inf), *about, settings.depth) for scores in matrices)
    return reciprocal_rank_fusion(lists, *about, settings.k_rrf)


def score(search: Search, candidates: np.ndarray, *, k_rrf: int | None = None, dense: str = "dense") -> np.ndarray:
    """The fused score of a row, ``dense``, and of ``bm25`` over its chunks, shape (n_questions, n_chunks); ``k_rrf`` is
    else the profile's."""
    settings = search.profile.hybrid_rrf
    lists = [search.rank_method(name, candidates, settings.depth) for name in (dense, "bm25")]
    return reciprocal_rank_fusion(lists, search.questions, search.chunks, settings.k_rrf if k_rrf is None else k_rrf)


def _scored(scores: np.ndarray, candidates: np.ndarray) -> np.ma.MaskedArray:
    return np.ma.masked_array(scores, ~(candidates & np.isfinite(scores)))


def min_max(scores: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Min-max scaled scores of each question, from 0 to 1; 0 where all are the same."""
    values = _scored(scores, candidates)
    low, high = (end(axis=1, keepdims=True) for end in (values.min, values.max))
    return ((values - low) / (high - low)).filled(0.0)


def softmax(scores: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """``exp(score)`` as a share of its sum over the candidates of each question, float64."""
    values = _scored(scores, candidates)
    raised = np.ma.exp(values - values.max(axis=1, keepdims=True)).filled(0.0).astype(float)
    return raised / raised.sum(axis=1, keepdims=True).clip(np.finfo(float).tiny)


def standardised(values: np.ndarray, axis: int = -1, epsilon: float = 1e-6) -> np.ndarray:
    """Values with mean 0 and deviation 1 along an axis, so that they can be added; equal ones become 0.

    ``epsilon`` is added to the deviation; with 0 equal values have no result.
    """
    return (values - values.mean(axis=axis, keepdims=True)) / (values.std(axis=axis, keepdims=True) + epsilon)
