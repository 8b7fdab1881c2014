"""Answers beside the retrieval that their contexts came from."""

import pandas as pd

from lib.analysis import answered
from lib.answers.prompt_context import Context
from lib.metrics.frame import Metrics
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
