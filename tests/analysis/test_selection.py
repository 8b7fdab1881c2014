"""The choice among rows by hand: two companies, whose questions each prefer another row."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis.selection import groups, select
from lib.method_sets import baselines
from lib.methods import METHODS

IDS = ["q1", "q2", "q3", "q4"]
COMPANY = ["Acme", "Acme", "Bolt", "Bolt"]


@pytest.mark.parametrize(
    ("rows", "best", "mean", "nested"),
    [
        # each company's questions choose the row that fails on the other's
        ({"a": [1, 1, 0, 0], "b": [0, 0, 1, 0.5]}, "a", 0.5, 0.0),
        ({"a": [1, 1, 1, 1], "b": [0, 0, 1, 0]}, "a", 1.0, 1.0),
        ({"b": [1, 0, 1, 0], "a": [0, 1, 0, 1]}, "a", 0.5, 0.5),  # ties go to the first name
        ({"a": [1, 0, 0, 0]}, "a", 0.25, 0.25),
    ],
)
def test_a_row_is_chosen_on_the_other_company_and_scored_on_this_one(rows, best, mean, nested):
    found = select(pd.DataFrame(rows, index=IDS), COMPANY, n_draws=3)
    assert (found.n_rows, found.best, found.mean, found.nested) == (len(rows), best, mean, nested)


def test_folds_of_different_sizes_weigh_by_their_questions():
    # Bolt, with three questions, is scored by b (0, 0, 0), Acme by a (1)
    found = select(pd.DataFrame({"a": [1, 1, 1, 1], "b": [2, 0, 0, 0]}, index=IDS), ["Acme", "Bolt", "Bolt", "Bolt"])
    assert (found.mean, found.nested) == (1.0, 0.25)


def test_with_one_company_nothing_can_be_held_out():
    found = select(pd.DataFrame({"a": [1, 0], "b": [0, 0]}), ["Acme", "Acme"])
    assert (found.best, found.mean) == ("a", 0.5)
    assert np.isnan(found.nested)


def test_groups_tell_what_a_row_knows_beside_the_question():
    found = groups(list(METHODS))
    assert found["Baselines"] == baselines()
    assert "dense_records" in found["Untrained, filings matched first"]
    assert {"page_scorer", "page_scorer_best_sum_covers"} <= {*found["Page scorers"]}
    untrained = {*found["All untrained rows, filings not matched"]}
    assert {*baselines(), "fixed_128"} <= untrained
    assert not untrained & {"dense_records", "ahead_untrained", "convex_folds", "ahead"}
    assert [*groups(["page_scorer"])] == ["Page scorers"]
