"""The claims tested on the rows of the method table: when one holds here, and how many questions would tell.

A claim is about a number θ: most often a mean paired difference, ``mean(a) - mean(b)`` over questions. It is tested
against a bound: ``a > b`` against 0, ``a <= b`` ("does not help") against a margin, the smallest gain that would
matter, because no number of questions can show that a gain is exactly 0.

The tests of all claims form one family. Each p is a paired randomisation test, two-sided, whose signs are drawn by
company; Holm's correction is over all tests of all claims. Beside it stands Bonferroni's p of the paired bootstrap,
which is how Akarsu et al. (2026) test. With the 95 % interval [low, high] of the bootstrap over companies:

* *holds here*: the interval lies wholly on the claimed side of the bound, and Holm's p is below 0.05;
* *does not*: the interval lies wholly on the other side and Holm's p is below 0.05; or the claim is that ``a > b`` by
  a known amount, ``high`` is below that amount, and Holm's p of the test against the amount is below 0.05;
* *cannot tell*: everything else, with the number of questions that would tell.

A claim that θ *is* a value (``is_exact``) holds only if that value lies in the interval too; it does not where the
value lies outside and Holm's p of the test against it is below 0.05.

A sweep's maximum and a correlation over rows are statistics of means: a draw of companies gives new means, and these a
new value of the statistic (Davison & Hinkley, 1997, 3.8). Their p is twice the smaller share of draws on either side of
the bound, plus one as in Phipson & Smyth (2010).

**Questions that would tell.** A mean x̄ over n questions of C companies has the linearised variance
``SE² = C / (C - 1) · Σ_c (Σ_i∈c (x_i - x̄))² / n²``. The design effect ``deff = n · SE² / s²`` (Kish, 1965; s² is the
variance of x) says how many of these questions are worth one of as many unrelated ones. A two-sided test at level α
finds an effect of ``δ = θ - bound`` with probability 0.8 once ``n = ((z_{1-α/2} + z_{0.8}) / δ)² · s² · deff``, if
further companies bring as many questions each as these. α is 0.05 over the number of tests, which is the level that
the first of Holm's steps asks for. For other statistics the bootstrap is repeated with 2, 3, … times as many companies
until its interval leaves the bound at this level.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from lib.analysis.claims import Claim, claims, missing
from lib.stats import Resampling, holm, percentiles
from lib.study import Study

Statistic = Callable[[np.ndarray], np.ndarray]
HOLDS, DOES_NOT, CANNOT_TELL, NOT_MEASURED = "holds here", "does not", "cannot tell", "not measured"
ALPHA = 0.05
POWER = 0.8
MOST_TIMES = 64
DECIDED = ["estimate", "low", "high", "n", "n_clusters", "bound", "amount", "p_holm", "p_holm_amount"]
DECIDED += ["p_bonferroni", "verdict", "n_needed"]


@dataclass
class Finding:
    """What the questions say about one claim."""

    estimate: float  # θ, then its 95 % interval
    low: float
    high: float
    n: int  # questions
    n_clusters: int  # companies
    claims_more: bool  # whether the claim is that θ lies above the bound
    bound: float
    p: float  # of the test against the bound
    p_bootstrap: float
    amount: float | None = (
        None  # the difference that was claimed, where it is known and the claim is that a > b
    )
    p_amount: float | None = None  # of the test against the amount
    spread: float = math.nan  # s² · deff; NaN where no n follows from it
    is_exact: bool = False  # whether the claim is that θ is the amount


def spread_of(values: pd.Series, clusters: pd.Series) -> float:
    """``s² · deff`` = ``n · SE²``: the variance of one question's worth of evidence, companies considered."""
    n, n_clusters = len(values), clusters.nunique()
    if n_clusters < 2:
        return math.nan
    sums = (values - values.mean()).groupby(clusters.to_numpy()).sum()
    return float(n_clusters / (n_clusters - 1) * (sums**2).sum() / n)


def questions_needed(effect: float, spread: float, alpha: float = ALPHA) -> float:
    """The number of questions at which a two-sided test at level ``alpha`` finds an effect; infinite for no effect.

    NaN where the ``spread`` of :func:`spread_of` is unknown or 0: where all questions score alike, none is typical.
    """
    if math.isnan(spread) or (effect and spread < 1e-12):
        return math.nan
    if effect == 0:
        return math.inf
    return float(math.ceil((norm.ppf(1 - alpha / 2) + norm.ppf(POWER)) ** 2 * spread / effect**2))


