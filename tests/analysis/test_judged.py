"""The judge beside hand labels and gold pages: the agreement's arithmetic, the tables and the file."""

import re
from fnmatch import fnmatch
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.analysis import judged
from lib.answers.relevance import hand_labels
from lib.methods import METHODS
from lib.profile import load_profile
from lib.show import display, strategies
from lib.show.tables import as_table
from lib.stats import Resampling
from tests.made import make_study

QUESTIONS = pd.DataFrame(
    {"question_id": ["q0", "q1"], "doc_name": ["A", "B"], "gold_pages": [[0, 1], [2]], "company": ["a", "b"]}
)


def pairs() -> pd.DataFrame:
    """Ten pages of two filings for either question: three pairs are on a gold page."""
    rows = [(q, doc, page) for q in ("q0", "q1") for doc in "AB" for page in range(5)]
    table = pd.DataFrame(rows, columns=["question_id", "doc_name", "page"])
    return table.assign(chunk_id=[f"{row.doc_name}#p{row.page:04d}#c00" for row in table.itertuples()])


def test_kappa_by_hand():
    # 20 both yes, 15 both no, 5 and 10 apart: agreed 0.7; chance 25/50 * 30/50 + 25/50 * 20/50 = 0.5
    assert judged.kappa_of(np.array([[15.0, 10], [5, 20]])) == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert judged.kappa_of(np.array([[0.0, 0], [0, 9]])) == 0


