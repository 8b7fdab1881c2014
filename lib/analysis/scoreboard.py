"""What the rows of the method table say about every claim: tests, corrections, verdicts."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from lib.analysis.claims import Claim, claims, missing
from lib.analysis.resampled import argmax_of, correlation_of, questions_until, statistic_test
from lib.analysis.verdicts import ALPHA, CANNOT_TELL, NOT_MEASURED, Finding, decide, difference
from lib.words import Condition


class Board:
    """What a study's metrics say about the claims.

    Args:
        study: gives questions, companies and the settings of the tests.
        metrics: METRIC_COLUMNS of every run that was measured.
        sweep: nDCG@10 of each question at each weight of dense, questions × weights; None where it was not measured.
    """

    def __init__(self, study, metrics: pd.DataFrame, sweep: pd.DataFrame | None = None):
        self.questions = study.questions.set_index("question_id")
        self.metrics, self.sweep = metrics, sweep
        names = ["method", "condition", "metric", "k"]
        used = metrics[metrics["metric"].isin({"doc_recall"} | {claim.metric for claim in claims()})]
        parts = used.groupby(names, observed=True)
        self.values = {key: part.set_index("question_id")["value"] for key, part in parts}
        self.draws = {"n_draws": study.profile.significance.n_draws, "seed": study.profile.significance.seed}

    def scores(self) -> pd.DataFrame:
        """One row a claim, in the order of ``claims.yaml``.

        Returns:
            Indexed by claim: the columns of :func:`lib.analysis.verdicts.decide`, ``rival`` (the row that a claim of
            being best is decided by) and ``missing`` (why, for verdict *not measured*).
        """
        found, tests, rows = claims(), {}, {}
        for claim in found:
            absent = missing(claim, self.metrics)
            if claim.kind == "argmax" and self.sweep is None:
                absent = absent or list(claim.a)
            reason, rival = self._unmeasurable(claim, absent), ""
            if not reason:
                tested, rival = self._test(claim)
                if math.isnan(tested.low):
                    reason, rival = "undefined here, as the rows are too much alike", ""
                else:
                    tests[claim.id] = tested
            rows[claim.id] = {"rival": rival, "missing": reason}
        extra = pd.DataFrame.from_dict(rows, orient="index").rename_axis("claim")
        board = extra.join(decide(tests)) if tests else extra.assign(verdict=NOT_MEASURED)
        board["verdict"] = board["verdict"].fillna(NOT_MEASURED)
        n_tests = len(tests) + sum(test.p_amount is not None for test in tests.values())
        return self._resample_more({claim.id: claim for claim in found}, board, n_tests)

    def _resample_more(self, by_id: dict[str, Claim], board: pd.DataFrame, n_tests: int) -> pd.DataFrame:
        for name, row in board.iterrows():
            claim = by_id[name]
            if row["verdict"] == CANNOT_TELL and claim.kind in ("argmax", "correlation"):
                values, statistic = self._statistic(claim)
                board.loc[name, "n_needed"] = questions_until(
                    values, self._companies(values), statistic, claim.bound, ALPHA / n_tests, **self.draws
                )
        return board

    def _unmeasurable(self, claim: Claim, absent: list[str]) -> str:
        if absent:
            return f"no run of {', '.join(absent)} in this profile"
        return f"no questions of type {', '.join(claim.question_types)}" if self._ids(claim).empty else ""

    def _ids(self, claim: Claim) -> pd.Index:
        is_meant = self.questions["question_type"].isin(claim.question_types) | (not claim.question_types)
        return self.questions.index[is_meant]

    def _companies(self, values: pd.Series | pd.DataFrame) -> pd.Series:
        return self.questions["company"].reindex(values.index)

    def _values(self, claim: Claim, names: tuple[str, ...], condition: Condition) -> pd.Series:
        parts = [self.values[name, condition, claim.metric, claim.k] for name in names]
        return pd.concat(parts, axis=1).mean(axis=1).reindex(self._ids(claim))

    def _difference(self, claim: Claim, rivals: tuple[str, ...]) -> Finding:
        a = self._values(claim, claim.a, claim.a_condition)
        b = self._values(claim, rivals, claim.b_condition)
        company, is_more = self._companies(a), claim.says == ">"
        return difference(a, b, company, is_more, claim.bound, claim.amount, **self.draws)

    def _test(self, claim: Claim) -> tuple[Finding, str]:
        if claim.kind == "difference":
            return self._difference(claim, claim.b), ""
        if claim.kind == "best":
            return strongest({name: self._difference(claim, (name,)) for name in claim.b})
        values, statistic = self._statistic(claim)
        company = self._companies(values)
        tested = statistic_test(values, company, statistic, claim.bound, **self.draws)
        if claim.amount is not None:
            at_amount = statistic_test(values, company, statistic, claim.amount, **self.draws)
            tested.amount, tested.p_amount, tested.is_exact = claim.amount, at_amount.p, True
        return tested, ""

    def _statistic(self, claim: Claim) -> tuple[pd.DataFrame, Callable[[np.ndarray], np.ndarray]]:
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
