"""Answers beside the retrieval of their contexts, and the judge beside gold pages."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.analysis import answered, judge
from lib.answers.prompt_context import Context
from lib.metrics.frame import Metrics
from lib.profile import Settings
from lib.stats import Resampling
from tests.made import make_study, values

IDS = list("abcd")
STUDY = make_study(questions=pd.DataFrame({"question_id": IDS, "company": list("wxyz")}))
BASELINE, OURS = Context("best-baseline", "bm25"), Context("ahead", "ahead")
PAGES = Context("oracle-page", "dense", "oracle-page")


def test_a_metric_without_a_question_of_its_kind_has_a_mean_of_nothing_and_is_not_compared():
    contexts, both = [BASELINE, OURS], ["token_f1", "answer_right"]
    metrics = Metrics(pd.concat(values(IDS[:2], [1.0, 0], "token_f1", method=one.method) for one in contexts))
    summary = answered.summarise_answers(STUDY, metrics, contexts, both)
    assert summary["n"].tolist() == [2, 0, 2, 0]
    assert summary["mean"].isna().tolist() == [False, True, False, True]
    assert answered.compared(STUDY, metrics, contexts, both)["metric"].tolist() == ["token_f1"]
    assert answered.compared(STUDY, metrics, contexts, both[1:]).empty


def test_question_sets_are_not_compared_by_answers_unless_two_have_them():
    sets = {name: make_study(dataset=SimpleNamespace(lacks=lacks)) for name, lacks in (("a", ()), ("b", ("answer",)))}
    assert answered.on_sets(sets["a"], sets, 5).empty


def test_calculated_numbers_are_compared_with_those_from_the_best_baselines_pages(monkeypatch):
    ours = Context(answered.RANKER, answered.RANKER)
    contexts = {one.name: one for one in (BASELINE, ours, PAGES)}
    right = {"bm25": [0.0, 0, 0, 1], answered.RANKER: [1.0, 1, 0, 1], "dense": [1.0, 1, 1, 1]}
    parts = [values(IDS, right[one.method], "answer_right", None, *one.run) for one in contexts.values()]
    monkeypatch.setattr(answered, "right_by_way", lambda study, wanted, names: pd.concat(parts))
    monkeypatch.setattr(answered, "context", lambda name, best: contexts[name])
    recall = {"dense": [0.0, 0, 0, 1], "bm25": [0.0, 0, 1, 1]}
    recall = pd.concat(values(IDS, numbers, "page_recall", 5, name) for name, numbers in recall.items())
    found = answered.calculated_on(STUDY, Metrics(recall), 5).set_index("context").fillna(0)
    assert found["mean"].to_dict() == {"best-baseline": 0.25, answered.RANKER: 0.75, "oracle-page": 1.0}
    assert found["method"].to_dict() == {"best-baseline": "bm25", answered.RANKER: answered.RANKER, "oracle-page": ""}
    assert found["difference"].to_dict() == {"best-baseline": 0.0, answered.RANKER: 0.5, "oracle-page": 0.75}


def test_right_numbers_of_both_ways_are_compared_with_those_of_the_best_baselines_pages():
    contexts = [Context("none"), BASELINE, OURS]
    right = {"none": [0.0, 0], "bm25": [0.0, 1], "ahead": [1.0, 1]}
    calculated = [values(IDS[:2], of, "answer_right", method=name) for name, of in right.items()]
    written = pd.concat(calculated).assign(prompt="plain", value=0.0)
    by_way = pd.concat([written, pd.concat(calculated[1:]).assign(prompt="calculation")])
    assert answered.right_values(by_way, contexts).to_dict("list") == {"best-baseline": [0, 1], "ahead": [1, 1]}
    gains = answered.right_gains(STUDY, by_way, contexts[1:])
    assert gains[["way", "context", "right", "difference"]].to_numpy().tolist() == [
        ["written", "ahead", 0.0, 0.0],
        ["calculated", "ahead", 1.0, 0.5],
    ]
    assert gains["verdict"].tolist() == ["inconclusive"] * 2


def test_what_a_run_found_explains_its_right_numbers_as_far_as_their_means_lie_on_a_line():
    right = pd.DataFrame({"a": [0.0, 0, 0, 0], "b": [1.0, 0, 1, 0], "c": [1.0, 1, 1, 1]}, IDS)
    found = {"half of it": right / 2, "the same in all": right * 0, "another": right[["a", "c", "b"]]}
    found["another"].columns = right.columns
    table = answered.explained(right, found, Resampling(pd.Series(list("wxyz"), IDS), 50)).set_index("title")
    assert table.loc["half of it", ["r", "r2", "low", "high"]].tolist() == pytest.approx([1, 1, 1, 1])
    assert np.isnan(table.loc["the same in all", "r"])
    assert table.loc["another", "r"] == pytest.approx(np.corrcoef([0, 0.5, 1], [0, 1, 0.5])[0, 1])
    assert table[["n_runs", "n"]].to_numpy().tolist() == [[3, 4]] * 3


QUESTIONS = pd.DataFrame({"question_id": ["q0", "q1"], "doc_name": ["A", "B"], "company": ["a", "b"]})
QUESTIONS["gold_pages"] = [[0, 1], [2]]
#: Ten pages of two filings for either question: three pairs are on a gold page.
PAIRS = [(q, doc, page, f"{doc}#p{page:04d}#c00") for q in ("q0", "q1") for doc in "AB" for page in range(5)]
PAIRS = pd.DataFrame(PAIRS, columns=["question_id", "doc_name", "page", "chunk_id"])


def test_kappa_by_hand_and_its_interval_of_whole_companies():
    # 20 both yes, 15 both no, 5 and 10 apart: agreed 0.7; chance 25/50 * 30/50 + 25/50 * 20/50 = 0.5
    assert judge.kappa_of(np.array([[15.0, 10], [5, 20]])) == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert judge.kappa_of(np.array([[0.0, 0], [0, 9]])) == 0
    ids = [f"q{i}" for i in range(40)]
    a, b = (pd.Series([*one] * 10, ids) for one in ((True, True, False, False), (True, False, False, False)))
    found = judge.agreement_of(Resampling(pd.Series(np.arange(40) // 4, ids), 500, 0), a, b)
    assert (found["n"], found["accuracy"], found["kappa"]) == (40, 0.75, 0.5)  # chance 0.5
    assert found["kappa_low"] == found["kappa_high"] == pytest.approx(0.5)  # companies are all alike
    labelled = PAIRS.assign(label=["RELEVANT"] * 4 + ["IRRELEVANT"] * 16)
    # 2 yes of both, 2 and 1 apart, 15 no of both: agreed 17/20, by chance 4/20 * 3/20 + 16/20 * 17/20
    found = judge.with_gold_pages(make_study(questions=QUESTIONS), labelled)
    assert found["kappa"] == pytest.approx((17 / 20 - 284 / 400) / (1 - 284 / 400))


def test_what_the_selection_agent_lists_is_useful_and_the_rest_of_what_it_reads_is_not(monkeypatch):
    run = PAIRS.groupby("question_id").head(4).assign(rank=[1, 2, 3, 4] * 2)
    profile = Settings({"sibling_texts": Settings({"selection": Settings(top=3)})})
    study = make_study(profile=profile, questions=QUESTIONS, run=lambda name: run)
    monkeypatch.setattr(judge, "chosen", lambda study: {"q0": [1, 3], "q1": [2]})
    labels = judge.labels_of_selection(study)
    useful = labels[labels["label"] == judge.USEFUL][["question_id", "rank"]].to_numpy().tolist()
    assert useful == [["q0", 1], ["q0", 3], ["q1", 2]]
    assert labels.groupby("question_id").size().tolist() == [3, 3]
