"""How sure a mean, a difference of means or another statistic is, with questions that come in companies.

Intervals are percentile bootstraps that draw whole clusters (companies) with replacement (Davison & Hinkley, 1997,
3.8): questions about one company share a filing's layout and are not independent. Every statistic here is one of sums
over questions, so a draw needs only the sums of each cluster (:func:`resampled_sums`). Paired tests: the randomisation
test (Smucker, Allan & Carterette, CIKM 2007). Where no draw differs from another, as for a share of 0 or 1, the
interval is Wilson's (1927).

With few clusters the percentile interval is too narrow: over 32 companies it contains the mean in 91 to 93 of 100
samples. Tests of claims take the bootstrap-t (:class:`Studentised`), which is nearer to 95 there.

Values are one number per question, as Series by question_id.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from lib.folds import assign_folds

if TYPE_CHECKING:
    from lib.method import Search

LEVEL = 0.95

EDGES = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)

#: Columns of a paired comparison, in every frame and file: number of questions and of companies, the mean with its
#: interval, the reference's mean, the difference (mean minus reference) with its interval, p (randomisation test), p
#: corrected over the comparisons of a family (Holm), and what the difference is called (:func:`tier`).
DIFFERENCE = ["difference", "difference_low", "difference_high"]
COMPARED = ["n", "n_clusters", "mean", "low", "high", "reference_mean", *DIFFERENCE, "p", "p_holm", "verdict"]

LOST_MOST = 0.01  # of the draws of a bootstrap-t may have no standard error


class Interval(NamedTuple):
    """A mean (or another statistic) over ``n`` questions in ``n_clusters`` clusters, and its interval."""

    mean: float
    low: float
    high: float
    n: int
    n_clusters: int


def columns_of(name: str, found: Sequence[float]) -> dict[str, float]:
    """A mean and its interval as the columns ``name``, ``name_low`` and ``name_high``."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), found[:3], strict=True))


@lru_cache(maxsize=16)
def cluster_draws(n_clusters: int, n_draws: int, seed: int, times: int = 1) -> np.ndarray:
    """How often each draw contains each cluster, float64, shape (n_draws, n_clusters); read-only, as it is cached. A
    draw has ``times`` as many clusters as there are, as if further ones were like these."""
    shares = np.full(n_clusters, 1 / n_clusters)
    counts = np.random.default_rng(seed).multinomial(times * n_clusters, shares, size=n_draws).astype(float)
    counts.flags.writeable = False
    return counts


def resampled_sums(columns: np.ndarray, clusters: Sequence, n_draws: int, seed: int, times: int = 1) -> np.ndarray:
    """Column sums of draws of whole clusters, shape (n_draws, n_columns), of columns of shape (n_values, n_columns)."""
    codes, names = pd.factorize(np.asarray(clusters))
    members = np.zeros((len(names), len(codes)))
    members[codes, np.arange(len(codes))] = 1.0
    return cluster_draws(len(names), n_draws, seed, times) @ (members @ np.asarray(columns, float))


def percentiles(draws: np.ndarray, edges: tuple[float, float] = EDGES) -> tuple[float, float]:
    """The percentile interval of draws; those without a value are left out, and without any it is NaN."""
    defined = draws[~np.isnan(draws)]
    return tuple(np.quantile(defined, edges).tolist()) if len(defined) else (np.nan, np.nan)


def _pearson(sums: np.ndarray) -> np.ndarray:
    n, a, b, aa, bb, ab = np.moveaxis(sums, -1, 0)
    spread = (n * aa - a * a) * (n * bb - b * b)
    return np.where(spread > 1e-9, (n * ab - a * b) / np.sqrt(np.maximum(spread, 1e-9)), np.nan)


