"""What the questions say about a claim: a mean difference or another statistic, its interval, tests and power.

A claim is about a number θ, most often a mean paired difference, ``mean(a) - mean(b)`` over questions, in a direction,
so tests are one-sided: ``a > b`` against 0 by a paired randomisation test whose signs are drawn by company. "Does not
help" is tested against a margin, the smallest gain that would matter, by draws of companies (as in two one-sided
tests, Schuirmann 1987, with an interval of 90 %); its opposite is a gain above 0. Levels, groups of questions,
correlations and sweeps, which no exchange of signs describes, are tested by draws of companies, too. Intervals and
tests by draws are the bootstrap-t (:class:`lib.stats.Studentised`); percentiles where too few companies differ for it,
and of correlations and sweeps, which have no standard error here.

The verdicts, by p-values that are corrected within a family (Holm, 1979), the first that applies:

* *opposite sign*: the test of the opposite direction has a p below ALPHA;
* *smaller than claimed*: an amount was claimed in the same measure of the same questions, and the interval is below it;
* *holds*: the test of the claim has a p below ALPHA;
* *inconclusive*: everything else, with the number of questions that would decide.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from lib.analysis.claims import Claim
from lib.stats import EDGES as TWO_SIDED
from lib.stats import Resampling, holm, percentiles

Statistic = Callable[[np.ndarray], np.ndarray]  # of means, n_draws × n_columns; NaN where it is undefined
DRAWN = HOLDS, SMALLER, OPPOSITE, INCONCLUSIVE = "holds", "smaller than claimed", "opposite sign", "inconclusive"
DECIDED = "estimate low high n n_clusters bound amount spread p p_holm p_bh p_opposite p_opposite_bh verdict".split()
DECIDED += ["n_needed", "changed"]
ALPHA, POWER = 0.05, 0.8
MOST_TIMES = 64
EDGES = {"<=": (ALPHA, 1 - ALPHA)}  # of the interval, by what is said; else those of 95 %


class Finding(NamedTuple):
    """What the questions say about one claim: θ, its interval, and the p of the claim and of its opposite."""

    estimate: float
    low: float
    high: float
    n: int  # questions
    n_clusters: int  # companies
    bound: float
    p: float
    p_opposite: float
    amount: float | None = None  # what was claimed, in the same measure
    spread: float = math.nan  # n · SE² = s² · deff (Kish, 1965); NaN where no n follows from it
    changed: float = math.nan  # share of questions whose first ranks the treatment changes


def questions_needed(effect: float, spread: float) -> float:
    """The number of questions at which a test at level ALPHA, not corrected, finds an effect; infinite for no effect.

    ``((z_{1-α} + z_{0.8}) / δ)² · s² · deff``; NaN where the ``spread`` of a :class:`Finding` is unknown or 0.
    """
    if math.isnan(spread) or (effect and spread < 1e-12):
        return math.nan
    return float(math.ceil((ndtri(1 - ALPHA) + ndtri(POWER)) ** 2 * spread / effect**2)) if effect else math.inf


def detectable(spread: pd.Series | float, n: pd.Series | float, n_tests: pd.Series | float = 1) -> pd.Series | float:
    """The smallest difference that a test at level ALPHA / ``n_tests``, the first step of Holm's correction, finds with
    a power of POWER: ``(z_{1-α/m} + z_{0.8}) · √(s² · deff / n)``, of the ``spread`` of a :class:`Finding`."""
    return (ndtri(1 - ALPHA / n_tests) + ndtri(POWER)) * np.sqrt(spread / n)


def difference(draws: Resampling, a: pd.Series, b: pd.Series | None, claim: Claim) -> Finding:
    """Test the mean difference of ``a`` and ``b``, values by question_id, or the mean of ``a`` where ``b`` is None."""
    apart, span = (a, (0.0, 1.0)) if b is None else (a - b, (-1.0, 1.0))
    none, t = apart * 0, draws.studentised(pd.DataFrame({"value": apart, "n": 1.0}))
    edges, narrow = EDGES.get(claim.says, TWO_SIDED), draws.interval(apart, EDGES["<="], span)

    def p_beyond(bound: float, is_above: bool) -> float:
        if b is not None and bound == 0:
            return draws.p(*((apart, none) if is_above else (none, apart)), one_sided=True)
        if t.is_usable:
            return t.p(bound, is_above)
        p = tail_p(draws.means(apart.to_frame())[:, 0], bound, is_above)
        return max(ALPHA, p) if narrow.low <= bound <= narrow.high else p  # where Wilson's interval holds the bound

    above = claim.says == ">"
    found = draws.interval(apart, edges, span)
    if t.is_usable:
        found = found._replace(**dict(zip(("low", "high"), t.interval(edges, span), strict=True)))
    p = p_beyond(claim.bound, above), p_beyond(claim.opposite, not above)
    spread = t.error**2 * found.n if found.n_clusters > 1 else math.nan
    return Finding(*found, claim.bound, *p, claim.amount, spread)


def between_groups(draws: Resampling, values: pd.Series, one: pd.Series, other: pd.Series, claim: Claim) -> Finding:
    """Test the mean of the values of one group of questions minus that of another, groups as booleans by question_id;
    without an interval (NaN) where it is no bootstrap-t."""
    groups = [group.reindex(values.index).astype(float) for group in (one, other)]
    columns = [column for group in groups for column in (values * group, group)]
    t, span = draws.studentised(pd.concat(columns, axis=1)), (-2.0, 2.0)
    ids = values.index[(groups[0] + groups[1]) > 0]
    size = len(ids), draws.company.reindex(ids).nunique()
    if not t.is_usable:
        return Finding(t.mean, math.nan, math.nan, *size, claim.bound, 1.0, 1.0, claim.amount)
    p, p_opposite = (t.p(claim.bound, is_above) for is_above in (True, False))
    if claim.says == "!=":
        p, p_opposite = min(1.0, 2 * min(p, p_opposite)), 1.0
    return Finding(
        t.mean, *t.interval(span=span), *size, claim.bound, p, p_opposite, claim.amount, t.error**2 * len(ids)
    )


def statistic_test(draws: Resampling, values: pd.DataFrame, statistic: Statistic, claim: Claim) -> Finding:
    """Test a statistic of the column means of questions × columns against the claim's bound; without an interval (NaN)
    where it is undefined in every draw."""
    estimate, drawn = float(statistic(values.mean().to_numpy()[None])[0]), statistic(draws.means(values))
    interval, defined = percentiles(drawn), drawn[~np.isnan(drawn)]
    p, p_opposite = (tail_p(defined, claim.bound, is_above) for is_above in (True, False))
    n_clusters = draws.company.reindex(values.index).nunique()
    return Finding(estimate, *interval, len(values), n_clusters, claim.bound, p, p_opposite, claim.amount)


def tail_p(draws: np.ndarray, bound: float, is_above: bool) -> float:
    """P of θ being beyond a bound: the share of draws at it or on its other side, never 0."""
    n_other = np.count_nonzero(draws <= bound if is_above else draws >= bound)
    return (1 + n_other) / (1 + len(draws))


def questions_until(draws: Resampling, values: pd.DataFrame, statistic: Statistic, bound: float) -> float:
    """The questions at which the statistic's one-sided interval leaves the bound; infinite after MOST_TIMES."""
    for times in range(1, MOST_TIMES + 1):
        low, high = percentiles(statistic(draws.means(values, times)), EDGES["<="])
        if low > bound or high < bound:
            return float(times * len(values))
        if math.isnan(low):
            break
    return math.inf


