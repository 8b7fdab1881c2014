"""How sure a mean, a difference of means or another statistic is, with questions that come in companies.

Intervals are percentile bootstraps that draw whole clusters (companies) with replacement (Davison & Hinkley, 1997,
3.8): questions about one company share a filing's layout and are not independent. Every statistic here is one of sums
over questions, so a draw needs only the sums of each cluster (:func:`resampled_sums`). Paired tests: the randomisation
test (Smucker, Allan & Carterette, CIKM 2007) and, because Akarsu et al. (2026) use it, the paired bootstrap.

Values are one number per question. Two pandas Series are matched by index, never by position; arrays by position.
:class:`Resampling` holds the companies and the number of draws of a study, so that they are given once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm

if TYPE_CHECKING:
    from lib.study import Study

N_DRAWS = 10_000
SEED = 0
LEVEL = 0.95
EDGES = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)

Values = Sequence[float] | np.ndarray | pd.Series
Clusters = Sequence | np.ndarray | pd.Series | None


class Interval(NamedTuple):
    """A mean (or another statistic) over ``n`` questions in ``n_clusters`` clusters, and its interval."""

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
        raise ValueError("needs one value per question, and one question at least")
    if np.isnan(numbers).any():
        raise ValueError(
            f"{int(np.isnan(numbers).sum())} values are missing: score every question, 0 where unanswered"
        )
    return numbers


def _cluster_sums(values: Values, clusters: Clusters) -> tuple[np.ndarray, np.ndarray]:
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


@lru_cache(maxsize=16)
def cluster_draws(n_clusters: int, n_draws: int, seed: int, times: int = 1) -> np.ndarray:
    """How often each draw contains each cluster, float64, shape (n_draws, n_clusters); read-only, as it is cached.

    A draw has ``times`` as many clusters as there are, as if further ones were like these.
    """
    shares = np.full(n_clusters, 1 / n_clusters)
    counts = np.random.default_rng(seed).multinomial(times * n_clusters, shares, size=n_draws).astype(float)
    counts.flags.writeable = False
    return counts


def resampled_sums(
    columns: np.ndarray, clusters: Sequence | np.ndarray, n_draws: int, seed: int, times: int = 1
) -> np.ndarray:
    """Column sums of draws of whole clusters, shape (n_draws, n_columns), of columns of shape (n_values, n_columns).

    A column of ones counts the values of a draw, which vary, as clusters differ in size.
    """
    codes, names = pd.factorize(np.asarray(clusters))
    members = np.zeros((len(names), len(codes)))
    members[codes, np.arange(len(codes))] = 1.0
    return cluster_draws(len(names), n_draws, seed, times) @ (members @ np.asarray(columns, float))


def percentiles(draws: np.ndarray, edges: tuple[float, float] = EDGES) -> tuple[float, float]:
    """The percentile interval of draws; those without a value are left out, and without any it is NaN."""
    defined = draws[~np.isnan(draws)]
    if not len(defined):
        return np.nan, np.nan
    low, high = np.quantile(defined, edges)
    return float(low), float(high)


def _resampled_means(sums: np.ndarray, sizes: np.ndarray, n_draws: int, seed: int) -> np.ndarray:
    # A resample's mean is a ratio of two sums, because it need not hold as many questions as the data.
    counts = cluster_draws(len(sums), n_draws, seed)
    return (counts @ sums) / (counts @ sizes)


def clustered_bootstrap(
    values: Values,
    clusters: Clusters = None,
    n_draws: int = N_DRAWS,
    seed: int = SEED,
    edges: tuple[float, float] = EDGES,
) -> Interval:
    """The mean of the values and its percentile interval, drawing clusters with replacement.

    Args:
        values: one per question.
        clusters: the cluster (company) of each; None makes every question its own.
        n_draws: bootstrap resamples.
        seed: of the draws; the same seed gives the same interval.
        edges: shares of draws below the interval's ends.

    Raises:
        ValueError: no values, a missing value, or clusters of other questions.
    """
    sums, sizes = _cluster_sums(values, clusters)
    low, high = percentiles(_resampled_means(sums, sizes, n_draws, seed), edges)
    return Interval(float(sums.sum() / sizes.sum()), low, high, int(sizes.sum()), len(sums))


def clustered_bootstrap_difference(
    a: Values, b: Values, clusters: Clusters = None, n_draws: int = N_DRAWS, seed: int = SEED
) -> Interval:
    """The mean of ``a - b`` over the same questions and its interval, as ``clustered_bootstrap`` gives it."""
    return clustered_bootstrap(_differences(a, b), clusters, n_draws, seed)


def rank_correlation(
    a: pd.Series, b: pd.Series, clusters: Sequence, n_draws: int = N_DRAWS, seed: int = SEED
) -> Interval:
    """Spearman's correlation and its percentile interval, drawing clusters with replacement.

    The ranks are those among all values, also in a draw. A draw in which one of the two does not vary has no
    correlation and is left out; where the whole has none, all three numbers are NaN.
    """
    x, y = (values.rank().to_numpy(float) for values in (a, b))
    columns = np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1)
    low, high = percentiles(_pearson(resampled_sums(columns, clusters, n_draws, seed)))
    whole = float(_pearson(columns.sum(axis=0)))
    return Interval(whole, low, high, len(x), pd.Series(np.asarray(clusters)).nunique())


def _pearson(sums: np.ndarray) -> np.ndarray:
    n, a, b, aa, bb, ab = np.moveaxis(sums, -1, 0)
    spread = (n * aa - a * a) * (n * bb - b * b)
    return np.where(spread > 1e-9, (n * ab - a * b) / np.sqrt(np.maximum(spread, 1e-9)), np.nan)


def wilson(mean: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval (1927) of a share; the mean of values from 0 to 1 varies no more than a share does."""
    z = norm.ppf((1 + level) / 2)
    middle = (mean + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(mean * (1 - mean) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def paired_randomisation_test(
    a: Values, b: Values, clusters: Clusters = None, n_draws: int = N_DRAWS, seed: int = SEED
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
    a: Values, b: Values, clusters: Clusters = None, n_draws: int = N_DRAWS, seed: int = SEED
) -> float:
    """Two-sided p by the paired bootstrap, shifted to the null (Berg-Kirkpatrick et al., EMNLP 2012).

    How often a resampled mean difference is as far from the observed one as that is from 0, (1 + hits) / (1 + n_draws).
    """
    sums, sizes = _cluster_sums(_differences(a, b), clusters)
    observed = sums.sum() / sizes.sum()
    away = np.abs(_resampled_means(sums, sizes, n_draws, seed) - observed)
    slack = 1e-9 * np.abs(sums).sum() / sizes.sum()
    return (1 + np.count_nonzero(away >= abs(observed) - slack)) / (1 + n_draws)


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Holm's adjusted p-values (1979): the i-th smallest of m times (m - i + 1), never falling, at most 1."""
    p = np.asarray(p_values, dtype=float)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"not all p-values lie between 0 and 1: {p.tolist()}")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


def corrected(table: pd.DataFrame) -> pd.DataFrame:
    """The tests of a table (``p``) as one family: with p_holm, and distinguishable (p_holm < 1 - LEVEL)."""
    p_holm = holm(table["p"].astype(float))
    # 1 - 0.95 is 0.050000000000000044 in floating point, and a p of exactly 0.05 is not below the threshold.
    return table.assign(p_holm=p_holm, distinguishable=p_holm < round(1 - LEVEL, 12))


def compare(
    reference: Values,
    others: Mapping[str, Values],
    clusters: Clusters = None,
    n_draws: int = N_DRAWS,
    seed: int = SEED,
) -> pd.DataFrame:
    """Each of the others against the reference, on the same questions, corrected for their number.

    Args:
        reference: the reference method's values, one per question.
        others: name to values.
        clusters: the cluster of each question: drawn whole in the interval, flipped whole in the test.
        n_draws, seed: of the interval and of the test.

    Returns:
        Indexed by ``method`` in the order given: n, n_clusters, mean, reference_mean, difference (other minus
        reference), low, high, p (randomisation test), p_holm, distinguishable (see :func:`corrected`).
    """
    rows = []
    for values in others.values():
        found = clustered_bootstrap_difference(values, reference, clusters, n_draws, seed)
        means = float(np.mean(_numbers(values))), float(np.mean(_numbers(reference)))
        p = paired_randomisation_test(values, reference, clusters, n_draws, seed)
        rows.append((found.n, found.n_clusters, *means, found.mean, found.low, found.high, p))
    columns = ["n", "n_clusters", "mean", "reference_mean", "difference", "low", "high", "p"]
    return corrected(pd.DataFrame(rows, pd.Index(others, name="method"), columns))


@dataclass(frozen=True)
class Resampling:
    """Draws of whole companies, with a study's number of draws and seed.

    Attributes:
        company: of each question, indexed by question_id.
        n_draws, seed: of intervals and tests.
    """

    company: pd.Series
    n_draws: int = N_DRAWS
    seed: int = SEED

    @classmethod
    def of(cls, study: "Study") -> "Resampling":
        """The companies of a study's questions, and its profile's settings ``significance``."""
        settings = study.profile.significance
        return cls(study.questions.set_index("question_id")["company"], settings.n_draws, settings.seed)

    def _draws(self, values: pd.Series | pd.DataFrame) -> tuple[np.ndarray, int, int]:
        return self.company.reindex(values.index).to_numpy(), self.n_draws, self.seed

    def interval(self, values: pd.Series) -> Interval:
        """The mean of values by question_id; a question may occur several times."""
        return clustered_bootstrap(values, *self._draws(values))

    def difference(self, a: pd.Series, b: pd.Series) -> Interval:
        """The mean of ``a - b`` over the questions of ``a``."""
        return clustered_bootstrap_difference(a, b.reindex(a.index), *self._draws(a))

    def p(self, a: pd.Series, b: pd.Series) -> float:
        """p of the randomisation test of ``mean(a) = mean(b)`` over the questions of ``a``."""
        return paired_randomisation_test(a, b.reindex(a.index), *self._draws(a))

    def compare(self, reference: pd.Series, others: Mapping[str, pd.Series]) -> pd.DataFrame:
        """Each of the others against the reference over its questions; see :func:`compare`."""
        same = {name: values.reindex(reference.index) for name, values in others.items()}
        return compare(reference, same, *self._draws(reference))

    def rank_correlation(self, a: pd.Series, b: pd.Series) -> Interval:
        """Spearman's correlation of two Series with the same index; a question may occur several times."""
        return rank_correlation(a, b, *self._draws(a))

    def sums(self, columns: pd.DataFrame, times: int = 1) -> np.ndarray:
        """Column sums of draws of companies, shape (n_draws, n_columns); see :func:`resampled_sums`."""
        return resampled_sums(columns.to_numpy(float), *self._draws(columns), times)

    def means(self, columns: pd.DataFrame, times: int = 1) -> np.ndarray:
        """Column means of draws of companies, shape (n_draws, n_columns)."""
        sizes = resampled_sums(np.ones((len(columns), 1)), *self._draws(columns), times)
        return self.sums(columns, times) / sizes
