"""The sweep of the weight of dense against BM25."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.analysis import weights
from lib.analysis.weights import held_out, ways_to_weigh
from lib.folds import make_folds
from lib.methods import METHODS
from lib.show import strategies
from lib.show.tables import as_table
from lib.stats import Resampling

FOUR = ["a0", "a1", "b0", "b1"]
QUESTIONS = pd.DataFrame({"question_id": FOUR, "doc_name": ["A", "A", "B", "B"]})
DRAWS = Resampling(pd.Series(["Acme", "Acme", "Bolt", "Bolt"], FOUR), 500, 13)
SPLIT = SimpleNamespace(
    questions=QUESTIONS, filings=pd.DataFrame({"doc_name": ["A", "B"], "company": ["Acme", "Bolt"]})
)
FOLDS = make_folds(QUESTIONS, SPLIT.filings, "company", 2, 13)


def swept(**by_question) -> pd.DataFrame:
    """Values at alpha 0, 0.5 and 1, the same for every metric."""
    rows = [
        (weight, question_id, value, value, value)
        for question_id, values in by_question.items()
        for weight, value in zip((0.0, 0.5, 1.0), values, strict=True)
    ]
    return pd.DataFrame(rows, columns=["alpha", "question_id", *weights.SWEPT])


VALUES = swept(a0=(0.0, 0.5, 1.0), a1=(0.0, 0.5, 1.0), b0=(1.0, 0.8, 0.0), b1=(1.0, 0.8, 0.0))


def test_the_peek_stands_beside_what_the_weight_that_the_other_company_chose_gives():
    chosen = held_out(VALUES, FOLDS, QUESTIONS)
    assert chosen["question_id"].tolist() == FOUR
    assert chosen["alpha"].tolist() == [0, 0, 1, 1]
    assert chosen["fold"].nunique() == 2
    ways = ways_to_weigh(VALUES, chosen)
    assert ways["alpha"].tolist() == ["0", "1", "0.5", "0 to 1"]
    assert ways["ndcg"].tolist() == pytest.approx([0.5, 0.5, 0.65, 0])
    assert set(ways["n"]) == {4}
    heads = ["Scores", "Weight of dense", "α", "Document recall@5", "Page recall@5", "nDCG@10", "n"]
    assert list(as_table(ways.assign(normalisation="softmax"), "weights")) == heads


def test_there_is_a_curve_and_a_peak_for_each_normalisation(monkeypatch):
    """The interval of the best weight covers both companies' wishes, or is a point where they agree."""
    monkeypatch.setattr(Resampling, "of", lambda study: DRAWS)
    found = {"min_max": VALUES, "softmax": swept(**dict.fromkeys(FOUR, (0.1, 0.9, 0.2)))}
    table = weights.curves(SPLIT, found)
    assert table["normalisation"].tolist() == ["min_max"] * 3 + ["softmax"] * 3
    assert table["alpha"].tolist() == [0, 0.5, 1] * 2
    assert table["mean"].tolist() == pytest.approx([0.5, 0.65, 0.5, 0.1, 0.9, 0.2])
    said = strategies.peaks(SPLIT, found)
    assert "0.650 at α = 0.5, 0 to 1 in 95 % of draws of companies (brought to 0..1)" in said
    assert "0.900 at α = 0.5, 0.5 to 0.5 in" in said


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
