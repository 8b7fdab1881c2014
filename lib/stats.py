"""How sure a mean and a difference of means are, with questions that come in companies.

Intervals are percentile bootstraps that draw whole clusters (companies) with replacement (Davison & Hinkley,
1997, 3.8): questions about one company share a filing's layout and are not independent. Paired tests: the
randomisation test (Smucker, Allan & Carterette, CIKM 2007) and, because Akarsu et al. (2026) use it, the
paired bootstrap. Corrections: Holm (1979) and Bonferroni.

Values are one number a question. Where two things are given as pandas Series they are matched by index, never
by position; arrays are matched by position.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

N_DRAWS = 10_000
SEED = 0
LEVEL = 0.95

Values = Sequence[float] | np.ndarray | pd.Series


class Interval(NamedTuple):
    """A mean over ``n`` questions in ``n_clusters`` clusters, and its interval."""

    mean: float
    low: float
    high: float
    n: int
    n_clusters: int


def _aligned(first: Values, other: Sequence | np.ndarray | pd.Series, what: str) -> np.ndarray:
    if isinstance(first, pd.Series) and isinstance(other, pd.Series):
        if not first.index.is_unique or not other.index.is_unique:
            raise ValueError(f"{what}: a question is listed twice")
        if len(first) != len(other) or not first.index.isin(other.index).all():
            differ = first.index.symmetric_difference(other.index)
            raise ValueError(f"{what}: not the same questions, {len(differ)} differ: {list(differ[:5])}")
        other = other.reindex(first.index)
    if len(first) != len(other):
        raise ValueError(f"{what}: {len(other)} given for {len(first)} values")
    return np.asarray(other)


def _numbers(values: Values) -> np.ndarray:
    numbers = np.asarray(values, dtype=float)
    if numbers.ndim != 1 or not len(numbers):
        raise ValueError("needs one value a question, and one question at least")
    if np.isnan(numbers).any():
        raise ValueError(
            f"{int(np.isnan(numbers).sum())} values are missing: score every question, 0 where unanswered"
        )
    return numbers


def _cluster_sums(
    values: Values, clusters: Sequence | np.ndarray | pd.Series | None
) -> tuple[np.ndarray, np.ndarray]:
    """Sum and number of the values of each cluster; without clusters every value is its own."""
    numbers = _numbers(values)
    if clusters is None:
        return numbers, np.ones(len(numbers))
    codes, _ = pd.factorize(_aligned(values, clusters, "clusters"))
    if (codes < 0).any():
        raise ValueError("clusters: a question has no cluster")
    return np.bincount(codes, weights=numbers), np.bincount(codes).astype(float)


def _differences(a: Values, b: Values) -> Values:
    differences = _numbers(a) - _numbers(_aligned(a, b, "paired values"))
    return pd.Series(differences, a.index) if isinstance(a, pd.Series) else differences


def _resampled_means(sums: np.ndarray, sizes: np.ndarray, n_draws: int, seed: int) -> np.ndarray:
    # How often each cluster is drawn is multinomial; a resample's mean is then a ratio of two sums, because
    # clusters differ in size and a resample need not hold as many questions as the data.
    counts = cluster_draws(len(sums), n_draws, seed)
    return (counts @ sums) / (counts @ sizes)


@lru_cache(maxsize=16)
def cluster_draws(n_clusters: int, n_draws: int, seed: int) -> np.ndarray:
    """How often each draw holds each cluster, float64, shape (n_draws, n_clusters); read-only, as it is kept."""
    shares = np.full(n_clusters, 1 / n_clusters)
    counts = np.random.default_rng(seed).multinomial(n_clusters, shares, size=n_draws).astype(float)
    counts.flags.writeable = False
    return counts


def clustered_bootstrap(
    values: Values,
    clusters: Sequence | np.ndarray | pd.Series | None = None,
    n_draws: int = N_DRAWS,
    seed: int = SEED,
    level: float = LEVEL,
) -> Interval:
    """The mean of the values and its percentile interval, drawing clusters with replacement.

    Args:
        values: one a question.
        clusters: the cluster (company) of each; None makes every question its own.
        n_draws: bootstrap resamples.
        seed: of the draws; the same seed gives the same interval.
        level: coverage of the interval.

    Raises:
        ValueError: no values, a missing value, or clusters of other questions.
    """
    sums, sizes = _cluster_sums(values, clusters)
    means = _resampled_means(sums, sizes, n_draws, seed)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(sums.sum() / sizes.sum()), float(low), float(high), int(sizes.sum()), len(sums))


def clustered_bootstrap_difference(
    a: Values,
    b: Values,
    clusters: Sequence | np.ndarray | pd.Series | None = None,
    n_draws: int = N_DRAWS,
    seed: int = SEED,
    level: float = LEVEL,
) -> Interval:
    """The mean of ``a - b`` over the same questions and its interval, as ``clustered_bootstrap`` gives it."""
    return clustered_bootstrap(_differences(a, b), clusters, n_draws, seed, level)


def paired_randomisation_test(
    a: Values,
    b: Values,
    clusters: Sequence | np.ndarray | pd.Series | None = None,
    n_draws: int = N_DRAWS,
    seed: int = SEED,
) -> float:
    """Two-sided p of ``mean(a) = mean(b)``: how often random signs give as large a difference.

    With clusters one sign is drawn for all questions of a cluster, which keeps their dependence. The p-value
    is (1 + hits) / (1 + n_draws) (Phipson & Smyth, 2010), so it is never 0; equal inputs give 1.
    """
    sums, _ = _cluster_sums(_differences(a, b), clusters)
    sums = sums[sums != 0]  # a zero stays zero under either sign
    signs = np.random.default_rng(seed).integers(0, 2, size=(n_draws, len(sums)), dtype=np.int8) * 2 - 1
    slack = 1e-9 * np.abs(sums).sum()  # differences of scores tie often, and only up to rounding
    n_hits = np.count_nonzero(np.abs(signs @ sums) >= abs(sums.sum()) - slack)
    return (1 + n_hits) / (1 + n_draws)


def paired_bootstrap_p(
    a: Values,
    b: Values,
    clusters: Sequence | np.ndarray | pd.Series | None = None,
    n_draws: int = N_DRAWS,
    seed: int = SEED,
) -> float:
    """Two-sided p by the paired bootstrap, shifted to the null (Berg-Kirkpatrick et al., EMNLP 2012).

    How often a resampled mean difference is as far from the observed one as that is from 0; (1 + hits) / (1 +
    n_draws).
    """
    sums, sizes = _cluster_sums(_differences(a, b), clusters)
    observed = sums.sum() / sizes.sum()
    away = np.abs(_resampled_means(sums, sizes, n_draws, seed) - observed)
    slack = 1e-9 * np.abs(sums).sum() / sizes.sum()
    return (1 + np.count_nonzero(away >= abs(observed) - slack)) / (1 + n_draws)


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Holm's adjusted p-values: the i-th smallest of m times (m - i + 1), never falling, at most 1."""
    p = _probabilities(p_values)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


