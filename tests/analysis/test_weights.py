"""The sweep of the weight of dense against BM25."""

import numpy as np
import pandas as pd

from lib.analysis import weights
from lib.analysis.weights import held_out
from lib.folds import make_folds
from lib.methods import METHODS

FOUR = ["a0", "a1", "b0", "b1"]
QUESTIONS = pd.DataFrame({"question_id": FOUR, "doc_name": ["A", "A", "B", "B"]})
FILINGS = pd.DataFrame({"doc_name": ["A", "B"], "company": ["Acme", "Bolt"]})
FOLDS = make_folds(QUESTIONS, FILINGS, "company", 2, 13)


def swept(**by_question) -> pd.DataFrame:
    """Values at alpha 0, 0.5 and 1, the same for every metric."""
    rows = [
        (weight, question_id, value, value, value)
        for question_id, values in by_question.items()
        for weight, value in zip((0.0, 0.5, 1.0), values, strict=True)
    ]
    return pd.DataFrame(rows, columns=["alpha", "question_id", *weights.SWEPT])


VALUES = swept(a0=(0.0, 0.5, 1.0), a1=(0.0, 0.5, 1.0), b0=(1.0, 0.8, 0.0), b1=(1.0, 0.8, 0.0))


def test_a_company_gets_the_weight_that_the_other_company_chose():
    chosen = held_out(VALUES, FOLDS, QUESTIONS)
    assert chosen["question_id"].tolist() == FOUR
    assert chosen["alpha"].tolist() == [0, 0, 1, 1]
    assert chosen["fold"].nunique() == 2
    assert chosen["ndcg"].tolist() == [0, 0, 0, 0]  # each company gets the worst weight of its own


def test_a_sweep_is_stored_for_each_normalisation_and_read_again(fake_study, monkeypatch):
    measured = []

    def values(study, candidates, normalisation):
        measured.append(normalisation)
        return VALUES.assign(normalised=normalisation)

    monkeypatch.setattr(weights.convex, "alpha_values", values)
    profile = {"embedder": {"window": 8}, "bm25": {"k1": 1.5, "b": 0.75}, "run": {"depth": 5}}
    study = fake_study(["a?"], ["text"], profile)
    study.digest, study.settings_of = str, list
    study.candidates = lambda condition: np.ones((1, 1), bool)
    for _ in range(2):
        for name, row in weights.CHOOSING.items():
            assert set(weights.sweep(study, name)["normalised"]) == {name}
            assert METHODS[row].options.get("normalisation", "min_max") == name
    assert measured == ["min_max", "softmax"]
