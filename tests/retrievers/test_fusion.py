"""Fusion of two searches: reciprocal ranks by hand, and convex combination of scaled scores."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special

from lib.folds import make_folds
from lib.retrievers import convex, fusion
from lib.retrievers.convex import alpha_values, best_alpha, chosen_alphas
from lib.retrievers.fusion import min_max, softmax

NONE = -np.inf


@pytest.mark.parametrize(
    ("settings", "keys", "allowed", "options", "scores"),
    [
        ((60, 10), "abc", [True, True, False], {}, [1 / 61 + 1 / 62, 1 / 62 + 1 / 61, NONE]),  # among the candidates
        ((60, 1), "abc", [True] * 3, {}, [1 / 61, NONE, 1 / 61]),  # no deeper than the profile says
        ((60, 10), "aac", [True] * 3, {}, [1 / 61 + 1 / 62, NONE, 1 / 62 + 1 / 61]),  # equal texts have one place
        ((100, 1), "abc", [True] * 3, {"k_rrf": 1}, [1 / 2, NONE, 1 / 2]),  # a row's constant before the profile's
    ],
)
def test_score_fuses_dense_and_bm25(fake_study, settings, keys, allowed, options, scores):
    matrices = {"dense": np.array([[0.9, 0.8, 0.1]]), "bm25": np.array([[1.0, 2.0, 9.0]])}
    profile = {"hybrid_rrf": dict(zip(("k_rrf", "depth"), settings, strict=True))}
    study = fake_study(["?"], ["a", "b", "c"], profile, matrices)
    study.chunks["key"] = list(keys)
    assert fusion.score(study, np.array([allowed]), **options)[0] == pytest.approx(np.array(scores))


VALUES = st.floats(-9, 9, width=32) | st.just(NONE)


def minimum_to_maximum(values: np.ndarray) -> np.ndarray:
    return (values - values.min()) / (np.ptp(values) or np.inf)


@given(
    st.integers(1, 6).flatmap(lambda n: st.tuples(arrays(np.float32, (3, n), elements=VALUES), arrays(bool, (3, n))))
)
def test_scores_are_scaled_over_the_candidates_that_were_scored_and_all_others_are_zero(given):
    scores, allowed = given
    for scale, reference in ((softmax, special.softmax), (min_max, minimum_to_maximum)):
        wanted = np.zeros(scores.shape)
        for row, values, is_in in zip(wanted, scores.astype(float), allowed & np.isfinite(scores), strict=True):
            row[is_in] = reference(values[is_in]) if is_in.any() else 0
        np.testing.assert_allclose(scale(scores, allowed), wanted, rtol=1e-5, atol=1e-6)


@pytest.fixture
def scored(fake_study, monkeypatch):
    """Make a study of some questions and chunks with these scores by dense and by BM25."""

    def make(dense, sparse, **profile):
        monkeypatch.setattr(convex, "unscaled", lambda study: (dense, sparse))
        return fake_study(["?"] * len(dense), ["text"] * dense.shape[1], profile, {"dense": dense, "bm25": sparse})

    return make


def test_softmax_keeps_the_first_candidates_of_dense_and_mixes_shares(scored, monkeypatch):
    monkeypatch.setattr(convex, "N_DENSE", 2)
    study = scored(np.log([[1, 3, 1, 9]] * 2), np.log([[4, 1, 5, 9]] * 2))
    both = convex.scaled(study, np.array([[True, True, True, False], [False, False, False, True]]), "softmax")
    # dense: 1/4 and 3/4 of its first two, of ties the first; BM25: 4/10 and 1/10 of all three
    by_hand = [0.5 * 1 / 4 + 0.5 * 4 / 10, 0.5 * 3 / 4 + 0.5 * 1 / 10, NONE, NONE]
    np.testing.assert_allclose(convex.mix(*both, 0.5), [by_hand, [NONE, NONE, NONE, 1]])


def test_a_fixed_weight_mixes_what_is_scaled_from_0_to_1_over_the_candidates(scored):
    study = scored(np.array([[0.2, 0.6, 1.0, 9.0]]), np.array([[8.0, 2.0, 4.0, 9.0]]))
    found = convex.score(study, np.array([[True, True, True, False]]), alpha=0.75)
    np.testing.assert_allclose(found, [[1 / 4, 3 / 8, 3 / 4 + 1 / 12, NONE]])


SWEEP = convex.ALPHAS
EVERY, RIGHT, WRONG = np.ones((4, 4), bool), np.eye(4), 1 - np.eye(4)


@pytest.fixture
def study(scored, monkeypatch):
    """Acme's pages are found by dense alone and Bolt's by BM25 alone; two questions each."""
    monkeypatch.setattr(convex, "ALPHAS", convex.ALPHAS[::10])
    made = scored(np.vstack([RIGHT[:2], WRONG[2:]]), np.vstack([WRONG[:2], RIGHT[2:]]), run={"depth": 4})
    made.chunks["doc_name"] = names = ["ACME", "ACME", "BOLT", "BOLT"]
    made.questions = made.questions.assign(doc_name=names, company=names, gold_pages=[[0], [1], [2], [3]])
    made.filings = pd.DataFrame({"doc_name": ["ACME", "BOLT"], "company": ["ACME", "BOLT"]})
    return made


def test_the_sweep_goes_from_bm25_to_dense_by_a_fortieth_and_is_measured_once(study):
    np.testing.assert_allclose(SWEEP, np.arange(41) * 0.025)
    values = alpha_values(study, EVERY)
    by_end = values.set_index(["question_id", "alpha"])["ndcg"].unstack()[[0.0, 1.0]]
    assert by_end.loc["q0", 1.0] == by_end.loc["q3", 0.0] == 1
    assert by_end.loc["q0", 0.0] == by_end.loc["q3", 1.0] < 1
    assert alpha_values(study, EVERY.copy()) is values
    assert alpha_values(study, np.eye(4, dtype=bool)) is not values


@pytest.mark.parametrize("normalisation", ["min_max", "softmax"])
def test_a_company_is_scored_with_what_the_other_one_chose_and_a_single_one_weighs_both_alike(study, normalisation):
    folds = make_folds(study.questions, study.filings, "company", 2, 13)
    alphas = chosen_alphas(alpha_values(study, EVERY, normalisation), folds, study.questions["question_id"])
    scores = convex.score_in_folds(study, EVERY, n_folds=2, seed=13, normalisation=normalisation)
    dense, sparse, _ = convex.scaled(study, EVERY, normalisation)
    used = {}
    for fold, alpha in zip(folds, alphas, strict=True):
        rows = list(fold.test)
        used[study.questions["company"][rows[0]]] = alpha
        np.testing.assert_allclose(scores[rows], alpha * dense[rows] + (1 - alpha) * sparse[rows])
    assert used["ACME"] < used["BOLT"]
    study.questions["company"] = "Acme"
    alone = convex.score_in_folds(study, EVERY, n_folds=5, seed=13, normalisation=normalisation)
    np.testing.assert_allclose(alone, (dense + sparse) / 2)


def test_of_equal_alphas_the_smallest_is_chosen():
    assert best_alpha(pd.DataFrame({"alpha": [0.0, 0.5, 1.0], "question_id": "q", "ndcg": [0.1, 0.7, 0.7]})) == 0.5
