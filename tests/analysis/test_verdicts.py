"""Verdicts on made-up differences, and the number of questions that would tell, by simulation."""

import math

import numpy as np
import pandas as pd
import pytest

from lib.analysis.scoreboard import (
    CANNOT_TELL,
    DOES_NOT,
    HOLDS,
    Finding,
    decide,
    questions_needed,
    spread_of,
    verdict,
)

SURE, UNSURE = 0.01, 0.2


def finding(low: float, high: float, **other) -> Finding:
    """A claim that θ is above 0 with this interval, unless said otherwise."""
    said = {"claims_more": True, "bound": 0.0, "p": SURE, "p_bootstrap": SURE} | other
    return Finding((low + high) / 2, low, high, 150, 32, **said)


@pytest.mark.parametrize(
    ("low", "high", "p", "expected"),
    [
        (0.01, 0.20, SURE, HOLDS),
        (0.01, 0.20, UNSURE, CANNOT_TELL),  # the interval alone does not decide
        (-0.01, 0.20, SURE, CANNOT_TELL),  # nor does the test
        (0.00, 0.20, SURE, CANNOT_TELL),
        (-0.20, -0.01, SURE, DOES_NOT),
        (-0.20, -0.01, UNSURE, CANNOT_TELL),
    ],
)
def test_superiority_needs_the_interval_and_the_corrected_test(low, high, p, expected):
    assert verdict(finding(low, high), p) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(-0.1, 0.04, HOLDS), (-0.1, 0.05, CANNOT_TELL), (0.02, 0.08, CANNOT_TELL), (0.06, 0.2, DOES_NOT)],
)
def test_no_gain_is_tested_against_the_margin(low, high, expected):
    assert verdict(finding(low, high, claims_more=False, bound=0.05), SURE) == expected


@pytest.mark.parametrize(
    ("high", "p_amount", "expected"),
    [(0.08, SURE, DOES_NOT), (0.08, UNSURE, CANNOT_TELL), (0.12, SURE, CANNOT_TELL)],
)
def test_a_claimed_size_can_be_excluded(high, p_amount, expected):
    assert verdict(finding(-0.02, high, amount=0.1), UNSURE, p_amount) == expected


def test_a_gain_smaller_than_claimed_still_holds():
    assert verdict(finding(0.01, 0.05, amount=0.1), SURE, SURE) == HOLDS


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.7, 0.9, HOLDS),
        (0.4, 0.9, CANNOT_TELL),
        (0.9, 1.0, DOES_NOT),
        (0.6, 0.8, DOES_NOT),
        (0.1, 0.3, DOES_NOT),
    ],
)
def test_an_exact_claim_needs_its_value_inside(low, high, expected):
    assert verdict(finding(low, high, bound=0.5, amount=0.85, is_exact=True), SURE, SURE) == expected


def values_of(companies: list[str], numbers: list[float]) -> tuple[pd.Series, pd.Series]:
    index = pd.Index([f"q{i}" for i in range(len(numbers))], name="question_id")
    return pd.Series(numbers, index), pd.Series(companies, index)


def test_spread_of_two_companies_by_hand():
    values, company = values_of(["A", "A", "B", "B"], [1.0, 1.0, 0.0, 0.0])
    # sums of deviations 1 and -1: 2 / 1 * (1 + 1) / 4 = 1
    assert spread_of(values, company) == pytest.approx(1.0)


def test_one_company_tells_nothing_of_the_spread():
    values, company = values_of(["A"] * 3, [1.0, 0.0, 0.0])
    assert math.isnan(questions_needed(0.1, spread_of(values, company)))


def test_questions_needed_is_the_textbook_formula():
    # (1.95996 + 0.84162)² / 0.1² = 784.9 for unit spread
    assert questions_needed(0.1, 1.0) == 785
    assert questions_needed(-0.1, 1.0) == 785
    assert questions_needed(0.0, 1.0) == math.inf
    assert math.isnan(
        questions_needed(0.1, 0.0)
    )  # every question says the same: none of them is known to be typical


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_power_by_simulation(share):
    """At the number of questions that the formula gives, about 80 % of draws of companies reject.

    A question's difference is its company's part plus its own, of unit variance; ``share`` is the company's part.
    """
    random, per_company, effect = np.random.default_rng(0), 5, 0.2
    spread = 1 + (per_company - 1) * share  # the design effect of equal companies
    n_companies = round(questions_needed(effect, spread) / per_company)
    company = random.normal(0, math.sqrt(share), (2000, n_companies, 1))
    own = random.normal(0, math.sqrt(1 - share), (2000, n_companies, per_company))
    means = (effect + company + own).mean(axis=2)
    z = means.mean(axis=1) / (means.std(axis=1, ddof=1) / math.sqrt(n_companies))
    assert np.mean(np.abs(z) > 1.96) == pytest.approx(0.8, abs=0.03)


def test_spread_estimates_the_design_effect_of_simulated_companies():
    random = np.random.default_rng(1)
    values = (random.normal(0, 1, (4000, 1)) + random.normal(0, 1, (4000, 5))).ravel()
    numbers, company = values_of([f"c{i // 5}" for i in range(len(values))], list(values))
    # the design effect: the spread beside that of as many unrelated questions
    assert spread_of(numbers, company) / numbers.var() == pytest.approx(1 + 4 * 0.5, abs=0.1)


def test_all_tests_are_one_family():
    sure, with_amount = finding(0.1, 0.2, p=0.01), finding(-0.1, 0.05, p=0.5, amount=0.3, p_amount=0.02)
    board = decide({"one": sure, "two": with_amount})
    # three tests: 0.01 × 3, 0.02 × 2, 0.5 × 1
    assert board.loc["one", "p_holm"] == pytest.approx(0.03)
    assert list(board["verdict"]) == [HOLDS, DOES_NOT]
    assert board.loc["one", "p_bonferroni"] == pytest.approx(0.02)  # two claims
    third = decide({"one": sure, "two": with_amount, "three": finding(-1, 1, p=0.02, spread=1.0)})
    assert third.loc["two", "verdict"] == CANNOT_TELL  # 0.02 × 3
    assert third.loc["three", "n_needed"] == math.inf
    assert math.isnan(third.loc["one", "n_needed"])
