"""Alpha chosen inside folds: a company's questions are scored with what the other company's questions chose."""

import numpy as np
import pandas as pd
import pytest

from lib.folds import make_folds
from lib.retrievers import convex_folds
from lib.retrievers.convex_folds import ALPHAS, alpha_values, best_alpha, chosen_alphas

EVERY = np.ones((4, 4), bool)


@pytest.fixture
def study(fake_study):
    """Acme's pages are found by dense alone and Bolt's by BM25 alone; two questions each."""
    made = fake_study(["a?", "a?", "b?", "b?"], ["text"] * 4, {"run": {"depth": 4}})
    made.chunks["doc_name"] = ["ACME", "ACME", "BOLT", "BOLT"]
    made.questions["doc_name"] = ["ACME", "ACME", "BOLT", "BOLT"]
    made.questions["company"] = ["Acme", "Acme", "Bolt", "Bolt"]
    made.questions["gold_pages"] = [[0], [1], [2], [3]]
    made.filings = pd.DataFrame({"doc_name": ["ACME", "BOLT"], "company": ["Acme", "Bolt"]})
    right, wrong = np.eye(4), 1 - np.eye(4)
    made.kept["matrix", "dense"] = np.vstack([right[:2], wrong[2:]])
    made.kept["matrix", "bm25"] = np.vstack([wrong[:2], right[2:]])
    return made


def test_the_sweep_goes_from_bm25_to_dense_by_a_fortieth(study):
    values = alpha_values(study, EVERY)
    assert sorted(values["alpha"].unique()) == list(ALPHAS)
    np.testing.assert_allclose(ALPHAS, np.arange(41) * 0.025)
    by_end = values.set_index(["question_id", "alpha"])["ndcg"].unstack()[[0.0, 1.0]]
    assert by_end.loc["q0", 1.0] == by_end.loc["q3", 0.0] == 1
    assert by_end.loc["q0", 0.0] == by_end.loc["q3", 1.0] < 1


def test_the_sweep_is_measured_once_for_the_same_candidates(study):
    assert alpha_values(study, EVERY) is alpha_values(study, EVERY.copy())
    assert alpha_values(study, EVERY) is not alpha_values(study, np.eye(4, dtype=bool))


def test_of_equally_good_weights_the_smallest_is_chosen():
    values = pd.DataFrame({"alpha": [0.0, 0.5, 1.0], "question_id": "q", "ndcg": [0.1, 0.7, 0.7]})
    assert best_alpha(values) == 0.5


def test_a_company_is_scored_with_what_the_other_one_chose(study):
    folds = make_folds(study.questions, study.filings, "company", 2, 13)
    tested = {study.questions["doc_name"][fold.test[0]]: number for number, fold in enumerate(folds)}
    alphas = chosen_alphas(alpha_values(study, EVERY), folds, study.questions["question_id"])
    acme, bolt = alphas[tested["ACME"]], alphas[tested["BOLT"]]
    assert acme < 0.5 < bolt
    scores = convex_folds.score(study, EVERY, n_folds=2, seed=13)
    right, wrong = np.eye(4), 1 - np.eye(4)
    np.testing.assert_allclose(scores[:2], acme * right[:2] + (1 - acme) * wrong[:2])
    np.testing.assert_allclose(scores[2:], bolt * wrong[2:] + (1 - bolt) * right[2:])


def test_questions_of_one_company_weigh_both_alike(study):
    study.questions["company"] = "Acme"
    scores = convex_folds.score(study, EVERY, n_folds=5, seed=13)
    np.testing.assert_allclose(scores, np.full((4, 4), 0.5))  # one of the two has it, in either company
    assert not [key for key in study.kept if "alpha_values" in key]


def test_what_is_no_candidate_is_not_retrieved(study):
    allowed = np.eye(4, dtype=bool)
    assert (convex_folds.score(study, allowed, n_folds=2, seed=13)[~allowed] == -np.inf).all()
