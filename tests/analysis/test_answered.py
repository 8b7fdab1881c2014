"""Answers beside the retrieval that their contexts came from."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis import answered
from lib.answers.prompt_context import Context
from lib.metrics.frame import Metrics
from lib.stats import Resampling
from tests.made import make_study, values

IDS = list("abcd")
QUESTIONS = pd.DataFrame({"question_id": IDS, "company": list("wxyz")})
STUDY = make_study(questions=QUESTIONS)


def test_a_metric_without_a_question_of_its_kind_has_a_mean_of_nothing_and_is_not_compared():
    study, both = make_study(questions=QUESTIONS[:2]), ["token_f1", "answer_right"]
    contexts = [Context("best-baseline", "dense"), Context("ours", "ours")]
    metrics = Metrics(pd.concat(values(IDS[:2], [1.0, 0], "token_f1", method=one.method) for one in contexts))
    summary = answered.summarise_answers(study, metrics, contexts, both)
    assert summary["n"].tolist() == [2, 0, 2, 0]
    assert summary["mean"].isna().tolist() == [False, True, False, True]
    assert answered.compared(study, metrics, contexts, both)["metric"].tolist() == ["token_f1"]
    assert answered.compared(study, metrics, contexts, both[1:]).empty
    assert answered.chain(study, pd.DataFrame(columns=["prompt"]), contexts).empty


def test_calculated_numbers_are_compared_with_those_from_the_best_baselines_pages(monkeypatch):
    found = {"dense": [0.0, 0, 0, 1], "bm25": [0.0, 0, 1, 1]}
    recall = pd.concat(values(IDS, numbers, "page_recall", 5, name) for name, numbers in found.items())
    right = {"bm25": [0.0, 0, 0, 1], "ours": [1.0, 1, 0, 1], "dense": [1.0, 1, 1, 1]}

    def right_by_way(study, wanted, names):
        assert names == ["calculation-only"]
        return pd.concat(
            values(IDS, right[one.method], "answer_right", None, one.method, one.condition) for one in wanted
        )

    monkeypatch.setattr(answered, "right_by_way", right_by_way)
    monkeypatch.setattr(answered, "context", lambda name, best="": {
        "best-baseline": Context(name, best), "ours": Context(name, "ours"),
    }.get(name) or Context(name, "dense", "oracle-page"))  # fmt: skip
    found = answered.calculated_on(STUDY, Metrics(recall), 5, "ours").set_index("context")
    assert found["mean"].to_dict() == {"best-baseline": 0.25, "ours": 0.75, "oracle-page": 1.0}
    assert found["method"].to_dict() == {"best-baseline": "bm25", "ours": "ours", "oracle-page": ""}
    assert found["difference"].fillna(0).to_dict() == {"best-baseline": 0.0, "ours": 0.5, "oracle-page": 0.75}


# --- what a found page is worth ---

RUN_IDS = pd.Index(["q1", "q2", "q3", "q4"], name="question_id")
COMPANIES = pd.Series(["ash", "ash", "birch", "cedar"], RUN_IDS)


@pytest.fixture
def found() -> dict[str, pd.DataFrame]:
    recalls = {"low": [0, 0, 0, 0.5], "middle": [1, 0, 0.5, 0], "high": [1, 1, 1, 0.5]}
    parts = [values(RUN_IDS, numbers, "page_recall", 5, name) for name, numbers in recalls.items()]
    some = values(RUN_IDS, 0.5, "ndcg", 10, "low")  # of one run alone
    metrics = Metrics(pd.concat([*parts, some], ignore_index=True))
    return answered.found_by_run(metrics, ["low", "middle", "high"], RUN_IDS[::-1], 5)


def test_what_was_not_measured_is_left_out_and_all_gold_pages_are_more_than_some(found):
    assert list(found) == ["Page recall", "All gold pages present"]
    assert found["Page recall"].loc["q4"].tolist() == [0.5, 0.0, 0.5]
    assert found["All gold pages present"]["high"].to_dict() == {"q4": 0.0, "q3": 1.0, "q2": 1.0, "q1": 1.0}


def test_runs_that_find_more_pages_get_more_numbers_right(found):
    right = pd.DataFrame({"low": [0, 0, 0, 0], "middle": [1, 0, 0, 0], "high": [1, 1, 1, 0]}, RUN_IDS, dtype=float)
    table = answered.correlated(Resampling(COMPANIES, 200, 1), right, found).set_index("title")
    means = [[0.125, 0.375, 0.875], [0, 0.25, 0.75]]
    assert table.loc["Page recall", "r"] == pytest.approx(np.corrcoef(means)[0, 1])
    assert table.loc["Page recall", "r2"] == pytest.approx(table.loc["Page recall", "r"] ** 2)
    assert table.loc["Page recall", "low"] <= table.loc["Page recall", "high"] <= 1
    assert table[["n_runs", "n"]].drop_duplicates().to_numpy().tolist() == [[3, 4]]


def test_without_a_number_as_answer_nothing_is_explained(found):
    nothing = pd.DataFrame(columns=["low", "middle", "high"], dtype=float)
    table = answered.correlated(Resampling(COMPANIES, 200, 1), nothing, found)
    assert table["title"].tolist() == list(found)
    assert table[["r", "low", "high"]].isna().all(axis=None)
    assert table[["n_runs", "n"]].drop_duplicates().to_numpy().tolist() == [[3, 0]]
