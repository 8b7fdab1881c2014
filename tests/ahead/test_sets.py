"""The questions of all sets as training data: nothing of a tested company is read, sets weigh the same."""

import numpy as np
import pandas as pd
import pytest

from lib.ahead import sets
from lib.ahead.sets import fold_numbers, training_pairs
from lib.folds import LeakError


def test_each_set_weighs_the_same(union):
    assert union.weights.tolist() == pytest.approx([4 / 6, 4 / 6, 4 / 6, 2])


def test_training_reads_questions_and_pages_of_its_companies_alone(union):
    kept = training_pairs(union, {"ash", "cedar"}, ("own", "other"))
    pairs = zip(union.pool.rows[kept].tolist(), union.pool.columns[kept].tolist(), strict=True)
    assert set(pairs) == {(0, 0), (0, 2), (1, 0), (1, 2), (3, 0), (3, 2)}
    assert set(union.pool.rows[training_pairs(union, {"ash", "cedar"}, ("own",))]) == {0, 1}


def test_leaks_are_refused(union, monkeypatch):
    monkeypatch.setattr(sets.np, "isin", lambda values, _: np.ones(len(values), bool))
    with pytest.raises(LeakError, match="birch"):
        training_pairs(union, {"ash", "cedar"}, ("own", "other"))


def test_a_company_is_in_one_fold_in_every_set(union):
    more = pd.concat([union.questions, pd.DataFrame({"company": ["elm"], "set": ["other"]})])
    numbers = fold_numbers(more, 2, 13)
    assert set(numbers) == {"ash", "birch", "cedar", "elm"}
    assert numbers["birch"] != numbers["ash"]
