"""Pages within their filings: ranks, standing, neighbours."""

import numpy as np

from lib.ahead.pages import FilingGroups, standardised

GROUPS = FilingGroups(np.array([0, 0, 0, 1, 1]))
VALUES = np.array([[1.0, 3.0, 2.0, 5.0, 5.0]])


def test_ranks_best_and_standing_are_within_the_filing():
    assert GROUPS.ranks(VALUES).tolist() == [[2, 0, 1, 0, 1]]
    assert GROUPS.best(VALUES).tolist() == [[3, 3, 3, 5, 5]]
    deviation = np.std([1, 2, 3])
    assert np.allclose(GROUPS.standing(VALUES), [[-1 / deviation, 1 / deviation, 0, 0, 0]], atol=1e-4)


def test_neighbours_do_not_cross_filings():
    assert GROUPS.neighbours(VALUES).tolist() == [[3, 2, 3, 5, 5]]
    assert FilingGroups(np.array([0, 1])).neighbours(np.array([[4.0, 7.0]])).tolist() == [[4, 4]]


def test_standardised_rows_of_equal_values_are_zero():
    assert standardised(np.array([[2.0, 2.0]])).tolist() == [[0, 0]]