def argmax_of(means: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Where on a grid the means are highest; the middle of equal highest ones."""
    is_best = means >= means.max(axis=1, keepdims=True) - 1e-12
    return (is_best * np.asarray(grid, float)).sum(axis=1) / is_best.sum(axis=1)


def correlation_of(means: np.ndarray) -> np.ndarray:
    """Pearson's correlation of the first half of the means with the second; NaN where either is constant."""
    left, right = (part - part.mean(axis=1, keepdims=True) for part in np.split(means, 2, axis=1))
    scale = np.sqrt((left**2).sum(axis=1) * (right**2).sum(axis=1))
    return (left * right).sum(axis=1) / np.where(scale > 1e-12, scale, np.nan)


def weakest(tests: Mapping[str, Finding], says: str = ">") -> tuple[Finding, str]:
    """The test that decides a claim about several pairs, the one that speaks most against it, and its name.

    All have to hold, so the largest p counts (an intersection-union test; Berger, 1982). The pair that could reverse it
    was picked among several: its p is multiplied by their number.
    """
    name = min(tests, key=lambda one: tests[one].estimate * (-1 if says == "<=" else 1))
    p, p_opposite = max(one.p for one in tests.values()), min(1.0, tests[name].p_opposite * len(tests))
    return tests[name]._replace(p=p, p_opposite=p_opposite), name


def strongest(tests: Mapping[str, Finding]) -> tuple[Finding, str]:
    """The test that decides that something differs somewhere, the one with the smallest p (times their number), and
    its name."""
    name = min(tests, key=lambda one: tests[one].p)
    return tests[name]._replace(p=min(1.0, tests[name].p * len(tests))), name


def decide(tests: Mapping[str, Finding], family: Mapping[str, str]) -> pd.DataFrame:
    """The verdicts on claims, corrected within each family (NaN without one): DECIDED, where ``p_opposite`` is
    corrected as well and ``…_bh`` are Benjamini & Hochberg's (1995); ``n_needed`` is NaN unless the verdict is
    *inconclusive*."""
    from scipy.stats import false_discovery_control  # takes half a second

    table = pd.DataFrame([*tests.values()], pd.Index(tests, name="claim")).astype({"amount": float})
    families = pd.Series(family, dtype=object).reindex(table.index)
    for name in ("p", "p_opposite"):
        grouped = table[name].groupby(families, sort=False)
        table[f"{name}_bh"] = grouped.transform(lambda part: false_discovery_control(part))
        table["p_holm" if name == "p" else name] = grouped.transform(lambda part: holm(part))
    applies = table["p_opposite"] < ALPHA, table["high"] < table["amount"], table["p_holm"] < ALPHA
    table["verdict"] = np.select(applies, (OPPOSITE, SMALLER, HOLDS), INCONCLUSIVE)
    needed = map(questions_needed, table["estimate"] - table["bound"], table["spread"])
    table["n_needed"] = np.where(table["verdict"] == INCONCLUSIVE, list(needed), np.nan)
    return table[DECIDED]
