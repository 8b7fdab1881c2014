"""What a found page is worth: right numbers against what runs found, over the runs."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis import worth
from lib.metrics.frame import Metrics, long_frame
from lib.stats import Resampling

IDS = pd.Index(["q1", "q2", "q3", "q4"], name="question_id")
COMPANY = pd.Series(["ash", "ash", "birch", "cedar"], IDS)


@pytest.fixture
def found() -> dict[str, pd.DataFrame]:
    parts = [
        long_frame(pd.Series(values, IDS), "page_recall", 5).assign(method=name, condition="standard")
        for name, values in {"low": [0, 0, 0, 0.5], "middle": [1, 0, 0.5, 0], "high": [1, 1, 1, 0.5]}.items()
    ]
    some = long_frame(pd.Series(0.5, IDS), "ndcg", 10).assign(method="low", condition="standard")  # of one run alone
    metrics = Metrics(pd.concat([*parts, some], ignore_index=True))
    return worth.found_by_run(metrics, ["low", "middle", "high"], IDS[::-1], 5)


def test_what_was_not_measured_is_left_out_and_all_gold_pages_are_more_than_some(found):
    assert list(found) == ["Page recall", "All gold pages present"]
    assert found["Page recall"].loc["q4"].tolist() == [0.5, 0.0, 0.5]
    assert found["All gold pages present"]["high"].to_dict() == {"q4": 0.0, "q3": 1.0, "q2": 1.0, "q1": 1.0}


def test_runs_that_find_more_pages_get_more_numbers_right(found):
    right = pd.DataFrame({"low": [0, 0, 0, 0], "middle": [1, 0, 0, 0], "high": [1, 1, 1, 0]}, IDS, dtype=float)
    table = worth.correlated(Resampling(COMPANY, 200, 1), right, found).set_index("title")
    means = [[0.125, 0.375, 0.875], [0, 0.25, 0.75]]
    assert table.loc["Page recall", "r"] == pytest.approx(np.corrcoef(means)[0, 1])
    assert table.loc["Page recall", "r2"] == pytest.approx(table.loc["Page recall", "r"] ** 2)
    assert table.loc["Page recall", "low"] <= table.loc["Page recall", "high"] <= 1
    assert table[["n_runs", "n"]].drop_duplicates().to_numpy().tolist() == [[3, 4]]


def test_without_a_number_as_answer_nothing_is_explained(found):
    nothing = pd.DataFrame(columns=["low", "middle", "high"], dtype=float)
    table = worth.correlated(Resampling(COMPANY, 200, 1), nothing, found)
    assert table["title"].tolist() == list(found)
    assert table[["r", "low", "high"]].isna().all(axis=None)
    assert table[["n_runs", "n"]].drop_duplicates().to_numpy().tolist() == [[3, 0]]
