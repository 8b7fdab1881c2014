"""Answers beside the retrieval that their contexts came from."""

from types import SimpleNamespace

import pandas as pd

from lib.analysis import answered
from lib.analysis.answered import split_by_page
from lib.answers.prompt_context import Context
from lib.metrics.frame import Metrics, long_frame
from tests.made import make_study


def asked(n: int) -> tuple[SimpleNamespace, pd.Index]:
    """A study of questions about a company each, and their ids."""
    questions = pd.DataFrame({"question_id": list("abcd"), "company": list("wxyz")})[:n]
    return make_study(questions=questions), pd.Index(questions["question_id"])


def test_answers_are_split_by_whether_the_page_was_there():
    study, index = asked(4)
    hits = long_frame(pd.Series([1.0, 1, 0, 0], index), "page_hit", 5)
    right = long_frame(pd.Series([1.0, 0, 0, 0], index), "numeric_match")
    table = Metrics(pd.concat([hits, right]).assign(method="dense", condition="standard"))
    split = split_by_page(study, table, [Context("dense", "dense")], "numeric_match", 5)
    rows = split[["context", "is_there", "mean", "n", "is_small"]].to_numpy().tolist()
    there, missing = [True, 0.5, 2, True], [False, 0.0, 2, True]
    assert rows == [["dense", *there], ["dense", *missing], ["all", *there], ["all", *missing]]


def test_a_metric_without_a_question_of_its_kind_has_a_mean_of_nothing_and_is_not_compared():
    study, index = asked(2)
    contexts = [Context("best-baseline", "dense"), Context("ours", "ours")]
    known = [
        long_frame(pd.Series([1.0, 0], index), "token_f1").assign(method=one.method, condition="standard")
        for one in contexts
    ]
    both, metrics = ["token_f1", "answer_right"], Metrics(pd.concat(known))
    summary = answered.summarise_answers(study, metrics, contexts, both)
    assert summary["n"].tolist() == [2, 0, 2, 0]
    assert summary["mean"].isna().tolist() == [False, True, False, True]
    assert answered.compared(study, metrics, contexts, both)["metric"].tolist() == ["token_f1"]
    assert answered.compared(study, metrics, contexts, both[1:]).empty
    assert answered.chain(study, pd.DataFrame(columns=["prompt"]), contexts).empty


def test_calculated_numbers_are_compared_with_those_from_the_best_baselines_pages(monkeypatch):
    study, index = asked(4)
    recall = {"dense": [0.0, 0, 0, 1], "bm25": [0.0, 0, 1, 1]}
    measured = [
        long_frame(pd.Series(values, index), "page_recall", 5).assign(method=name, condition="standard")
        for name, values in recall.items()
    ]

    def right(study, wanted, names):
        assert names == ["calculation-only"]
        values = {"bm25": [0.0, 0, 0, 1], "ours": [1.0, 1, 0, 1], "dense": [1.0, 1, 1, 1]}
        return pd.concat(
            long_frame(pd.Series(values[one.method], index), "answer_right").assign(
                method=one.method, condition=one.condition
            )
            for one in wanted
        )

    monkeypatch.setattr(answered, "right_by_way", right)
    monkeypatch.setattr(answered, "context", lambda name, best="": {
        "best-baseline": Context(name, best), "ours": Context(name, "ours"),
    }.get(name) or Context(name, "dense", "oracle-page"))  # fmt: skip
    found = answered.calculated_on(study, Metrics(pd.concat(measured)), 5, "ours").set_index("context")
    assert found["mean"].to_dict() == {"best-baseline": 0.25, "ours": 0.75, "oracle-page": 1.0}
    assert found["method"].to_dict() == {"best-baseline": "bm25", "ours": "ours", "oracle-page": ""}
    assert found["difference"].fillna(0).to_dict() == {"best-baseline": 0.0, "ours": 0.5, "oracle-page": 0.75}
