"""The sweep of alpha: the peek, the choice in folds, and where the best weight lies."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis import alpha
from lib.analysis.alpha import best_interval, held_out, summary

IDS = ["a0", "a1", "b0", "b1"]
QUESTIONS = pd.DataFrame({"question_id": IDS, "doc_name": ["A", "A", "B", "B"]})
COMPANIES = pd.Series(["Acme", "Acme", "Bolt", "Bolt"], index=IDS)


def values_of(**by_question) -> pd.DataFrame:
    """Values at alpha 0, 0.5 and 1, the same for every metric."""
    rows = [
        (weight, question_id, value, value, value)
        for question_id, values in by_question.items()
        for weight, value in zip((0.0, 0.5, 1.0), values, strict=True)
    ]
    return pd.DataFrame(rows, columns=["alpha", "question_id", *alpha.METRICS])


VALUES = values_of(a0=(0.0, 0.5, 1.0), a1=(0.0, 0.5, 1.0), b0=(1.0, 0.8, 0.0), b1=(1.0, 0.8, 0.0))


class Study:
    """What the sweep asks of a study."""

    def __init__(self, store=None):
        self.questions = QUESTIONS
        self.filings = pd.DataFrame({"doc_name": ["A", "B"], "company": ["Acme", "Bolt"]})
        self.store = store


def test_the_held_out_value_is_that_of_the_weight_the_other_company_chose():
    folds = alpha.folds_of(Study(), 2, 13)
    chosen = held_out(VALUES, folds, QUESTIONS)
    assert chosen["question_id"].tolist() == IDS
    assert chosen["alpha"].tolist() == [0, 0, 1, 1]
    assert chosen["ndcg"].tolist() == [0, 0, 0, 0]
    assert chosen["fold"].nunique() == 2


def test_the_summary_sets_the_peek_beside_what_is_held_out():
    chosen = held_out(VALUES, alpha.folds_of(Study(), 2, 13), QUESTIONS)
    table = summary(VALUES, chosen).set_index("what")
    assert table["alpha"].tolist() == ["0", "1", "0.5", "0 to 1"]
    assert table["ndcg"].tolist() == pytest.approx([0.5, 0.5, 0.65, 0])
    assert set(table["n"]) == {4}


def test_the_interval_of_the_best_weight_covers_both_companies_wishes():
    assert best_interval(VALUES, COMPANIES, 500, 13) == (0.0, 1.0)


def test_the_interval_is_a_point_where_all_agree():
    same = values_of(**dict.fromkeys(IDS, (0.1, 0.9, 0.2)))
    assert best_interval(same, COMPANIES, 500, 13) == (0.5, 0.5)


def test_the_sweep_is_stored_and_read_back_exactly(tmp_path, fake_study, monkeypatch):
    made = fake_study(["a?", "b?"], ["text"] * 2, {"run": {"depth": 2}})
    made.questions["gold_pages"] = [[0], [1]]
    made.questions["doc_name"] = "DOC"
    made.kept |= {("matrix", "dense"): np.eye(2), ("matrix", "bm25"): 1 - np.eye(2)}
    made.questions_digest = "x"
    made.settings_of = lambda sections: {name: "x" for name in sections}
    made.candidates = lambda condition: np.ones((2, 2), bool)
    made.shared = lambda stage, params, compute, settings: made.store.get(stage, params(), compute)
    first = alpha.sweep(made)
    made.kept.clear()
    monkeypatch.setattr(alpha, "alpha_values", None)  # computing again would fail
    pd.testing.assert_frame_equal(alpha.sweep(made), first)
    assert tuple(first["alpha"].unique()) == alpha.ALPHAS
    assert first.groupby("alpha")["ndcg"].mean().loc[1.0] == 1
