"""What is kept of page scores."""

import numpy as np
import pytest

from lib.folds import Fold
from lib.page_scorer import scores as page_scores
from lib.page_scorer.full import folds
from lib.page_scorer.scores import check_n_pages, kept, load_scores, stored_scores
from lib.words import StudyError


@pytest.fixture
def study(make_study, monkeypatch):
    monkeypatch.setattr(page_scores, "KEPT", 5)
    return make_study(epochs=1)


def scored(study) -> np.ndarray:
    shape = len(study.questions), len(study.pages)
    return np.random.default_rng(3).normal(size=shape).astype(np.float32)


def test_the_best_pages_and_those_of_the_own_filing_are_kept(study):
    scores = scored(study)
    mask = kept(study, scores)
    own = study.pages["doc_name"].to_numpy() == study.questions["doc_name"].to_numpy()[:, None]
    assert mask[own].all()
    assert all(
        set(np.argsort(-row)[:5]) <= set(np.flatnonzero(found))
        for row, found in zip(scores, mask, strict=True)
    )
    assert (mask.sum(axis=1) <= 5 + own.sum(axis=1)).all()


def test_kept_scores_come_back_as_they_were(study):
    scores = scored(study)

    def score_fold(fold: Fold):
        return scores[list(fold.test)], {"fold": fold.number}

    entry = stored_scores(study, "test/scores", {}, folds(study, "company"), score_fold)
    found, mask = load_scores(study, entry), kept(study, scores)
    assert (found[mask] == scores[mask]).all()
    assert np.isneginf(found[~mask]).all()


@pytest.mark.parametrize("n_pages", [0, -1, 201])
def test_pages_that_are_not_kept_cannot_be_asked_for(n_pages):
    with pytest.raises(StudyError, match=f"pages is {n_pages}: say a number from 1 to 200"):
        check_n_pages(n_pages)
    assert check_n_pages(200) == 200
