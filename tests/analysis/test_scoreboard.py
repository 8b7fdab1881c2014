"""Claims tested on made-up rows: differences, where a sweep is highest, whether two measures move together."""

import math

import numpy as np
import pandas as pd
import pytest

from lib.analysis.scoreboard import (
    argmax_of,
    correlation_of,
    difference,
    questions_until,
    statistic_test,
    tail_p,
)
from lib.stats import Resampling

GRID = np.array([0.0, 0.5, 1.0])


def frame(rows: np.ndarray, n_draws: int) -> tuple[Resampling, pd.DataFrame]:
    """Draws of companies of two questions each, and the questions' values."""
    index = pd.Index([f"q{i}" for i in range(len(rows))], name="question_id")
    return Resampling(pd.Series(np.arange(len(rows)) // 2, index), n_draws), pd.DataFrame(rows, index)


def test_difference_matches_questions_by_id_and_tests_both_bounds():
    draws, values = frame(np.array([1.0] * 30 + [0.0] * 10)[:, None], 500)
    found = difference(draws, values[0], (values[0] * 0)[::-1], amount=0.75)
    assert found.estimate == 0.75
    assert found.n_clusters == 20
    assert found.p < 0.01
    assert found.p_amount > 0.5  # the claimed amount is what is there


def test_argmax_and_its_ties():
    means = np.array([[0.1, 0.3, 0.2], [0.3, 0.1, 0.3]])
    assert list(argmax_of(GRID)(means)) == [0.5, 0.5]
    assert argmax_of(GRID)(np.array([[0.0, 0.3, 0.3]]))[0] == 0.75


def test_correlation_of_means_is_numpys():
    random = np.random.default_rng(2).random((5, 8))
    expected = [np.corrcoef(row[:4], row[4:])[0, 1] for row in random]
    assert correlation_of(4)(random) == pytest.approx(expected)
    assert math.isnan(correlation_of(2)(np.array([[0.5, 0.5, 0.1, 0.2]]))[0])


def test_tail_p_counts_the_smaller_side():
    draws = np.array([0.1, 0.2, 0.3, -0.1])
    assert tail_p(draws, 0.0) == pytest.approx(2 * (1 + 1) / 5)
    assert tail_p(draws, 1.0) == pytest.approx(2 * (1 + 0) / 5)
    assert tail_p(draws, 0.15) == 1.0


def test_a_clear_sweep_is_found_and_a_flat_one_is_not():
    noise = np.random.default_rng(3).normal(0, 0.05, (60, 3))
    found = statistic_test(*frame(noise + [0.0, 0.1, 0.5], 500), argmax_of(GRID), 0.5)
    assert (found.estimate, found.low, found.high) == (1.0, 1.0, 1.0)
    assert found.p < 0.01
    assert statistic_test(*frame(noise, 500), argmax_of(GRID), 0.5).p > 0.05


def test_questions_until_grows_with_the_noise():
    random = np.random.default_rng(4)
    effect = np.array([0.0, 0.0, 0.1])
    little, much = (frame(random.normal(0, sd, (40, 3)) + effect, 400) for sd in (0.1, 0.6))
    few = questions_until(*little, argmax_of(GRID), 0.5, 0.05)
    assert few == 40
    assert questions_until(*much, argmax_of(GRID), 0.5, 0.05) > few
    assert questions_until(*frame(np.zeros((40, 3)), 50), argmax_of(GRID), 0.5, 0.05) == math.inf
