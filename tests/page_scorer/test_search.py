"""Pages first, then chunks."""

import numpy as np
import pytest

from lib import runs
from lib.page_scorer import light, pages
from lib.page_scorer import search as pages_first
from lib.page_scorer.pages import load_scores, scores_in_folds
from lib.page_scorer.search import comparable, page_run, rank_pages, search_pages_first, standardised_finite
from lib.retrievers import dense
from lib.retrievers.places import pages_of_chunks
from lib.schema import StudyError


@pytest.fixture(scope="module")
def scored(study) -> np.ndarray:
    shape = len(study.questions), len(study.pages)
    return np.random.default_rng(3).normal(size=shape).astype(np.float32)


def test_the_best_pages_and_those_of_the_own_filing_are_kept_and_count_in_it_alone(study, scored, monkeypatch):
    monkeypatch.setattr(pages, "STORED_PAGES", 5)
    monkeypatch.setattr(pages_first, "STORED_PAGES", 5)
    mask = np.zeros(scored.shape, bool)
    np.put_along_axis(mask, np.argsort(-scored, axis=1)[:, :5], True, axis=1)
    is_stored = mask | (study.pages["doc_name"].to_numpy() == study.questions["doc_name"].to_numpy()[:, None])
    parts = pages.folds(study, "company")
    entry = scores_in_folds(study, "test", parts, lambda _, fold: (scored[list(fold.test)], {}), {})
    found = load_scores(study, entry)
    assert np.array_equal(found, np.where(is_stored, scored, -np.inf))
    beside, alone = (comparable(study, found, study.candidates(name)) for name in ("standard", "oracle-document"))
    assert np.array_equal(beside, np.where(mask, scored, -np.inf))
    assert np.array_equal(alone, found)


def test_pages_are_ranked_among_those_with_a_candidate_chunk():
    scores = np.array([[0.1, 0.9, 0.5, 0.5]])
    pages, candidates = np.array([0, 0, 1, 2, 3]), np.array([[True, True, False, True, True]])
    assert rank_pages(scores, pages, candidates, 2)[0].tolist() == [2, 3]
    assert rank_pages(scores, pages, candidates, 9)[0].tolist() == [2, 3, 0]


def test_stage_two_searches_only_the_kept_pages_in_each_order(study, scored):
    everything, of_chunk = study.candidates("standard"), pages_of_chunks(study)
    with pytest.raises(StudyError, match="201"):
        search_pages_first(study, scored, everything, 201)
    base = dense.score(study, everything)
    is_on_best = np.take_along_axis(scored, of_chunk[None], 1) >= np.sort(scored)[:, [-3]]  # on the best three pages
    assert standardised_finite(np.array([1, 3, -np.inf, 3])).tolist() == [-1, 1, -1, 1]  # unknown is the least
    assert standardised_finite(np.full(2, -np.inf)).tolist() == [0, 0]
    plain, summed = (search_pages_first(study, scored, everything, 3, order) for order in ("base", "sum"))
    assert np.array_equal(plain, np.where(is_on_best, base, -np.inf))
    assert np.array_equal(np.isfinite(summed), is_on_best)
    for row, own, of_page, is_kept in zip(summed, base, scored[:, of_chunk], is_on_best, strict=True):
        parts = own[is_kept], of_page[is_kept]
        np.testing.assert_allclose(row[is_kept], sum((part - part.mean()) / part.std() for part in parts), 1e-4, 1e-5)


def test_in_page_order_chunks_follow_their_pages(study, scored):
    everything = study.candidates("standard")
    ranked = page_run(study, scored, everything, study.profile.page_scorer.pages)
    found = runs.rank(search_pages_first(study, scored, everything, order="page"), study.questions, study.chunks, 50)
    columns = ["question_id", "doc_name", "page"]
    assert found.drop_duplicates(columns)[columns].values.tolist() == ranked[columns].values.tolist()
    base = runs.rank(dense.score(study, everything), study.questions, study.chunks, len(study.chunks))
    both = found.merge(base, on=["question_id", "chunk_id"], suffixes=("", "_base"))
    assert all(part["rank_base"].is_monotonic_increasing for _, part in both.groupby(columns, sort=False))


def test_a_scorer_that_all_questions_train_scores_the_pages_of_another_collection(study, make_study):
    other = make_study(lambda questions, documents: questions.pop())
    found = light.scores_elsewhere(study, other)
    assert found.shape == (len(other.questions), len(other.pages))
    is_gold = np.zeros((len(study.questions), len(study.pages)), bool)
    for row, one in enumerate(study.questions.itertuples()):
        is_gold[row] = (study.pages["doc_name"] == one.doc_name) & study.pages["page"].isin(one.gold_pages)
    trained, untrained = light.scores_elsewhere(study, study), pages_first.scorer_scores(study, "untrained")
    assert trained[is_gold].mean() >= untrained[is_gold].mean()
