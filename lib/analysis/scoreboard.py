"""The claims tested on the rows of the method table: a difference of means, a maximum of a sweep, a correlation.

A sweep's maximum and a correlation over rows are statistics of means, so they are bootstrapped over companies: a draw
of companies gives new means, and these a new value of the statistic (Davison & Hinkley, 1997, 3.8). The p against a
bound is twice the smaller share of draws on either side of it, plus one as in Phipson & Smyth (2010). How many
questions would tell: the bootstrap is repeated with 2, 3, … times as many companies, as if further ones were like
these, until its interval leaves the bound at the level of the verdict.
"""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from lib.analysis.claims import Claim, claims, missing
from lib.analysis.verdicts import ALPHA, CANNOT_TELL, NOT_MEASURED, Finding, decide, spread_of
from lib.stats import Resampling, percentiles
from lib.study import Study
from lib.words import Condition

Statistic = Callable[[np.ndarray], np.ndarray]
MOST_TIMES = 64


def difference(
    draws: Resampling,
    a: pd.Series,
    b: pd.Series,
    claims_more: bool = True,
    bound: float = 0.0,
    amount: float | None = None,
) -> Finding:
    """Test a mean paired difference.

    Args:
        draws: of companies.
        a, b: one value per question, by question_id.
        claims_more: whether the difference is claimed to lie above the bound.
        bound: what the difference is tested against.
        amount: the difference that was claimed.
    """
    apart = a - b.reindex(a.index)
    none = apart * 0
    tests = draws.p(apart - bound, none), draws.bootstrap_p(apart - bound, none)
    p_amount = None if amount is None else draws.p(apart - amount, none)
    spread = spread_of(apart, draws.company.reindex(a.index))
    return Finding(*draws.interval(apart), claims_more, bound, *tests, amount, p_amount, spread)


def statistic_test(draws: Resampling, values: pd.DataFrame, statistic: Statistic, bound: float) -> Finding:
    """Test whether a statistic of the column means lies above a bound.

    Args:
        draws: of companies.
        values: questions × columns.
        statistic: means, shape (n_draws, n_columns), to one number per draw; NaN where it is undefined.
        bound: what it is tested against.

    Returns:
        Without an interval (NaN) where the statistic is undefined in every draw.
    """
    estimate = float(statistic(values.mean().to_numpy()[None])[0])
    drawn = statistic(draws.means(values))
    low, high = percentiles(drawn)
    p, n_clusters = tail_p(drawn[~np.isnan(drawn)], bound), draws.company.reindex(values.index).nunique()
    return Finding(estimate, low, high, len(values), n_clusters, True, bound, p, p)


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


class Board:
    """What a study's metrics say about the claims.

    Args:
        study: gives questions, companies and the settings of the tests.
        metrics: METRIC_COLUMNS of every run that was measured.
        sweep: nDCG@10 of each question at each weight of dense, questions × weights; None where it was not measured.
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
            Indexed by claim: the columns of :func:`lib.analysis.verdicts.decide`, ``rival`` (the row that a claim of
            being best is decided by) and ``missing`` (why, for verdict *not measured*).
        """
        by_id, tests, rows = {claim.id: claim for claim in claims()}, {}, {}
        for claim in by_id.values():
            reason, rival = self._unmeasurable(claim), ""
            if not reason:
                tested, rival = self._test(claim)
                if math.isnan(tested.low):
                    reason, rival = "undefined here, as the rows are too much alike", ""
                else:
                    tests[claim.id] = tested
            rows[claim.id] = {"rival": rival, "missing": reason}
        board = pd.DataFrame.from_dict(rows, orient="index").rename_axis("claim")
        board = board.join(decide(tests)) if tests else board.assign(verdict=NOT_MEASURED)
        board["verdict"] = board["verdict"].fillna(NOT_MEASURED)
        level = ALPHA / max(1, len(tests) + sum(test.p_amount is not None for test in tests.values()))
        for name in board.index[board["verdict"] == CANNOT_TELL]:
            if (claim := by_id[name]).kind in ("argmax", "correlation"):
                needed = questions_until(self.draws, *self._statistic(claim), claim.bound, level)
                board.loc[name, "n_needed"] = needed
        return board

    def _unmeasurable(self, claim: Claim) -> str:
        absent = missing(claim, self.metrics)
        if claim.kind == "argmax" and self.sweep is None:
            absent = absent or list(claim.a)
        if absent:
            return f"no run of {', '.join(absent)} in this profile"
        return f"no questions of type {', '.join(claim.question_types)}" if self._ids(claim).empty else ""

    def _ids(self, claim: Claim) -> pd.Index:
        is_meant = self.question_types.isin(claim.question_types) | (not claim.question_types)
        return self.question_types.index[is_meant]

    def _values(self, claim: Claim, names: tuple[str, ...], condition: Condition) -> pd.Series:
        parts = [self.values[name, condition, claim.metric, claim.k] for name in names]
        return pd.concat(parts, axis=1).mean(axis=1).reindex(self._ids(claim))

    def _difference(self, claim: Claim, rivals: tuple[str, ...]) -> Finding:
        a = self._values(claim, claim.a, claim.a_condition)
        b = self._values(claim, rivals, claim.b_condition)
        return difference(self.draws, a, b, claim.says == ">", claim.bound, claim.amount)

    def _test(self, claim: Claim) -> tuple[Finding, str]:
        if claim.kind == "difference":
            return self._difference(claim, claim.b), ""
        if claim.kind == "best":
            return strongest({name: self._difference(claim, (name,)) for name in claim.b})
        measured = self._statistic(claim)
        tested = statistic_test(self.draws, *measured, claim.bound)
        if claim.amount is not None:
            at_amount = statistic_test(self.draws, *measured, claim.amount)
            tested.amount, tested.p_amount, tested.is_exact = claim.amount, at_amount.p, True
        return tested, ""

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


def strongest(tests: dict[str, Finding]) -> tuple[Finding, str]:
    """The test that decides whether a row beats every rival: against the rival that comes nearest or is ahead.

    To be best is to beat all, so the largest p of all rivals counts where it is ahead of all (an intersection-union
    test, which needs no further correction; Berger, 1982). Where a rival is ahead, that rival was picked among several,
    and its p is multiplied by their number.

    Returns:
        The test and the rival's name.
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