def test_agreement_has_the_interval_of_whole_companies():
    ids = [f"q{i}" for i in range(40)]
    a = pd.Series([True, True, False, False] * 10, ids)
    b = pd.Series([True, False, False, False] * 10, ids)
    found = judged.agreement_of(Resampling(pd.Series(np.arange(40) // 4, ids), 500, 0), a, b)
    assert (found["n"], found["accuracy"], found["kappa"]) == (40, 0.75, 0.5)  # chance 0.5
    assert found["kappa_low"] == found["kappa_high"] == pytest.approx(0.5)  # companies are all alike


def test_agreement_compares_judge_and_gold_pages_with_the_hand(monkeypatch):
    labelled = pairs().iloc[[0, 1, 2, 17]].assign(label=["RELEVANT", "IRRELEVANT", "RELEVANT", "AMBIGUOUS"])
    labels = labelled[["question_id", "chunk_id"]].assign(label=["useful", "partly", "useless", "useful"])
    monkeypatch.setattr(judged, "hand_labels", lambda: labels)
    table = judged.agreement(make_study(questions=QUESTIONS), labelled)
    accuracy = table.set_index(["labelling", "hand"])["accuracy"].to_dict()
    printed = as_table(table, "judge")
    assert list(printed) == ["Labelling", "Read by hand as", "Agreement", "Cohen's κ", "n"]
    assert accuracy == {
        ("judge", "useful"): 2 / 4,
        ("judge", "useful or partly"): 1 / 4,
        ("gold page", "useful"): 3 / 4,
        ("gold page", "useful or partly"): 4 / 4,
    }


def test_the_judge_s_labels_are_counted_and_held_against_gold_pages():
    labelled = pairs().assign(label=["RELEVANT"] * 4 + ["IRRELEVANT"] * 16)
    found = judged.judge_measured(SimpleNamespace(questions=QUESTIONS), labelled)
    table, shown = found.set_index("label"), as_table(found, "labels").set_index("Label")
    assert table.loc["RELEVANT"].to_dict() == {"n": 4, "n_gold": 2, "share": 0.2, "gold_share": 0.5}
    assert table.loc["IRRELEVANT", "n_gold"] == 1
    assert shown.loc["relevant"].tolist() == [4, "20", 2, "50.0"]
    assert shown.loc["irrelevant", "On a gold page"] == 1


def test_the_file_holds_fifty_labelled_pairs_and_no_text():
    labels = hand_labels()
    assert labels.columns.tolist() == ["question_id", "chunk_id", "label"]
    assert (len(labels), set(labels["label"])) == (50, {"useful", "partly", "useless"})
    assert not labels.duplicated(["question_id", "chunk_id"]).any()
    assert labels["chunk_id"].str.fullmatch(r"\S+#p\d{4}#c\d\d").all()


def test_the_table_has_both_means_of_every_name():
    rng, ids = np.random.default_rng(3), [f"q{n}" for n in range(60)]
    a = pd.Series(rng.integers(0, 5, 60).astype(float))
    b = a + rng.normal(0, 2, 60).round()
    values = pd.DataFrame({"name": "Dense", "question_id": ids, "judged": a, "gold": b})
    values = pd.concat([values, values.assign(name="BM25", judged=0.5)], ignore_index=True)
    study = make_study(questions=pd.DataFrame({"question_id": ids, "company": np.arange(60) // 3}))
    table = strategies.judged_table(judged.compared(study, values), "Chunks of", strategies.PRECISION)
    assert table["Chunks of"].tolist() == ["Dense", "BM25"]
    assert table["Judged by the model"].str[:4].tolist() == [f"{a.mean():.2f}", "0.50"]
    assert table["Judged by gold pages"].str[:4].tolist() == [f"{b.mean():.2f}"] * 2
    assert table["n"].tolist() == [60, 60]
    assert table.loc[1, "Rank correlation"] == "–"


@pytest.fixture
def stored():
    """Stored frames are made at once; hybrid retrieval found four pages for each question."""
    selection = SimpleNamespace(top=3)
    profile = SimpleNamespace(sibling_texts=SimpleNamespace(selection=selection))
    run = pairs().groupby("question_id").head(4).assign(rank=[1, 2, 3, 4] * 2)
    return make_study(profile=profile, questions=QUESTIONS, run=lambda name: run)


def test_what_the_selection_agent_lists_is_useful_and_the_rest_of_what_it_reads_is_not(stored, monkeypatch):
    monkeypatch.setattr(judged, "chosen", lambda study: {"q0": [1, 3], "q1": [2]})
    labels = judged.labels_of_selection(stored)
    useful = labels[labels["label"] == judged.USEFUL][["question_id", "rank"]].to_numpy().tolist()
    assert useful == [["q0", 1], ["q0", 3], ["q1", 2]]
    assert labels.groupby("question_id").size().tolist() == [3, 3]


def test_corrections_hold_no_text(stored, monkeypatch):
    found = pd.DataFrame({"question_id": ["q0", "q1"], "query": ["profit", ""], "is_second": [True, False]})
    monkeypatch.setattr(judged, "verdicts", lambda study: found)
    wanted = found.drop(columns="query").assign(is_rewritten=[True, False])
    assert judged.corrections(stored).to_dict("list") == wanted.to_dict("list")


def test_a_row_that_follows_the_judge_says_how_good_it_is(monkeypatch):
    labelled = pairs().assign(label=["RELEVANT"] * 4 + ["IRRELEVANT"] * 16)
    monkeypatch.setitem(judged.FOLLOWING, "crag", lambda study: labelled)
    table = strategies.rows_table(make_study(questions=QUESTIONS), ["bm25_k12", "crag"])
    # 2 yes of both, 2 and 1 apart, 15 no of both: agreed 17/20, by chance 4/20 * 3/20 + 16/20 * 17/20
    kappa = (17 / 20 - 284 / 400) / (1 - 284 / 400)
    assert f"κ = {display.number(kappa)} [" in table.loc["`crag`", "Pipeline"]
    assert "κ" not in table.loc["`bm25_k12`", "Pipeline"]


@pytest.mark.parametrize("source", ["akarsu2026", "kim2025", "yepes2024"])
def test_every_row_that_departs_from_its_paper_is_one_of_ours(source):
    table = strategies.differences_table(SimpleNamespace(profile=load_profile("default")), source)
    assert (table[["In the paper", "Here"]] != "").all(axis=None)
    for pattern in (name for cell in table["Rows"] for name in re.findall("`(.+?)`", cell)):
        assert [row for row in METHODS if fnmatch(row, pattern)], pattern
