"""A listwise linear ranker: softmax over a question's pages (ListNet with one gold list; Cao et al., ICML 2007).

Sixteen weights learnt from some hundred questions: the part of the combiner that cannot go far wrong.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize

FEATURES = (
    "window",
    "window_expanded",
    "window_expanded_standing",
    "head_expanded",
    "words_expanded",
    "words_expanded_standing",
    "statement_fit",
    "asked_items_best",
    "asked_items",
    "asked_titles",
    "company",
    "near_year",
    "same_year",
    "quarter_fit",
    "type_fit",
    "near_date",
)
CLIP = 5.0


@dataclass(frozen=True)
class LinearRanker:
    """Weights over standardised features; a missing value counts as 0 before it is standardised."""

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]

    def scores(self, table: pd.DataFrame) -> np.ndarray:
        """The score of each row, shape (n_rows,)."""
        inputs = _standard(_values(table, self.features), np.array(self.mean), np.array(self.scale))
        return inputs @ np.array(self.weights)

    def record(self) -> dict:
        """JSON-able, for :meth:`of_record`."""
        return asdict(self)

    @classmethod
    def of_record(cls, record: dict) -> "LinearRanker":
        """The ranker that :meth:`record` wrote."""
        return cls(**{name: tuple(values) for name, values in record.items()})


def _values(table: pd.DataFrame, features: Sequence[str]) -> np.ndarray:
    return np.nan_to_num(table[list(features)].to_numpy(np.float64))


def _standard(values: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return np.clip((values - mean) / scale, -CLIP, CLIP)


def fit_linear(table: pd.DataFrame, gold: np.ndarray, rows: np.ndarray, l2: float) -> LinearRanker:
    """Fit by L-BFGS: the mean over questions and their gold pages of ``-log softmax``, plus ``l2 |w|² / 2``.

    Args:
        table: features, one row a pair.
        gold: whether the pair's page is gold, boolean.
        rows: the question of each pair, the pairs of a question together; one without gold here is left out.
        l2: penalty.
    """
    features = [name for name in FEATURES if name in table]
    values = _values(table, features)
    mean, scale = values.mean(axis=0), values.std(axis=0) + 1e-6
    inputs = _standard(values, mean, scale)
    starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
    list_of = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(rows)]))
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

    found = minimize(loss, np.zeros(inputs.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return LinearRanker(tuple(features), tuple(mean.tolist()), tuple(scale.tolist()), tuple(found.x.tolist()))
