"""Numbers for the combiner: standing in the filing, neighbours, pools."""

import numpy as np

from lib.ahead.features import FilingGroups, beside, standardised

FILING = np.array([0, 0, 0, 1, 1])
VALUES = np.array([[1.0, 3.0, 2.0, 5.0, 5.0]])


def test_ranks_best_and_standing_are_within_the_filing():
    groups = FilingGroups(FILING)
    assert np.array_equal(groups.ranks(VALUES), [[2, 0, 1, 0, 1]])
    assert np.array_equal(groups.best(VALUES), [[3, 3, 3, 5, 5]])
    assert np.allclose(
        groups.standing(VALUES)[0, :3], (np.array([1, 3, 2]) - 2) / np.std([1, 2, 3]), atol=1e-4
    )
    assert np.allclose(groups.standing(VALUES)[0, 3:], 0)


def test_neighbours_do_not_cross_filings():
    assert np.array_equal(beside(VALUES, FilingGroups(FILING)), [[3, 2, 3, 5, 5]])
    assert np.array_equal(beside(np.array([[4.0, 7.0]]), FilingGroups(np.array([0, 1]))), [[4, 4]])


def test_standardised_rows_that_are_all_equal_are_zero():
    assert np.array_equal(standardised(np.array([[2.0, 2.0]])), [[0, 0]])
