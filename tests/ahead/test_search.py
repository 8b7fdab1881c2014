"""The order of chunks, and a whole search on filings of invented companies."""

import json

import numpy as np
import pandas as pd
import pytest

from extras.ahead.train import SAVED_VARIANTS, train
from lib import runs
from lib.ahead import search
from lib.ahead.pool import Pool
from lib.ahead.views import study_pool


def test_best_chunk_of_every_page_comes_before_second_chunks_and_others_are_not_scored():
    pool = Pool(np.array([0, 0, 1]), np.array([0, 1, 0]), pd.DataFrame())
    chunk_scores = np.array([[0.1, 0.2, 0.9, 0.8, 1.0], [0.1, -np.inf, 0.9, 0.8, 1.0]])
    found = search.spread_pages(pool, -1.0 * pool.columns, chunk_scores, np.array([0, 0, 1, 1, 2]))
    assert found.tolist() == [[-2, 0, -1, -3, -np.inf], [0, *[-np.inf] * 4]]


@pytest.mark.parametrize("options", [{}, {"kinds": True}, {"kinds": True, "covers": True}, {"trained": False}])
def test_other_questions_are_searched_with_the_saved_ranker_and_every_page_comes_once(study, options):
    assert search.scored_by(study) == "saved"
    assert search.inputs(study, **{name: value for name, value in options.items() if name != "covers"})
    scores = search.score(study, study.candidates("standard"), **options)
    run = runs.rank(scores, study.questions, study.chunks, 5)
    top = run[run["rank"] == 1].set_index("question_id")
    assert top["doc_name"].tolist() == study.questions["doc_name"].tolist()
    assert "kinds" not in options or top["page"].tolist()[:2] == [1, 3]
    assert not run.duplicated(["question_id", "doc_name", "page"]).any()
    candidates = study.candidates("oracle-document")
    assert np.array_equal(np.isfinite(search.score(study, candidates, **options)), candidates)


def test_rankers_that_are_saved_say_what_they_learnt_from_and_score_nothing_of_it(study, tmp_path, monkeypatch):
    monkeypatch.setattr(search, "SAVED", tmp_path / "rankers")
    saved = train(study, search.SAVED)
    learnt_from = json.loads((search.SAVED / "kinds.json").read_text())["question_ids"]
    assert (learnt_from, saved["sets"]) == (study.questions["question_id"].tolist(), {"words": 3})
    assert saved["share"] in study.profile.ahead.shares
    names = {name: search.saved_ranker(name).booster.feature_name() for name in SAVED_VARIANTS}
    read = {name: {feature.partition("_")[0] for feature in features} for name, features in names.items()}
    assert read["plain"] | {"kinds"} == read["kinds"] == read["index"] | {"heads"}
    assert "kinds" in read["index"]
    pool = study_pool(study, study.questions["question"].tolist())  # of too few companies for folds
    assert np.array_equal(search.pool_scores(study, pool), pool.table["plain"])
