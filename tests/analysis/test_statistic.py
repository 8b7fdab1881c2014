"""Tests of claims on made-up values: verdicts, sides of tests, Holm's correction, and n that would decide."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from lib.analysis import statistic
from lib.analysis.claims import Claim
from lib.analysis.statistic import HOLDS, OPPOSITE, SMALLER, UNDECIDED, Finding
from lib.stats import Resampling, wilson

GRID = np.array([0.0, 0.5, 1.0])
HIGHEST = partial(statistic.argmax_of, grid=GRID)
PLAIN = Claim("x", "s", "c", "p", "n", "page_recall@5", "difference")
MARGIN = replace(PLAIN, says="<=", bound=0.05)


def finding(low: float, high: float, **other) -> Finding:
    said = {"bound": 0.0, "p": 0.01, "p_opposite": 1.0} | other
    return Finding((low + high) / 2, low, high, 150, 32, **said)


def frame(rows: np.ndarray, n_draws: int) -> tuple[Resampling, pd.DataFrame]:
    """Draws of companies of two questions each, and the questions' values."""
    index = pd.Index([f"q{i}" for i in range(len(rows))], name="question_id")
    return Resampling(pd.Series(np.arange(len(rows)) // 2, index), n_draws), pd.DataFrame(rows, index)


# --- verdicts and families ---


@pytest.mark.parametrize(
    ("p", "opposite", "high", "amount", "expected"),
    [
        (0.01, 1.0, 0.20, None, HOLDS),
        (0.06, 1.0, 0.20, None, UNDECIDED),
        (1.00, 0.01, 0.20, None, OPPOSITE),
        (0.01, 1.0, 0.20, 0.3, SMALLER),  # the direction is as claimed, the amount is not
        (0.50, 1.0, 0.20, 0.3, SMALLER),  # the direction is undecided
        (1.00, 0.01, 0.20, 0.3, OPPOSITE),  # which says more
        (0.01, 1.0, 0.20, 0.1, HOLDS),
        (0.50, 0.6, 0.20, 0.1, UNDECIDED),
    ],
)
def test_verdicts_of_tests(p, opposite, high, amount, expected):
    assert statistic.verdict(finding(-0.1, high, amount=amount), p, opposite) == expected


def test_holm_is_within_a_source():
    tests = {name: finding(0.1, 0.2, p=p) for name, p in {"one": 0.02, "two": 0.03, "other": 0.04}.items()}
    found = statistic.decide(tests, {"one": "first", "two": "first", "other": "second"})
    # .02 × 2, then .03 × 1 may not fall below it; the other source has one test
    assert found["p_holm"].tolist() == pytest.approx([0.04, 0.04, 0.04])
    assert found["p"].tolist() == [0.02, 0.03, 0.04]
    assert set(found["verdict"]) == {HOLDS}
    together = statistic.decide(tests, dict.fromkeys(tests, "first"))
    assert together["p_holm"].tolist() == pytest.approx([0.06, 0.06, 0.06])
    assert together["p_bh"].tolist() == pytest.approx([0.04, 0.04, 0.04])  # .02 × 3/1, .03 × 3/2, .04 × 3/3
    assert set(together["verdict"]) == {UNDECIDED}
    assert statistic.decide(tests, {"one": "alone"}).loc[["two", "other"], ["p_holm", "p_bh"]].isna().all(axis=None)


def test_only_what_is_undecided_says_how_many_questions_would_decide():
    tests = {"sure": finding(0.1, 0.2), "open": finding(-0.1, 0.3, p=0.2, spread=1.0)}
    found = statistic.decide(tests, dict.fromkeys(tests, "s"))["n_needed"]
    assert math.isnan(found["sure"])
    assert found["open"] == 619  # (1.64485 + 0.84162)² / 0.1² = 618.3


def test_to_hold_of_several_pairs_all_have_to_hold():
    tests = {"near": finding(0.0, 0.1, p=0.02), "far": finding(0.3, 0.5, p=0.04)}
    decisive, name = statistic.weakest(tests)
    assert (name, decisive.p) == ("near", 0.04)
    tests = {"ahead": finding(-0.3, -0.1, p=1.0, p_opposite=0.02), "far": finding(0.3, 0.5)}
    decisive, name = statistic.weakest(tests)
    assert (name, decisive.p_opposite) == ("ahead", 0.04)  # picked among two
    assert statistic.weakest(tests, "<=")[1] == "far"


# --- tests ---


def test_a_difference_of_nothing_has_wilsons_interval():
    draws, values = frame(np.zeros((40, 1)), 500)
    found = statistic.difference(draws, values[0], values[0], PLAIN)
    far = wilson(0.0, 40)[1]
    assert (found.estimate, found.low, found.high) == pytest.approx((0, -far, far))
    assert (found.p, found.p_opposite) == (1, 1)


def test_no_gain_is_tested_by_the_upper_end_of_a_90_percent_interval():
    noise = np.tile([0.2, -0.2], 200)
    draws, values = frame(noise[:, None], 2000)  # every company's mean is 0
    found = statistic.difference(draws, values[0], values[0] * 0, MARGIN)
    assert found.high == pytest.approx(wilson(0.0, 400, 0.9)[1])
    assert found.p == pytest.approx(1 / 2001)
    draws, values = frame(np.zeros((40, 1)), 2000)
    found = statistic.difference(draws, values[0], values[0] * 0, MARGIN)
    assert found.high == pytest.approx(wilson(0.0, 40, 0.9)[1])  # .063: 40 equal questions cannot exclude .05
    assert found.p == statistic.ALPHA
    gain, values = frame(np.full((40, 1), 0.2), 2000)
    assert statistic.difference(gain, values[0], values[0] * 0, MARGIN).p_opposite == pytest.approx(1 / 2001, abs=1e-3)


def test_a_level_is_tested_by_draws():
    draws, values = frame(np.repeat([1.0, 0.0], [60, 20])[:, None], 2000)
    claim = replace(PLAIN, bound=0.5, opposite=0.5)
    found = statistic.difference(draws, values[0], None, claim)
    assert found.estimate == 0.75
    assert found.p < 0.01 < found.p_opposite


@pytest.mark.parametrize(("bound", "is_above", "n"), [(0.1, True, 2), (0.1, False, 3), (1.0, False, 0)])
def test_tail_p_counts_the_draws_at_the_bound_or_beyond(bound, is_above, n):
    assert statistic.tail_p(np.array([0.1, 0.2, 0.3, -0.1]), bound, is_above=is_above) == pytest.approx((1 + n) / 5)


def test_statistics_of_means_and_their_ties():
    means = np.array([[0.1, 0.3, 0.2], [0.3, 0.1, 0.3], [0.0, 0.3, 0.3]])
    assert HIGHEST(means).tolist() == [0.5, 0.5, 0.75]
    random = np.random.default_rng(2).random((5, 8))
    assert statistic.correlation_of(random) == pytest.approx([np.corrcoef(row[:4], row[4:])[0, 1] for row in random])
    assert math.isnan(statistic.correlation_of(np.array([[0.5, 0.5, 0.1, 0.2]]))[0])
    # one of two questions with a sum of .4, three of four with a sum of .9: .4 / .5 - .3 / .75 of the means
    none, found = statistic.between_groups(np.array([[0.4, 0.5, 0.0, 0.0], [0.4, 0.5, 0.3, 0.75]]))
    assert math.isnan(none)
    assert found == pytest.approx(0.4)


def test_a_clear_sweep_is_found_and_a_flat_one_is_not():
    claim, noise = replace(PLAIN, bound=0.5), np.random.default_rng(3).normal(0, 0.05, (60, 3))
    found = statistic.statistic_test(*frame(noise + [0.0, 0.1, 0.5], 500), HIGHEST, claim)
    assert (found.estimate, found.low, found.high) == (1.0, 1.0, 1.0)
    assert found.p == pytest.approx(1 / 501)
    assert statistic.statistic_test(*frame(noise, 500), HIGHEST, claim).p > 0.05
    both = statistic.statistic_test(*frame(noise + [0.0, 0.1, 0.5], 500), HIGHEST, replace(claim, says="!="))
    assert both.p == pytest.approx(2 / 501)
    assert both.p_opposite == 1.0


# --- how many questions would decide ---


@pytest.mark.parametrize(
    ("effect", "spread", "n"),  # (1.64485 + 0.84162)² / 0.1² = 618.3 for unit spread
    [(0.1, 1.0, 619), (-0.1, 1.0, 619), (0.0, 1.0, math.inf), (0.1, 0.0, math.nan), (0.1, math.nan, math.nan)],
)
def test_questions_needed_is_the_textbook_formula(effect, spread, n):
    # without a spread, none is known to be typical
    assert statistic.questions_needed(effect, spread) == pytest.approx(n, nan_ok=True)
    alike, company = pd.Series([1.0, 1.0, 0.0, 0.0]), pd.Series(list("AABB"))
    assert statistic.spread_of(alike, company) == pytest.approx(1.0)  # sums of 1 and -1: 2 / 1 * (1 + 1) / 4
    assert math.isnan(statistic.spread_of(alike[:2], company[:2]))  # one company tells nothing of it


@pytest.mark.parametrize(("n_tests", "expected"), [(1, 0.2030), (10, 0.2790)])
def test_what_can_be_found_is_the_same_formula_turned_around(n_tests, expected):
    assert statistic.detectable(1.0, 150, n_tests) == pytest.approx(
        expected, abs=1e-4
    )  # (z(1 - .05/m) + .84162) / √150
    assert statistic.questions_needed(statistic.detectable(0.3, 150), 0.3) == 150 or n_tests > 1
    assert math.isnan(statistic.detectable(math.nan, 150))


def test_questions_until_grows_with_the_noise():
    random = np.random.default_rng(4)
    effect = np.array([0.0, 0.0, 0.1])
    little, much = (frame(random.normal(0, sd, (40, 3)) + effect, 400) for sd in (0.1, 0.6))
    few = statistic.questions_until(*little, HIGHEST, 0.5)
    assert few == 40
    assert statistic.questions_until(*much, HIGHEST, 0.5) > few
    assert statistic.questions_until(*frame(np.zeros((40, 3)), 50), HIGHEST, 0.5) == math.inf
