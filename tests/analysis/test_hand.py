"""Hand labels: the draw, the agreement's arithmetic, and the file."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.analysis import hand
from lib.profile import Settings

QUESTIONS = pd.DataFrame(
    {
        "question_id": ["q0", "q1"],
        "doc_name": ["A", "B"],
        "gold_pages": [[0, 1], [2]],
        "company": ["a", "b"],
    }
)


def pairs() -> pd.DataFrame:
    """Ten pages of two filings for either question: three pairs are on a gold page."""
    rows = [(q, doc, page) for q in ("q0", "q1") for doc in "AB" for page in range(5)]
    table = pd.DataFrame(rows, columns=["question_id", "doc_name", "page"])
    return table.assign(chunk_id=[f"{row.doc_name}#p{row.page:04d}#c00" for row in table.itertuples()])


def test_a_gold_page_is_one_of_the_question_s_own_filing():
    on_gold = pairs()[hand.is_gold(pairs(), QUESTIONS)]
    assert on_gold[["question_id", "doc_name", "page"]].to_numpy().tolist() == [
        ["q0", "A", 0],
        ["q0", "A", 1],
        ["q1", "B", 2],
    ]


@pytest.mark.parametrize(("n", "n_gold"), [(4, 2), (10, 3)])
def test_half_of_the_draw_is_on_gold_pages_where_there_are_enough(n, n_gold):
    drawn = hand.draw(pairs(), QUESTIONS, n, seed=1)
    assert (len(drawn), hand.is_gold(drawn, QUESTIONS).sum()) == (n, n_gold)
    assert drawn.equals(hand.draw(pairs(), QUESTIONS, n, seed=1))
    assert not drawn.duplicated(["question_id", "chunk_id"]).any()


def test_kappa_by_hand():
    # 20 both yes, 15 both no, 5 and 10 apart: agreed 0.7; chance 25/50 * 30/50 + 25/50 * 20/50 = 0.5
    assert hand.kappa_of(np.array([[15.0, 10], [5, 20]])) == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert hand.kappa_of(np.array([[0.0, 0], [0, 9]])) == 0


def test_agreement_holds_the_interval_of_whole_companies():
    a = pd.Series([True, True, False, False] * 10)
    b = pd.Series([True, False, False, False] * 10)
    found = hand.agreement_of(a, b, pd.Series(np.arange(40) // 4), 500, 0)
    assert (found["n"], found["accuracy"], found["kappa"]) == (40, 0.75, 0.5)  # chance 0.5
    assert found["kappa_low"] == found["kappa_high"] == pytest.approx(0.5)  # companies are all alike


def test_agreement_compares_judge_and_gold_pages_with_the_hand(monkeypatch):
    judged = pairs().iloc[[0, 1, 2, 17]].assign(label=["RELEVANT", "IRRELEVANT", "RELEVANT", "AMBIGUOUS"])
    labels = judged[["question_id", "chunk_id"]].assign(label=["useful", "partly", "useless", "useful"])
    monkeypatch.setattr(hand, "hand_labels", lambda: labels)
    profile = Settings({"significance": Settings({"n_draws": 50, "seed": 0})})
    table = hand.agreement(SimpleNamespace(questions=QUESTIONS, profile=profile), judged)
    accuracy = table.set_index(["labelling", "hand"])["accuracy"].to_dict()
    assert accuracy == {
        ("judge", "useful"): 2 / 4,
        ("judge", "useful or partly"): 1 / 4,
        ("gold page", "useful"): 3 / 4,
        ("gold page", "useful or partly"): 4 / 4,
    }


def test_the_judge_s_labels_are_counted_and_held_against_gold_pages():
    judged = pairs().assign(label=["RELEVANT"] * 4 + ["IRRELEVANT"] * 16)
    table = hand.judge_measured(SimpleNamespace(questions=QUESTIONS), judged)
    assert table.loc["RELEVANT"].to_dict() == {"n": 4, "n_gold": 2, "share": 0.2, "gold_share": 0.5}
    assert table.loc["IRRELEVANT", "n_gold"] == 1


def test_the_file_holds_fifty_labelled_pairs_and_no_text():
    labels = hand.hand_labels()
    assert labels.columns.tolist() == ["question_id", "chunk_id", "label"]
    assert (len(labels), set(labels["label"])) == (50, {"useful", "partly", "useless"})
    assert not labels.duplicated(["question_id", "chunk_id"]).any()
    assert labels["chunk_id"].str.fullmatch(r"\S+#p\d{4}#c\d\d").all()
