"""A listwise linear ranker: softmax over a question's pages (ListNet with one gold list; Cao et al., ICML 2007).

Sixteen weights learnt from some hundred questions: the part of the combiner that cannot overfit much.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from lib.ahead.pool import Pool

FEATURES = (
    *("window", "window_expanded", "window_expanded_standing", "head_expanded", "words_expanded"),
    *(
        "words_expanded_standing",
        "statement_fit",
        "asked_items_best",
        "asked_items",
        "asked_titles",
        "company",
    ),
    *("near_year", "same_year", "quarter_fit", "type_fit", "near_date"),
)
CLIP = 5.0
MAX_ITERATIONS = 300


@dataclass(frozen=True)
class LinearRanker:
    """Weights of standardised features; a missing value counts as 0 before it is standardised."""

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]

    def scores(self, table: pd.DataFrame) -> np.ndarray:
        """The score of each row, shape (n_rows,)."""
        inputs = _clipped(_values(table, self.features), np.array(self.mean), np.array(self.scale))
        return inputs @ np.array(self.weights)


def _values(table: pd.DataFrame, features: Sequence[str]) -> np.ndarray:
    return np.nan_to_num(table[list(features)].to_numpy(np.float64))


def _clipped(values: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return np.clip((values - mean) / scale, -CLIP, CLIP)


def fit_linear(pool: Pool, gold: np.ndarray, l2: float) -> LinearRanker:
    """Fit by L-BFGS: the mean over questions and their gold pages of ``-log softmax``, plus ``l2 |w|² / 2``.

    Args:
        pool: pairs of training questions; a question without gold here is left out.
        gold: whether the pair's page is gold, boolean, shape (n_pairs,).
        l2: penalty.
    """
    features = [name for name in FEATURES if name in pool.table]
    values = _values(pool.table, features)
    mean, scale = values.mean(axis=0), values.std(axis=0) + 1e-6
    inputs = _clipped(values, mean, scale)
    _, starts, list_of = np.unique(pool.rows, return_index=True, return_inverse=True)
    n_gold = np.add.reduceat(gold.astype(float), starts)
    target = gold / np.maximum(n_gold, 1)[list_of]
    counted = (n_gold > 0)[list_of]
    n_lists = max((n_gold > 0).sum(), 1)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = inputs @ weights
        scores = scores - np.maximum.reduceat(scores, starts)[list_of]
        log_total = np.log(np.add.reduceat(np.exp(scores), starts))[list_of]
        share = np.exp(scores - log_total) * counted
        value = -(target * (scores - log_total)).sum() / n_lists + l2 * weights @ weights / 2
        return value, inputs.T @ (share - target) / n_lists + l2 * weights

    options = {"maxiter": MAX_ITERATIONS}
    found = minimize(loss, np.zeros(inputs.shape[1]), jac=True, method="L-BFGS-B", options=options)
    return LinearRanker(tuple(features), tuple(mean.tolist()), tuple(scale.tolist()), tuple(found.x.tolist()))