def verdict(tested: Finding, p_holm: float, p_holm_amount: float = math.nan) -> str:
    """*holds here*, *does not* or *cannot tell*, by the rules above."""
    is_other_amount = p_holm_amount < ALPHA
    if tested.is_exact and not tested.low <= tested.amount <= tested.high:
        return DOES_NOT if is_other_amount else CANNOT_TELL
    above, below = tested.low > tested.bound, tested.high < tested.bound
    if p_holm < ALPHA and (above or below):
        return HOLDS if above == tested.claims_more else DOES_NOT
    if tested.claims_more and is_other_amount and tested.high < tested.amount:
        return DOES_NOT
    return CANNOT_TELL


def decide(tests: dict[str, Finding]) -> pd.DataFrame:
    """The verdicts on all claims, corrected as one family: DECIDED; n_needed is NaN unless it is *cannot tell*."""
    table = pd.DataFrame(list(map(vars, tests.values())), pd.Index(tests, name="claim"))
    amount_p = table["p_amount"].astype(float).rename("p_holm_amount")
    has_amount = amount_p.notna()
    adjusted = holm([*table["p"], *amount_p[has_amount]])
    amount_p[has_amount] = adjusted[len(table) :]
    table = table.assign(p_holm=adjusted[: len(table)], p_holm_amount=amount_p).astype({"amount": float})
    table["p_bonferroni"] = (table["p_bootstrap"] * len(table)).clip(upper=1.0)
    table["verdict"] = list(map(verdict, tests.values(), table["p_holm"], table["p_holm_amount"]))
    effects = table["estimate"] - table["bound"]
    needed = [
        questions_needed(*pair, ALPHA / len(adjusted)) for pair in zip(effects, table["spread"], strict=True)
    ]
    table["n_needed"] = np.where(table["verdict"] == CANNOT_TELL, needed, np.nan)
    return table[DECIDED]


def difference(
    draws: Resampling,
    a: pd.Series,
    b: pd.Series,
    claims_more: bool = True,
    bound: float = 0.0,
    amount: float | None = None,
) -> Finding:
    """Test the mean difference of ``a`` and ``b``, values by question_id, against a bound and a claimed amount."""
    apart = a - b.reindex(a.index)
    none = apart * 0
    tests = draws.p(apart - bound, none), draws.bootstrap_p(apart - bound, none)
    p_amount = None if amount is None else draws.p(apart - amount, none)
    spread = spread_of(apart, draws.company.reindex(a.index))
    return Finding(*draws.interval(apart), claims_more, bound, *tests, amount, p_amount, spread)


def statistic_test(
    draws: Resampling, values: pd.DataFrame, statistic: Statistic, bound: float, amount: float | None = None
) -> Finding:
    """Test whether a statistic of the column means of questions × columns lies above a bound, and is a claimed amount.

    The statistic takes means of shape (n_draws, n_columns) and is NaN where it is undefined; without an interval (NaN)
    where that is so in every draw.
    """
    estimate = float(statistic(values.mean().to_numpy()[None])[0])
    drawn = statistic(draws.means(values))
    interval, defined = percentiles(drawn), drawn[~np.isnan(drawn)]
    p, n_clusters = tail_p(defined, bound), draws.company.reindex(values.index).nunique()
    known = (
        {} if amount is None else {"amount": amount, "p_amount": tail_p(defined, amount), "is_exact": True}
    )
    return Finding(estimate, *interval, len(values), n_clusters, True, bound, p, p, **known)


def tail_p(draws: np.ndarray, bound: float) -> float:
    """Twice the smaller share of draws on either side of the bound, those at it on both; never 0, at most 1."""
    tail = min(np.count_nonzero(draws <= bound), np.count_nonzero(draws >= bound))
    return min(1.0, 2 * (1 + tail) / (1 + len(draws)))


def questions_until(
    draws: Resampling, values: pd.DataFrame, statistic: Statistic, bound: float, alpha: float
) -> float:
    """The questions at which the statistic's interval at ``1 - alpha`` leaves the bound; infinite after MOST_TIMES."""
    for times in range(1, MOST_TIMES + 1):
        low, high = percentiles(statistic(draws.means(values, times)), (alpha / 2, 1 - alpha / 2))
        if low > bound or high < bound:
            return float(times * len(values))
        if math.isnan(low):
            break
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
        parts = means[:, :n_pairs], means[:, n_pairs:]
        left, right = (part - part.mean(axis=1, keepdims=True) for part in parts)
        scale = np.sqrt((left**2).sum(axis=1) * (right**2).sum(axis=1))
        undefined = np.full(len(means), np.nan)
        return np.divide((left * right).sum(axis=1), scale, out=undefined, where=scale > 1e-12)

    return statistic


