"""Where a sweep is highest, and whether two measures move together, over draws of companies."""

import math

import numpy as np
import pandas as pd
import pytest

from lib.analysis.resampled import (
    argmax_of,
    correlation_of,
    questions_until,
    resampled_means,
    statistic_test,
    tail_p,
)
from lib.stats import clustered_bootstrap

GRID = np.array([0.0, 0.5, 1.0])


def frame(rows: np.ndarray, per_company: int = 2) -> tuple[pd.DataFrame, pd.Series]:
    index = pd.Index([f"q{i}" for i in range(len(rows))], name="question_id")
    return pd.DataFrame(rows, index), pd.Series([f"c{i // per_company}" for i in range(len(rows))], index)


def test_resampled_means_are_those_of_the_clustered_bootstrap():
    values, company = frame(np.random.default_rng(0).random((30, 2)), 3)
    drawn = resampled_means(values, company, 2000, 7)
    expected = clustered_bootstrap(values[1], company, 2000, 7)
    assert np.quantile(drawn[:, 1], [0.025, 0.975]) == pytest.approx([expected.low, expected.high])


def test_more_companies_give_narrower_means():
    values, company = frame(np.random.default_rng(0).random((40, 1)))
    once, four_times = (resampled_means(values, company, 3000, 1, times).std() for times in (1, 4))
    assert four_times == pytest.approx(once / 2, rel=0.1)


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
    clear, company = frame(noise + [0.0, 0.1, 0.5])
    found = statistic_test(clear, company, argmax_of(GRID), 0.5, 500)
    assert (found.estimate, found.low, found.high) == (1.0, 1.0, 1.0)
    assert found.p < 0.01
    flat, _ = frame(noise)
    assert statistic_test(flat, company, argmax_of(GRID), 0.5, 500).p > 0.05


def test_questions_until_grows_with_the_noise():
    random = np.random.default_rng(4)
    effect = np.array([0.0, 0.0, 0.1])
    little, company = frame(random.normal(0, 0.1, (40, 3)) + effect)
    much, _ = frame(random.normal(0, 0.6, (40, 3)) + effect)
    few = questions_until(little, company, argmax_of(GRID), 0.5, 0.05, 400)
    many = questions_until(much, company, argmax_of(GRID), 0.5, 0.05, 400)
    assert few == 40
    assert many > few
    nothing, _ = frame(np.zeros((40, 3)))
    assert questions_until(nothing, company, argmax_of(GRID), 0.5, 0.05, 50) == math.inf
