"""Answers beside the retrieval of their contexts, and the judge beside hand labels and gold pages."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.analysis import answered, judged
from lib.answers.prompt_context import Context
from lib.metrics.frame import Metrics
from lib.profile import Settings
from lib.stats import Resampling
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


QUESTIONS = pd.DataFrame({"question_id": ["q0", "q1"], "doc_name": ["A", "B"], "company": ["a", "b"]})

QUESTIONS["gold_pages"] = [[0, 1], [2]]

#: Ten pages of two filings for either question: three pairs are on a gold page.
PAIRS = [(q, doc, page, f"{doc}#p{page:04d}#c00") for q in ("q0", "q1") for doc in "AB" for page in range(5)]

PAIRS = pd.DataFrame(PAIRS, columns=["question_id", "doc_name", "page", "chunk_id"])


def test_kappa_by_hand_and_its_interval_of_whole_companies():
    # 20 both yes, 15 both no, 5 and 10 apart: agreed 0.7; chance 25/50 * 30/50 + 25/50 * 20/50 = 0.5
    assert judged.kappa_of(np.array([[15.0, 10], [5, 20]])) == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert judged.kappa_of(np.array([[0.0, 0], [0, 9]])) == 0
    ids = [f"q{i}" for i in range(40)]
    a, b = (pd.Series([*one] * 10, ids) for one in ((True, True, False, False), (True, False, False, False)))
    found = judged.agreement_of(Resampling(pd.Series(np.arange(40) // 4, ids), 500, 0), a, b)
    assert (found["n"], found["accuracy"], found["kappa"]) == (40, 0.75, 0.5)  # chance 0.5
    assert found["kappa_low"] == found["kappa_high"] == pytest.approx(0.5)  # companies are all alike


def test_labels_agree_with_gold_pages_as_by_hand():
    labelled = PAIRS.assign(label=["RELEVANT"] * 4 + ["IRRELEVANT"] * 16)
    # 2 yes of both, 2 and 1 apart, 15 no of both: agreed 17/20, by chance 4/20 * 3/20 + 16/20 * 17/20
    found = judged.with_gold_pages(make_study(questions=QUESTIONS), labelled)
    assert found["kappa"] == pytest.approx((17 / 20 - 284 / 400) / (1 - 284 / 400))


def test_what_the_selection_agent_lists_is_useful_and_corrections_hold_no_text(monkeypatch):
    run = PAIRS.groupby("question_id").head(4).assign(rank=[1, 2, 3, 4] * 2)
    profile = Settings({"sibling_texts": Settings({"selection": Settings(top=3)})})
    study = make_study(profile=profile, questions=QUESTIONS, run=lambda name: run)
    monkeypatch.setattr(judged, "chosen", lambda study: {"q0": [1, 3], "q1": [2]})
    labels = judged.labels_of_selection(study)
    useful = labels[labels["label"] == judged.USEFUL][["question_id", "rank"]].to_numpy().tolist()
    assert useful == [["q0", 1], ["q0", 3], ["q1", 2]]
    assert labels.groupby("question_id").size().tolist() == [3, 3]  # the rest of what it reads is not
    found = pd.DataFrame({"question_id": ["q0", "q1"], "query": ["profit", ""], "is_second": [True, False]})
    monkeypatch.setattr(judged, "verdicts", lambda study: found)
    wanted = found.drop(columns="query").assign(is_rewritten=[True, False])
    pd.testing.assert_frame_equal(judged.corrections(study), wanted)


def by_way() -> pd.DataFrame:
    """What is right of two questions, written and calculated, from three contexts."""
    of_runs = {("none", "standard"): [0.0, 0], ("bm25", "standard"): [0.0, 1], ("ahead", "standard"): [1.0, 1]}
    parts = [values(IDS[:2], numbers, "answer_right", None, *run) for run, numbers in of_runs.items()]
    written = pd.concat(parts).assign(prompt="plain", value=0.0)
    return pd.concat([written, pd.concat(parts[1:]).assign(prompt="calculation")])


def test_right_numbers_of_both_ways_are_compared_with_those_of_the_best_baselines_pages():
    contexts = [Context("none"), OF["best-baseline"], Context("ahead", "ahead")]
    right = answered.right_values(by_way(), contexts)
    assert right.to_dict("list") == {"best-baseline": [0, 1], "ahead": [1, 1]}
    levels = answered.right_levels(STUDY, by_way(), contexts[1:])
    assert levels[["way", "context", "mean"]].to_numpy().tolist() == [
        ["written", "best-baseline", 0.0],
        ["written", "ahead", 0.0],
        ["calculated", "best-baseline", 0.5],
        ["calculated", "ahead", 1.0],
    ]
    gains = answered.right_gains(STUDY, by_way(), contexts[1:])
    assert gains[["way", "context", "right", "difference"]].to_numpy().tolist() == [
        ["written", "ahead", 0.0, 0.0],
        ["calculated", "ahead", 1.0, 0.5],
    ]
    assert gains["verdict"].tolist() == ["inconclusive"] * 2


def test_one_question_set_with_answers_is_compared_with_none():
    lacking = make_study(dataset=SimpleNamespace(name="other", lacks=("answer",)))
    having = make_study(dataset=SimpleNamespace(name="financebench", lacks=()))
    assert answered.on_sets(having, {"financebench": having, "other": lacking}, 5).empty


def test_what_a_run_found_explains_its_right_numbers_as_far_as_their_means_lie_on_a_line():
    right = pd.DataFrame({"a": [0.0, 0, 0, 0], "b": [1.0, 0, 1, 0], "c": [1.0, 1, 1, 1]}, IDS)
    found = {"half of it": right / 2, "the same in all": right * 0, "another": right[["a", "c", "b"]]}
    found["another"].columns = right.columns
    table = answered.explained(right, found, Resampling(pd.Series(list("wxyz"), IDS), 50)).set_index("title")
    assert table.loc["half of it", ["r", "r2", "low", "high"]].tolist() == pytest.approx([1, 1, 1, 1])
    assert np.isnan(table.loc["the same in all", "r"])
    assert table.loc["another", "r"] == pytest.approx(np.corrcoef([0, 0.5, 1], [0, 1, 0.5])[0, 1])
    assert table[["n_runs", "n"]].to_numpy().tolist() == [[3, 4]] * 3
    assert answered.explained(right[:0], found, None).empty


def test_failures_that_were_read_are_shown_as_long_as_they_are_wrong():
    ids = ["financebench_id_04672", "financebench_id_01319", "of another set"]
    right = pd.DataFrame({"oracle-page": [1.0, 0.0, 0.0]}, index=ids)
    assert answered.failures_read(right)[["context", "question_id"]].values.tolist() == [["oracle-page", ids[1]]]
    assert answered.failures_read(right.assign(**{"oracle-page": 1.0})).empty