def strongest(tests: dict[str, Finding]) -> tuple[Finding, str]:
    """The test that decides whether a row beats every rival, against the one that comes nearest or is ahead; its name.

    To be best is to beat all, so the largest p of all rivals counts where it is ahead of all (an intersection-union
    test, which needs no further correction; Berger, 1982). Where a rival is ahead, that rival was picked among several,
    and its p is multiplied by their number.
    """
    rival = min(tests, key=lambda name: tests[name].estimate)
    decisive, n_rivals = tests[rival], len(tests)
    if decisive.estimate > decisive.bound:
        decisive.p = max(tested.p for tested in tests.values())
        decisive.p_bootstrap = max(tested.p_bootstrap for tested in tests.values())
    else:
        decisive.p = min(1.0, decisive.p * n_rivals)
        decisive.p_bootstrap = min(1.0, decisive.p_bootstrap * n_rivals)
    if decisive.p_amount is not None:
        decisive.p_amount = min(1.0, decisive.p_amount * n_rivals)
    return decisive, rival


class Board:
    """What a study's metrics (METRIC_COLUMNS of every run that was measured) say about the claims.

    ``sweep``: nDCG@10 of each question at each weight of dense, questions × weights; None where it was not measured.
    """

    def __init__(self, study: Study, metrics: pd.DataFrame, sweep: pd.DataFrame | None = None):
        self.question_types = study.questions.set_index("question_id")["question_type"]
        self.metrics, self.sweep, self.draws = metrics, sweep, Resampling.of(study)
        used = metrics[metrics["metric"].isin({"doc_recall"} | {claim.metric for claim in claims()})]
        parts = used.groupby(["method", "condition", "metric", "k"], observed=True)
        self.values = {key: part.set_index("question_id")["value"] for key, part in parts}

    def scores(self) -> pd.DataFrame:
        """One row per claim, in the order of ``claims.yaml``.

        Returns:
            Indexed by claim: ``rival`` (the row that decides a claim of being best), ``missing`` (why it is *not
            measured*), and the columns of :func:`decide`.
        """
        by_id = {claim.id: claim for claim in claims()}
        found = {name: self._test(claim) for name, claim in by_id.items()}
        tests = {name: tested for name, (tested, _) in found.items() if tested}
        rows = [(note, "") if tested else ("", note) for tested, note in found.values()]
        board = pd.DataFrame(rows, pd.Index(by_id, name="claim"), ["rival", "missing"])
        board = board.join(decide(tests)) if tests else board.assign(verdict=NOT_MEASURED)
        board["verdict"] = board["verdict"].fillna(NOT_MEASURED)
        level = ALPHA / max(1, len(tests) + sum(test.p_amount is not None for test in tests.values()))
        for name in board.index[board["verdict"] == CANNOT_TELL]:
            if (claim := by_id[name]).kind in ("argmax", "correlation"):
                tested = self._statistic(claim)
                board.loc[name, "n_needed"] = questions_until(self.draws, *tested, claim.bound, level)
        return board

    def _test(self, claim: Claim) -> tuple[Finding | None, str]:
        """A claim's test and the rival that decided it, or None and why it cannot be tested."""
        absent = missing(claim, self.metrics)
        if claim.kind == "argmax" and self.sweep is None:
            absent = absent or list(claim.a)
        if absent:
            return None, f"no run of {', '.join(absent)} in this profile"
        if self._ids(claim).empty:
            return None, f"no questions of type {', '.join(claim.question_types)}"
        if claim.kind in ("argmax", "correlation"):
            tested = statistic_test(self.draws, *self._statistic(claim), claim.bound, claim.amount)
            is_defined = not math.isnan(tested.low)
            return (tested, "") if is_defined else (None, "undefined here, as the rows are too much alike")
        rivals = {name: (name,) for name in claim.b} if claim.kind == "best" else {"": claim.b}
        a, tests = self._values(claim, claim.a, claim.a_condition), {}
        for name, rows in rivals.items():
            b = self._values(claim, rows, claim.b_condition)
            tests[name] = difference(self.draws, a, b, claim.says == ">", claim.bound, claim.amount)
        return strongest(tests)

    def _ids(self, claim: Claim) -> pd.Index:
        is_meant = self.question_types.isin(claim.question_types) | (not claim.question_types)
        return self.question_types.index[is_meant]

    def _values(self, claim: Claim, names: tuple[str, ...], condition: str) -> pd.Series:
        parts = [self.values[name, condition, claim.metric, claim.k] for name in names]
        return pd.concat(parts, axis=1).mean(axis=1).reindex(self._ids(claim))

    def _statistic(self, claim: Claim) -> tuple[pd.DataFrame, Statistic]:
        if claim.kind == "argmax":
            values = self.sweep.reindex(self._ids(claim))
            return values, argmax_of(values.columns.to_numpy(float))
        parts = {
            (metric, name): self.values[name, claim.a_condition, metric, claim.k]
            for metric in ("doc_recall", "page_recall")
            for name in claim.a
        }
        return pd.concat(parts, axis=1).reindex(self._ids(claim)), correlation_of(len(claim.a))