@dataclass(frozen=True)
class Studentised:
    """The bootstrap-t over clusters (Efron, 1981; Cameron, Gelbach & Miller, 2008, for few clusters).

    A draw gives the distance of its mean from that of the data, in its own standard errors. Where more than LOST_MOST
    of the draws have no standard error, as few companies differ, its tails say nothing (``is_usable``).
    """

    mean: float
    error: float  # linearised standard error over clusters; 0 where all of them are alike
    t: np.ndarray  # (n_draws,); infinite in a draw whose clusters are alike

    @property
    def is_usable(self) -> bool:
        """Whether the data and nearly all draws have a standard error."""
        return bool(self.error) and len(self.t) > 0 and float(np.mean(~np.isfinite(self.t))) <= LOST_MOST

    def interval(self, edges: tuple[float, float] = EDGES, span: tuple[float, float] = (0.0, 1.0)) -> tuple:
        """The ends at ``edges``, at most the ends of ``span``."""
        far, near = (self.mean - self.error * np.quantile(self.t, edges, method="nearest")).tolist()
        return max(span[0], near), min(span[1], far)

    def p(self, bound: float, is_above: bool) -> float:
        """P of the mean being beyond a bound: how often a draw is as many errors apart, never 0."""
        apart = (self.mean - bound) / self.error
        n_other = np.count_nonzero(self.t >= apart if is_above else self.t <= apart)
        return (1 + n_other) / (1 + len(self.t))


