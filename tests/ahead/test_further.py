"""Views that are tried beside the combiner's own."""

import numpy as np
import pytest

from lib.ahead import further
from lib.ahead.further import view_columns
from lib.ahead.ladder import FURTHER
from lib.ahead.pool import task_of
from lib.methods import METHODS

from .conftest import BALANCE, CASH


@pytest.fixture
def study(study_of, two_companies):
    folder = two_companies
    folder.question("q1", "GLIMMERFEN_2021_10K", (1, BALANCE), question="What are Glimmerfen's total assets?")
    folder.question("q2", "OSKARVALE_2021_10K", (3, CASH), question="What is Oskarvale's capex?")
    return study_of(folder.write())


def test_every_view_is_a_method_s_or_bare_pages():
    assert {rung.view for rung in FURTHER} == set(further.VIEWS)
    assert {name for name in further.VIEWS.values() if name} <= set(METHODS)


def test_a_page_is_worth_its_best_chunk_and_a_page_without_one_the_least(study, monkeypatch):
    monkeypatch.setitem(further.VIEWS, "sparse", "bm25")
    matrix = further.page_matrix(study, "sparse")
    scores = METHODS["bm25"].score(study, study.candidates("standard"))
    owners = further.pages_of_chunks(study)
    assert matrix.shape == (2, len(study.pages))
    for page in range(len(study.pages)):
        mine = scores[:, owners == page]
        expected = mine.max(axis=1) if mine.size else scores[np.isfinite(scores)].min()
        np.testing.assert_allclose(matrix[:, page], expected)


def test_columns_stand_beside_the_pool_s_pairs(study, monkeypatch):
    monkeypatch.setitem(further.VIEWS, "sparse", "bm25")
    table, pool = view_columns(study, "sparse"), task_of(study).pool
    assert len(table) == len(pool.rows)
    assert set(table) == {f"sparse{end}" for end in ("", "_standing", "_rank", "_gap", "_filing", "_beside")}
    assert table.notna().all().all()
