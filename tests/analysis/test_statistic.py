"""Tests of claims on made-up values: verdicts, sides of tests, Holm's correction, and n that would decide."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from lib.analysis import statistic
from lib.analysis.claims import Claim
from lib.analysis.statistic import HOLDS, INCONCLUSIVE, OPPOSITE, SMALLER, Finding
from lib.stats import Resampling, wilson

HIGHEST = partial(statistic.argmax_of, grid=np.array([0.0, 0.5, 1.0]))
PLAIN = Claim("x", "s", "c", "p", "n", "page_recall@5", "difference")
MARGIN = replace(PLAIN, says="<=", bound=0.05)
HALF = replace(PLAIN, bound=0.5, opposite=0.5)


def finding(low: float, high: float, **other) -> Finding:
    return Finding((low + high) / 2, low, high, 150, 32, **{"bound": 0.0, "p": 0.01, "p_opposite": 1.0} | other)


def frame(rows: np.ndarray, n_draws: int = 500) -> tuple[Resampling, pd.DataFrame]:
    """Draws of companies of two questions each, and the questions' values."""
    index = pd.Index([f"q{i}" for i in range(len(rows))], name="question_id")
    return Resampling(pd.Series(np.arange(len(rows)) // 2, index), n_draws), pd.DataFrame(rows, index)


def difference(numbers: np.ndarray, claim: Claim, n_draws: int = 2000) -> Finding:
    draws, values = frame(np.asarray(numbers)[:, None], n_draws)
    return statistic.difference(draws, values[0], values[0] * 0, claim)


@pytest.mark.parametrize(
    ("p", "opposite", "amount", "expected"),
    [
        (0.01, 1.0, None, HOLDS),
        (0.06, 1.0, None, INCONCLUSIVE),
        (1.00, 0.01, None, OPPOSITE),
        (0.01, 1.0, 0.3, SMALLER),  # the direction is as claimed, the amount is not
        (0.50, 1.0, 0.3, SMALLER),  # the direction is inconclusive
        (1.00, 0.01, 0.3, OPPOSITE),  # which says more
        (0.01, 1.0, 0.1, HOLDS),
    ],
)
def test_verdicts_of_tests(p, opposite, amount, expected):
    tests = {"x": finding(-0.1, 0.2, amount=amount, p=p, p_opposite=opposite)}
    assert statistic.decide(tests, {"x": "s"}).at["x", "verdict"] == expected


def test_holm_is_within_a_source_and_only_what_is_inconclusive_says_how_many_questions_would_decide():
    tests = {name: finding(0.1, 0.2, p=p, spread=1.0) for name, p in {"one": 0.02, "two": 0.03, "other": 0.04}.items()}
    found = statistic.decide(tests, {"one": "first", "two": "first", "other": "second"})
    # .02 × 2, then .03 × 1 may not fall below it; the other source has one test
    assert found["p_holm"].tolist() == pytest.approx([0.04, 0.04, 0.04])
    assert found["p"].tolist() == [0.02, 0.03, 0.04]
    assert (set(found["verdict"]), found["n_needed"].isna().all()) == ({HOLDS}, True)
    together = statistic.decide(tests, dict.fromkeys(tests, "first"))
    assert together["p_holm"].tolist() == pytest.approx([0.06, 0.06, 0.06])
    assert together["p_bh"].tolist() == pytest.approx([0.04, 0.04, 0.04])  # .02 × 3/1, .03 × 3/2, .04 × 3/3
    # (1.64485 + 0.84162)² / 0.15² = 274.8
    assert (set(together["verdict"]), set(together["n_needed"])) == ({INCONCLUSIVE}, {275})
    assert statistic.decide(tests, {"one": "alone"}).loc[["two", "other"], ["p_holm", "p_bh"]].isna().all(axis=None)


def test_to_hold_of_several_pairs_all_have_to_hold():
    tests = {"near": finding(0.0, 0.1, p=0.02), "far": finding(0.3, 0.5, p=0.04)}
    decisive, name = statistic.weakest(tests)
    assert (name, decisive.p) == ("near", 0.04)
    tests = {"ahead": finding(-0.3, -0.1, p=1.0, p_opposite=0.02), "far": finding(0.3, 0.5)}
    decisive, name = statistic.weakest(tests)
    assert (name, decisive.p_opposite) == ("ahead", 0.04)  # picked among two
    assert statistic.weakest(tests, "<=")[1] == "far"


def test_a_difference_of_nothing_has_wilsons_interval_and_no_gain_is_tested_by_that_of_90_percent():
    found, far = difference(np.zeros(40), PLAIN), wilson(0.0, 40)[1]
    assert found[:3] == pytest.approx((0, -far, far))
    assert (found.p, found.p_opposite) == (1, 1)
    found = difference(np.tile([0.2, -0.2], 200), MARGIN)  # every company's mean is 0
    assert (found.high, found.p) == pytest.approx((wilson(0.0, 400, 0.9)[1], 1 / 2001))
    found = difference(np.zeros(40), MARGIN)
    assert found.high == pytest.approx(wilson(0.0, 40, 0.9)[1])  # .063: 40 equal questions cannot exclude .05
    assert found.p == statistic.ALPHA
    assert difference(np.full(40, 0.2), MARGIN).p_opposite == pytest.approx(1 / 2001, abs=1e-3)


def test_a_level_is_tested_by_draws():
    draws, values = frame(np.repeat([1.0, 0.0], [60, 20])[:, None], 2000)
    found = statistic.difference(draws, values[0], None, HALF)
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


def test_a_clear_sweep_is_found_and_a_flat_one_is_not():
    noise = np.random.default_rng(3).normal(0, 0.05, (60, 3))
    clear, flat = frame(noise + [0.0, 0.1, 0.5]), frame(noise)
    found = statistic.statistic_test(*clear, HIGHEST, HALF)
    assert (found[:3], found.p) == ((1.0, 1.0, 1.0), pytest.approx(1 / 501))
    assert statistic.statistic_test(*flat, HIGHEST, HALF).p > 0.05


def test_groups_of_questions_are_compared_within_and_across_companies_and_the_strongest_of_several_counts():
    draws, values = frame(np.random.default_rng(5).random((80, 1)) + np.tile([0.0, 1.0], 40)[:, None])
    is_one = pd.Series(np.tile([False, True], 40), values.index)
    found = statistic.between_groups(draws, values[0], is_one, ~is_one, PLAIN)
    assert found.estimate == pytest.approx(values[0][is_one].mean() - values[0][~is_one].mean())
    assert (found.n, found.n_clusters, found.p) == (80, 40, pytest.approx(1 / 501))
    both = statistic.between_groups(draws, values[0], is_one, ~is_one, replace(PLAIN, says="!="))
    assert (both.p, both.p_opposite) == (pytest.approx(2 / 501), 1.0)
    assert math.isnan(statistic.between_groups(draws, values[0], is_one, is_one & False, PLAIN).low)
    tests = {"weak": finding(0.0, 0.1, p=0.3), "strong": finding(-0.4, -0.2, p=0.01)}
    decisive, name = statistic.strongest(tests)
    assert (name, decisive.p) == ("strong", 0.02)


def test_questions_needed_and_the_difference_that_is_found_are_the_textbook_formula():
    # (z(0.95) + z(0.8))² / 0.1² = (1.64485 + 0.84162)² / 0.1² = 618.3 for unit spread
    cases = {(0.1, 1.0): 619, (-0.1, 1.0): 619, (0.0, 1.0): math.inf, (0.1, 0.0): math.nan, (0.1, math.nan): math.nan}
    found = [statistic.questions_needed(*case) for case in cases]
    assert found == pytest.approx([*cases.values()], nan_ok=True)
    # with ten tests z(0.995) = 2.576 in place of 1.645
    assert statistic.detectable(0.25, 100) == pytest.approx(2.4865 * 0.5 / 10, abs=1e-4)
    assert statistic.detectable(0.25, 400) == pytest.approx(2.4865 * 0.5 / 20, abs=1e-4)
    assert statistic.detectable(0.25, 100, 10) == pytest.approx(3.4174 * 0.5 / 10, abs=1e-4)


def test_the_spread_is_of_companies_and_unknown_of_one():
    alike, company = pd.Series([1.0, 1.0, 0.0, 0.0]), pd.Series(list("AABB"))
    found = statistic.difference(Resampling(company, 100), alike, None, PLAIN)
    assert found.spread == pytest.approx(1.0)  # sums of 1 and -1: 2 / 1 * (1 + 1) / 4
    assert math.isnan(statistic.difference(Resampling(company[:2], 100), alike[:2], None, PLAIN).spread)


def test_questions_until_grows_with_the_noise():
    random, effect = np.random.default_rng(4), np.array([0.0, 0.0, 0.1])
    little, much = (frame(random.normal(0, sd, (40, 3)) + effect, 400) for sd in (0.1, 0.6))
    few = statistic.questions_until(*little, HIGHEST, 0.5)
    assert few == 40
    assert statistic.questions_until(*much, HIGHEST, 0.5) > few
    assert statistic.questions_until(*frame(np.zeros((40, 3)), 50), HIGHEST, 0.5) == math.inf
    nowhere = frame(np.full((40, 8), 0.5), 50)  # the correlation of constants is undefined in every draw
    assert statistic.questions_until(*nowhere, statistic.correlation_of, 0.5) == math.inf
