"""Claims that are no difference of two means: where a sweep is highest, and whether two measures move together.

Both are statistics of means, so they are bootstrapped over companies: a draw of companies gives new means, and these a
new value of the statistic (Davison & Hinkley, 1997, 3.8). The p against a bound is twice the smaller share of draws on
either side of it, plus one as in Phipson & Smyth (2010).

How many questions would tell: the bootstrap is repeated with 2, 3, … times as many companies, as if further ones were
like these, until its interval leaves the bound at the level of the verdict.
"""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from lib.analysis.verdicts import Finding
from lib.stats import LEVEL

Statistic = Callable[[np.ndarray], np.ndarray]
MOST_TIMES = 64


def resampled_means(
    values: pd.DataFrame, clusters: pd.Series, n_draws: int, seed: int, times: int = 1
) -> np.ndarray:
    """The column means of draws of whole clusters, shape (n_draws, n_columns).

    Args:
        values: questions × columns.
        clusters: company of each question.
        n_draws, seed: of the bootstrap.
        times: how many times as many companies a draw has as there are.
    """
    codes, names = pd.factorize(clusters.reindex(values.index))
    members = np.zeros((len(names), len(values)))
    members[codes, np.arange(len(values))] = 1.0
    shares = np.full(len(names), 1 / len(names))
    drawn = np.random.default_rng(seed).multinomial(times * len(names), shares, size=n_draws).astype(float)
    return (drawn @ (members @ values.to_numpy(float))) / (drawn @ members.sum(axis=1))[:, None]


def statistic_test(
    values: pd.DataFrame,
    clusters: pd.Series,
    statistic: Statistic,
    bound: float,
    n_draws: int = 10_000,
    seed: int = 0,
) -> Finding:
    """Test whether a statistic of the column means lies above a bound.

    Args:
        values: questions × columns.
        clusters: company of each question.
        statistic: means, shape (n_draws, n_columns), to one number a draw; NaN where it is undefined.
        bound: what it is tested against.
        n_draws, seed: of the bootstrap.

    Returns:
        Without an interval (NaN) where the statistic is undefined in every draw.
    """
    estimate = float(statistic(values.mean().to_numpy()[None])[0])
    draws = _defined(statistic(resampled_means(values, clusters, n_draws, seed)))
    n_clusters = clusters.reindex(values.index).nunique()
    if not len(draws):
        return Finding(estimate, math.nan, math.nan, len(values), n_clusters, True, bound, 1.0, 1.0)
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    p = tail_p(draws, bound)
    return Finding(estimate, float(low), float(high), len(values), n_clusters, True, bound, p, p)


def _defined(draws: np.ndarray) -> np.ndarray:
    return draws[~np.isnan(draws)]


def tail_p(draws: np.ndarray, bound: float) -> float:
    """Twice the smaller share of draws on either side of the bound, those at it on both; never 0, at most 1."""
    tail = min(np.count_nonzero(draws <= bound), np.count_nonzero(draws >= bound))
    return min(1.0, 2 * (1 + tail) / (1 + len(draws)))


def questions_until(
    values: pd.DataFrame,
    clusters: pd.Series,
    statistic: Statistic,
    bound: float,
    alpha: float,
    n_draws: int = 10_000,
    seed: int = 0,
) -> float:
    """The questions at which the statistic's interval at ``1 - alpha`` leaves the bound; infinite after MOST_TIMES."""
    for times in range(1, MOST_TIMES + 1):
        draws = _defined(statistic(resampled_means(values, clusters, n_draws, seed, times)))
        if not len(draws):
            return math.inf
        low, high = np.quantile(draws, [alpha / 2, 1 - alpha / 2])
        if low > bound or high < bound:
            return float(times * len(values))
    return math.inf


def argmax_of(grid: np.ndarray) -> Statistic:
    """Where on a grid the means are highest; the middle of equal highest ones."""

    def statistic(means: np.ndarray) -> np.ndarray:
        is_best = means >= means.max(axis=1, keepdims=True) - 1e-12
        return (is_best * np.asarray(grid, float)).sum(axis=1) / is_best.sum(axis=1)

    return statistic


def correlation_of(n_pairs: int) -> Statistic:
    """Pearson's correlation of the first ``n_pairs`` means with the next ``n_pairs``; NaN where either is constant."""

    def statistic(means: np.ndarray) -> np.ndarray:
        left, right = (
            part - part.mean(axis=1, keepdims=True) for part in (means[:, :n_pairs], means[:, n_pairs:])
        )
        scale = np.sqrt((left**2).sum(axis=1) * (right**2).sum(axis=1))
        return np.divide(
            (left * right).sum(axis=1), scale, out=np.full(len(means), np.nan), where=scale > 1e-12
        )

    return statistic