def bonferroni(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Bonferroni's adjusted p-values: each times their number, at most 1."""
    p = _probabilities(p_values)
    return np.minimum(p * len(p), 1.0)


def _probabilities(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    p = np.asarray(p_values, dtype=float)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"not all p-values lie between 0 and 1: {p.tolist()}")
    return p


def compare(
    reference: Values,
    others: Mapping[str, Values],
    clusters: Sequence | np.ndarray | pd.Series | None = None,
    n_draws: int = N_DRAWS,
    seed: int = SEED,
    level: float = LEVEL,
) -> pd.DataFrame:
    """Each of the others against the reference, on the same questions, corrected for their number.

    Args:
        reference: the reference method's values, one a question.
        others: name to values.
        clusters: the cluster of each question: drawn whole in the interval, flipped whole in the test.
        n_draws: resamples of the interval, and draws of the test.
        seed: of both.
        level: coverage of the interval; the test's threshold is ``1 - level``.

    Returns:
        Indexed by ``method`` in the order given: n, n_clusters, mean, reference_mean, difference (other minus
        reference), low, high, p (randomisation test), p_holm, distinguishable (p_holm < 1 - level).
    """
    rows = []
    for values in others.values():
        difference = clustered_bootstrap_difference(values, reference, clusters, n_draws, seed, level)
        rows.append(
            {
                "n": difference.n,
                "n_clusters": difference.n_clusters,
                "mean": float(np.mean(_numbers(values))),
                "reference_mean": float(np.mean(_numbers(reference))),
                "difference": difference.mean,
                "low": difference.low,
                "high": difference.high,
                "p": paired_randomisation_test(values, reference, clusters, n_draws, seed),
            }
        )
    columns = ["n", "n_clusters", "mean", "reference_mean", "difference", "low", "high", "p"]
    table = pd.DataFrame(rows, index=pd.Index(others, name="method"), columns=columns)
    table["p_holm"] = holm(table["p"].astype(float))
    # 1 - 0.95 is 0.050000000000000044 in floating point, and a p of exactly 0.05 is not below the threshold.
    table["distinguishable"] = table["p_holm"] < round(1 - level, 12)
    return table
