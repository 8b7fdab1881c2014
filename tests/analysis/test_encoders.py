"""Two encoders side by side: what moves in a row, and cells of all combinations of changes."""

import pandas as pd
import pytest

from lib.analysis import encoders
from lib.methods import METHODS
from lib.metrics.retrieval import page_recall


@pytest.fixture(scope="module")
def study(make_study):
    return make_study()


def test_a_cell_is_the_run_of_its_row_where_there_is_one(study):
    found = encoders.cells(study)
    rows = {"none": "page_then_chunk", "training": "page_scorer_light", "order+training": "page_scorer_light_order"}
    rows |= {"match+order+training": "page_scorer_light_order_records"}
    assert len(found.columns) == 1 + 2**3
    for cell, row in rows.items():
        values = page_recall(study.run(row), study.questions, 5)
        pd.testing.assert_series_equal(found.set_index("question_id")[cell], values, check_names=False)
    assert encoders.pairs(study) == {}  # of which nothing is published


def test_losses_and_what_is_found_are_all_there_is(study, make_study, monkeypatch):
    second = make_study()
    second.profile.embedder["window"] = 8  # reads less of a chunk
    runs = [(name, one) for name in ("bm25", "dense", "dense_records") for one in METHODS[name].conditions]
    monkeypatch.setattr(encoders, "measured", lambda profile: runs)
    table = encoders.changes(study, second, 5)
    assert {*table["method"]} == {"dense", "dense_records"}  # no encoder changes BM25
    for name in ("first", "second"):
        assert table[[f"{what}_{name}" for what in encoders.LOSSES]].sum(axis=1).to_numpy() == pytest.approx(1.0)
    assert (table.loc[table["searched"] == encoders.GIVEN, ["lost_first", "lost_second"]] == 0).all(axis=None)
    differences = table[[f"{what}_difference" for what in encoders.LOSSES]].sum(axis=1)
    assert differences.to_numpy() == pytest.approx(0.0)