def wilson(mean: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval (1927) of a share; the mean of values from 0 to 1 varies no more than a share does."""
    z = ndtri((1 + level) / 2)
    middle = (mean + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(mean * (1 - mean) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Holm's adjusted p-values (1979): the i-th smallest of m times (m - i + 1), never falling, at most 1."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


def tier(low: float, high: float, p: float) -> str:
    """What a difference is called: a *gain* (or *loss*) where ``p`` (Holm's, where it is one of a family) is below
    1 - LEVEL; *likely* where only its interval is on one side of zero; else *inconclusive*. A dash without test."""
    if pd.isna(low) or pd.isna(p):
        return "–"
    word = "gain" if low + high > 0 else "loss"
    if p < round(1 - LEVEL, 12):
        return word
    return f"likely {word}" if low > 0 or high < 0 else "inconclusive"


@dataclass(frozen=True)
class Resampling:
    """Draws of whole companies, for the intervals and paired tests of a study.

    A question may occur several times, as in several contexts. A second Series is matched by index, not by position.
    Companies are drawn in the order of ``company``, so that the same values in another order have the same interval.
    """

    company: pd.Series  # of each question, or what else clusters them, indexed by question_id
    n_draws: int = 10_000  # of an interval and of a test
    seed: int = 0

    @classmethod
    def of(cls, study: "Search") -> "Resampling":
        """A study's questions by company, and its profile's settings ``significance``."""
        settings = study.profile.significance
        return cls(study.questions.set_index("question_id")["company"], settings.n_draws, settings.seed)

    def _in_order(self, values: pd.Series | pd.DataFrame) -> pd.Series | pd.DataFrame:
        return values.iloc[np.argsort(self.company.index.get_indexer(values.index), kind="stable")]

    def _cluster_sums(self, values: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        """Sum and number of the values of each cluster."""
        values = self._in_order(values)
        numbers, n_missing = values.to_numpy(float), int(values.isna().sum())
        if not len(numbers):
            raise ValueError("needs one question at least")
        if n_missing:
            raise ValueError(f"{n_missing} values are missing: score every question, 0 where unanswered")
        codes, _ = pd.factorize(self.company.reindex(values.index))
        if (codes < 0).any():
            raise ValueError(f"{(codes < 0).sum()} questions have no company")
        return np.bincount(codes, weights=numbers), np.bincount(codes).astype(float)

    def interval(
        self, values: pd.Series, edges: tuple[float, float] = EDGES, span: tuple[float, float] = (0.0, 1.0)
    ) -> Interval:
        """The mean of the values and its percentile interval, at ``edges``: shares of draws below its ends.

        Where all draws are equal, the interval is Wilson's of the same level for a mean within 0..1; with the ``span``
        of differences it reaches as far to both sides as Wilson's for a share of 0 of so many questions.
        """
        sums, sizes = self._cluster_sums(values)
        mean, n = float(sums.sum() / sizes.sum()), int(sizes.sum())
        counts = cluster_draws(len(sums), self.n_draws, self.seed)
        drawn = (counts @ sums) / (counts @ sizes)  # not all draws hold as many questions as the data
        low, high = percentiles(drawn, edges)
        if np.ptp(drawn) < 1e-12 and span[0] <= mean <= span[1]:
            level = edges[1] - edges[0]
            far = wilson(0.0, n, level)[1]
            apart = max(span[0], mean - far), min(span[1], mean + far)
            low, high = wilson(mean, n, level) if span == (0.0, 1.0) else apart
        return Interval(mean, low, high, n, len(sums))

    def studentised(self, columns: pd.DataFrame) -> Studentised:
        """The bootstrap-t of a mean, of columns value · is_one and is_one, or of the mean of one group minus that of
        another, of value · is_one, is_one, value · is_other and is_other."""
        columns = self._in_order(columns)
        company = self.company.reindex(columns.index)
        sums = columns.groupby(pd.factorize(company)[0]).sum().to_numpy(float)
        n_clusters = len(sums)
        correction = n_clusters / max(n_clusters - 1, 1)
        products = (sums[:, :, None] * sums[:, None]).reshape(n_clusters, -1)
        counts = np.vstack([np.ones(n_clusters), cluster_draws(n_clusters, self.n_draws, self.seed)])
        drawn, moments = counts @ sums, (counts @ products).reshape(len(counts), sums.shape[1], -1)
        with np.errstate(divide="ignore", invalid="ignore"):  # a draw has nobody of a group, or clusters that are alike
            parts = [(drawn[:, i] / drawn[:, i + 1], drawn[:, i + 1]) for i in range(0, sums.shape[1], 2)]
            signs = (1.0, -1.0)[: len(parts)]
            means = sum(sign * mean for sign, (mean, _) in zip(signs, parts, strict=True))
            # how a cluster's sums change the mean: (Σ value - mean · n of the cluster) / n, by group
            slopes = [part for s, (mean, n) in zip(signs, parts, strict=True) for part in (s / n, -s * mean / n)]
            slope = np.stack(slopes, axis=1)
            variances = np.einsum("di,dij,dj->d", slope, moments, slope).clip(0) * correction
            errors = np.where(variances > 1e-18, np.sqrt(variances), 0.0)
            t = (means[1:] - means[0]) / errors[1:]
        return Studentised(
            float(means[0]), float(errors[0]), np.nan_to_num(t, nan=np.inf, posinf=np.inf, neginf=-np.inf)
        )

    def difference(self, a: pd.Series, b: pd.Series) -> Interval:
        """The mean of ``a - b`` over the questions of ``a``, and its interval."""
        return self.interval(a - b.reindex(a.index), span=(-1.0, 1.0))

    def p(self, a: pd.Series, b: pd.Series, one_sided: bool = False) -> float:
        """P of ``mean(a) = mean(b)``: how often random signs, one a company, give as large a difference either way.

        ``one_sided`` is against ``mean(a) <= mean(b)``: how often they give one as large in favour of ``a``. The
        p-value is (1 + hits) / (1 + n_draws) (Phipson & Smyth, 2010), so it is never 0; equal inputs give 1.
        """
        sums, _ = self._cluster_sums(a - b.reindex(a.index))
        sums = sums[sums != 0]  # a zero stays zero under either sign
        random = np.random.default_rng(self.seed)
        signs = random.integers(0, 2, size=(self.n_draws, len(sums)), dtype=np.int8) * 2 - 1
        slack = 1e-9 * np.abs(sums).sum()  # differences of scores tie often, and only up to rounding
        drawn, observed = signs @ sums, sums.sum()
        if not one_sided:
            drawn, observed = np.abs(drawn), abs(observed)
        return (1 + np.count_nonzero(drawn >= observed - slack)) / (1 + self.n_draws)

    def compare(self, reference: pd.Series | Mapping[str, pd.Series], others: Mapping[str, pd.Series]) -> pd.DataFrame:
        """Each of the others against the reference, or against its own one of several by name, over the reference's
        questions: COMPARED, indexed by ``method``, p corrected over them all."""
        rows = []
        for name, values in others.items():
            base = reference if isinstance(reference, pd.Series) else reference[name]
            values = values.reindex(base.index)
            level, apart = self.interval(values), self.difference(values, base)
            means = *level[:3], float(np.mean(base.to_numpy(float)))
            rows.append((apart.n, apart.n_clusters, *means, *apart[:3], self.p(values, base)))
        table = pd.DataFrame(rows, pd.Index(list(others), name="method", tupleize_cols=False), COMPARED[:-2])
        return with_p_holm(table, holm(table["p"].astype(float)))

    def rank_correlation(self, a: pd.Series, b: pd.Series) -> Interval:
        """Spearman's correlation of two Series with the same index, and its percentile interval.

        The ranks are those among all values; a draw in which one of the two does not vary is left out,
        and where one of the whole does not, all three numbers are NaN.
        """
        x, y = (values.rank().to_numpy(float) for values in (a, b))
        table = pd.DataFrame(np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1), a.index)
        found = float(_pearson(table.sum().to_numpy())), *percentiles(_pearson(self.sums(table)))
        return Interval(*found, len(x), self.company.reindex(a.index).nunique())

    def sums(self, columns: pd.DataFrame, times: int = 1) -> np.ndarray:
        """Column sums of draws of companies, shape (n_draws, n_columns); see :func:`resampled_sums`."""
        columns = self._in_order(columns)
        company = self.company.reindex(columns.index).to_numpy()
        return resampled_sums(columns.to_numpy(float), company, self.n_draws, self.seed, times)

    def means(self, columns: pd.DataFrame, times: int = 1) -> np.ndarray:
        """Column means of draws of companies, shape (n_draws, n_columns)."""
        ones = pd.DataFrame({"n": 1.0}, columns.index)
        return self.sums(columns, times) / self.sums(ones, times)


def means(values: pd.DataFrame, draws: Resampling) -> pd.DataFrame:
    """The mean of each column of ``values`` (questions × methods) with its interval: mean, low, high, n, n_companies,
    indexed by ``method``, or by the levels of the columns where they have several."""
    rows = [draws.interval(values[name]) for name in values]
    columns = ["mean", "low", "high", "n", "n_companies"]
    has_levels = isinstance(values.columns, pd.MultiIndex)
    index = values.columns if has_levels else pd.Index(list(values), name="method", tupleize_cols=False)
    return pd.DataFrame(rows, index, columns)


def compare(values: pd.DataFrame, reference: pd.Series | pd.DataFrame, draws: Resampling) -> pd.DataFrame:
    """Each column of ``values`` (questions × methods) less the reference, question by question.

    Args:
        reference: one column for all, which is left out where it is one of ``values``, or a frame with a column of the
            same name for each.

    Returns:
        COMPARED, indexed by ``method``, p corrected over the columns.
    """
    if isinstance(reference, pd.Series):
        values = values.loc[:, values.columns != reference.name]
    return draws.compare(reference, values)


def gains(values: pd.DataFrame, pairs: Mapping[str, str], draws: Resampling) -> pd.DataFrame:
    """Each column of ``values`` that ``pairs`` names less the one that it is mapped to, as :func:`compare`."""
    return compare(values[[*pairs]], values[[*pairs.values()]].set_axis([*pairs], axis=1), draws)


def verdicts(frame: pd.DataFrame) -> list[str]:
    """What each difference of a frame of COMPARED is called (:func:`tier`), by ``p_holm``."""
    return [*map(tier, frame["difference_low"], frame["difference_high"], frame["p_holm"])]


def nested_choice(values: pd.DataFrame, company: pd.Series, n_folds: int = 5, n_draws: int = 200) -> float:
    """The mean that the best column of ``values`` (questions × methods) has on questions that did not choose it.

    Nested cross-validation (Varma & Simon, BMC Bioinformatics 2006): four of five folds by company choose the column
    with the highest mean, the fifth scores it; the mean over ``n_draws`` draws of folds. NaN of one company alone.
    """
    company = company.reset_index(drop=True)
    if company.nunique() < 2:
        return float("nan")
    folds = np.stack([assign_folds(company, n_folds, seed) for seed in range(n_draws)])
    is_tested = (folds[:, None] == np.arange(folds.max() + 1)[:, None]).reshape(-1, len(values))
    tested = is_tested.astype(float) @ values.to_numpy()  # sums by fold and column
    best = (values.to_numpy().sum(axis=0) - tested).round(9).argmax(axis=1)
    return float(np.take_along_axis(tested, best[:, None], axis=1).sum() / folds.size)


def compare_pairs(values: pd.DataFrame, pairs: Sequence[tuple], draws: Resampling) -> pd.DataFrame:
    """The first column of each pair less the second, question by question: COMPARED, indexed by pair, p corrected over
    all pairs."""
    first, second = ({pair: values[pair[side]] for pair in pairs} for side in (0, 1))
    return draws.compare(second, first)


def with_p_holm(compared: pd.DataFrame, p_holm: Sequence[float]) -> pd.DataFrame:
    """A frame of :func:`compare` whose p is corrected within another family, and its verdicts by that p."""
    found = compared.assign(p_holm=p_holm)
    return found.assign(verdict=verdicts(found))
