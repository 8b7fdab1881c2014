"""Weights of dense against BM25: the mean by weight, and what a weight that other companies choose finds."""

import pandas as pd
import pytest

from lib.analysis import weights
from lib.folds import make_folds
from lib.stats import Resampling

IDS = list("abcd")
QUESTIONS = pd.DataFrame({"question_id": IDS, "company": ["ash", "ash", "birch", "birch"]})
QUESTIONS["doc_name"] = QUESTIONS["company"]
FILINGS = pd.DataFrame({"doc_name": ["ash", "birch"], "company": ["ash", "birch"]})
#: Questions of ash are best at 0, those of birch at 1.
NDCG = {0.0: [1.0, 1.0, 0.0, 0.2], 1.0: [0.0, 0.0, 0.9, 0.9]}
SWEPT = pd.concat(
    pd.DataFrame({"alpha": alpha, "question_id": IDS, "doc_recall": 1.0, "page_recall": found, "ndcg": found})
    for alpha, found in NDCG.items()
)


def test_a_curve_has_a_mean_and_its_interval_by_weight():
    found = weights.curves({"softmax": SWEPT}, Resampling(QUESTIONS.set_index("question_id")["company"], 50))
    assert found[["normalisation", "alpha"]].to_numpy().tolist() == [["softmax", 0.0], ["softmax", 1.0]]
    assert found["mean"].tolist() == pytest.approx([2.2 / 4, 1.8 / 4])
    assert (found["low"] <= found["mean"]).all()


def test_in_folds_each_company_gets_the_weight_that_the_other_chooses_beside_fixed_ones_and_the_best_over_all():
    folds = make_folds(QUESTIONS, FILINGS, "company", 2, 13)
    found = weights.in_folds(SWEPT, folds, QUESTIONS["question_id"])
    assert found["alpha"].to_dict() == {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0}
    assert found["ndcg"].tolist() == [0.0, 0.0, 0.0, 0.2]
    found = weights.ways_to_choose({"min_max": SWEPT}, folds, QUESTIONS["question_id"])
    assert found["alpha"].tolist() == [0.0, 1.0, 0.0, 0.5]
    assert found["ndcg"].tolist() == pytest.approx([0.55, 0.45, 0.55, 0.05])
    assert weights.ways_to_choose({"min_max": SWEPT}, [], QUESTIONS["question_id"]).empty
