"""Answers beside the retrieval that their contexts came from."""

import pandas as pd

from lib.analysis import answered
from lib.answers.prompt_context import Context
from lib.metrics.frame import Metrics
from tests.made import make_study, values

IDS = list("abcd")
STUDY = make_study(questions=pd.DataFrame({"question_id": IDS, "company": list("wxyz")}))
OF = {"best-baseline": Context("best-baseline", "bm25"), "ours": Context("ours", "ours")}
OF |= {"oracle-page": Context("oracle-page", "dense", "oracle-page")}


def test_a_metric_without_a_question_of_its_kind_has_a_mean_of_nothing_and_is_not_compared():
    contexts, both = [OF["best-baseline"], OF["ours"]], ["token_f1", "answer_right"]
    metrics = Metrics(pd.concat(values(IDS[:2], [1.0, 0], "token_f1", method=one.method) for one in contexts))
    summary = answered.summarise_answers(STUDY, metrics, contexts, both)
    assert summary["n"].tolist() == [2, 0, 2, 0]
    assert summary["mean"].isna().tolist() == [False, True, False, True]
    assert answered.compared(STUDY, metrics, contexts, both)["metric"].tolist() == ["token_f1"]
    assert answered.compared(STUDY, metrics, contexts, both[1:]).empty
    assert answered.chain(STUDY, pd.DataFrame(columns=["prompt"]), contexts).empty


def test_calculated_numbers_are_compared_with_those_from_the_best_baselines_pages(monkeypatch):
    right = {"bm25": [0.0, 0, 0, 1], "ours": [1.0, 1, 0, 1], "dense": [1.0, 1, 1, 1]}
    parts = [values(IDS, right[one.method], "answer_right", None, one.method, one.condition) for one in OF.values()]
    monkeypatch.setattr(answered, "right_by_way", lambda study, wanted, names: pd.concat(parts))
    monkeypatch.setattr(answered, "context", lambda name, best: OF[name])
    recall = {"dense": [0.0, 0, 0, 1], "bm25": [0.0, 0, 1, 1]}
    recall = pd.concat(values(IDS, numbers, "page_recall", 5, name) for name, numbers in recall.items())
    found = answered.calculated_on(STUDY, Metrics(recall), 5, "ours").set_index("context").fillna(0)
    assert found["mean"].to_dict() == {"best-baseline": 0.25, "ours": 0.75, "oracle-page": 1.0}
    assert found["method"].to_dict() == {"best-baseline": "bm25", "ours": "ours", "oracle-page": ""}
    assert found["difference"].to_dict() == {"best-baseline": 0.0, "ours": 0.5, "oracle-page": 0.75}
