"""Dense search in a collection: as exact search where all is returned; filters of the conditions; no other chunk."""

import numpy as np
import pandas as pd
import pytest

from lib import runs
from lib.analysis import vector_store
from lib.models.vectors import chunk_index, of_windows
from lib.retrievers import chroma, dense
from lib.schema import CONDITIONS

TEXTS = {
    "ACME": ["net sales", "cash flow profit", "profit net net"],
    "BOLT": ["cash", "flow sales sales", "bolt profit"],
}
QUESTIONS = {"cash flow": ("BOLT", [0, 1]), "profit": ("ACME", [2]), "sales": ("ACME", [0])}
GOLD = pd.DataFrame(QUESTIONS.values(), columns=["doc_name", "gold_pages"])
PLACES = pd.DataFrame([(name, page) for name, texts in TEXTS.items() for page in range(len(texts))])
PLACES.columns = ["doc_name", "page"]


@pytest.fixture
def study(written_study):
    """Two filings of three pages with a chunk each."""
    made = written_study([*QUESTIONS], [text for texts in TEXTS.values() for text in texts])
    ids = PLACES["doc_name"] + PLACES["page"].map("#p{:04d}#c00".format)
    made.chunks = made.chunks.assign(**PLACES, chunk_id=ids, key=ids)
    return made


@pytest.mark.parametrize("condition", CONDITIONS)
def test_it_is_exact_search_among_the_candidates_where_all_windows_are_returned(study, condition):
    allowed = runs.candidates(condition, GOLD, study.chunks)
    exact = np.where(allowed, dense.score(study, allowed), -np.inf)
    for _ in range(2):  # the second reads what the first has written
        assert chroma.score(study, allowed) == pytest.approx(exact, abs=1e-6)


def test_where_names_whole_filings_and_pages_of_others_and_nothing_where_all_is_asked():
    every, one = np.ones(6, bool), np.array([True, True, True, False, True, False])
    pages_of_bolt = {"$and": [{"doc_name": "BOLT"}, {"page": {"$in": [1]}}]}
    assert chroma.where_of(PLACES, every) is None
    assert chroma.where_of(PLACES, every, others=["CORE"]) == {"doc_name": {"$in": ["ACME", "BOLT"]}}
    assert chroma.where_of(PLACES, one) == {"$or": [{"doc_name": {"$in": ["ACME"]}}, pages_of_bolt]}


def test_filings_of_the_collection_that_the_study_has_not_and_chunks_that_are_no_candidates_are_not_returned(study):
    with chunk_index(study, *of_windows(study)) as (index, _):
        index.put("CORE", "digest", ["CORE#p0000#c00"], dense.question_vectors(study)[:1])
    allowed = np.ones((3, 6), bool)
    assert chroma.score(study, allowed) == pytest.approx(dense.score(study, allowed), abs=1e-6)
    one = np.eye(3, 6, dtype=bool)
    one[2] = False
    assert (np.isfinite(chroma.score(study, one)) == one).all()


def test_a_run_has_no_more_chunks_than_their_windows(study, monkeypatch):
    monkeypatch.setattr(chroma, "n_windows", lambda *given: 2)
    found = chroma.score(study, np.ones((3, 6), bool))
    assert np.isfinite(found).sum(axis=1).tolist() == [2, 2, 2]
    assert found.argmax(axis=1).tolist() == dense.score(study, None).argmax(axis=1).tolist()


def test_both_searches_are_timed_under_each_condition_without_the_first_question(study):
    study.need_filings = lambda what: None
    study.candidates = lambda condition: runs.candidates(condition, GOLD, study.chunks)
    found = vector_store.search_times(study)
    assert found["condition"].tolist() == [condition for condition in CONDITIONS for _ in range(2)]
    assert found["method"].tolist() == ["dense", "dense_chroma"] * 3
    assert {*found["n_questions"]} == {2}
    pd.testing.assert_frame_equal(vector_store.search_times(study), found)  # it is timed once
