"""Two encoders side by side: what moves in a row, and what a change is worth beside others."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.analysis import encoders
from lib.methods import METHODS
from lib.metrics.retrieval import page_recall
from lib.stats import Resampling
from tests.test_cells import after_cells


@pytest.fixture(scope="module")
def studies(make_study):
    """The same questions under two encoders, of which the second reads less of a window."""
    return make_study(), make_study(max_tokens=8)


@pytest.fixture(scope="module")
def found(studies) -> list[pd.DataFrame]:
    return [encoders.cells(study) for study in studies]


def test_a_cell_is_the_run_of_its_row_where_there_is_one(studies, found):
    rows = {"none": "page_then_chunk", "training": "page_scorer_light", "order+training": "page_scorer_light_order"}
    rows |= {"match+order+training": "page_scorer_light_order_records"}
    assert len(found[0].columns) == 1 + 2**3
    for cell, row in rows.items():
        values = page_recall(studies[0].run(row), studies[0].questions, 5)
        pd.testing.assert_series_equal(found[0].set_index("question_id")[cell], values, check_names=False)


def worths(study, *tables: pd.DataFrame) -> pd.DataFrame:
    """What appendix a1 computes of cells of both encoders."""
    after = after_cells("a1_training", "def recalls")
    after["encoders"] = SimpleNamespace(named=encoders.named, cells=dict(enumerate(tables)).get)
    after["Resampling"] = SimpleNamespace(of=lambda pair: Resampling.of(study))
    means = after["recalls"]((0, 1))
    after = after_cells("a1_training", "def worth(", made=after["made"])
    return pd.DataFrame([after["worth"](factor, *means) for factor in encoders.FACTORS])


def test_what_changes_are_worth_is_what_all_of_them_add(studies, found):
    table = worths(studies[0], *found)
    whole, nothing = found[1]["match+order+training"].mean(), found[0]["none"].mean()
    assert table["factor"].tolist() == [*encoders.FACTORS]
    assert table["worth"].sum() == pytest.approx(whole - nothing)
    assert (table["worth_low"] <= table["worth"] + 1e-9).all()
    assert (table["worth"] <= table["worth_high"] + 1e-9).all()
    assert encoders.pairs(studies[0]) == {}  # of which nothing is published


def test_a_change_that_does_the_same_beside_any_others_is_worth_that(studies):
    made = [dict(zip(encoders.FACTORS[1:], one, strict=True)) for one in product((0, 1), repeat=3)]
    cells = {encoders.named(one): 0.1 * one["match"] for one in made}
    first = pd.DataFrame({"question_id": studies[0].questions["question_id"], **cells})
    second = first.assign(**(first.drop(columns="question_id") + 0.25))
    table = worths(studies[0], first, second).set_index("factor")
    np.testing.assert_allclose(table["worth"], [0.25, 0.1, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(table["alone"], table["last"], atol=1e-12)


def test_losses_and_what_is_found_are_all_there_is(studies, make_study, monkeypatch):
    first, second = studies[0], make_study()
    second.profile.embedder["window"] = 8  # reads less of a chunk
    runs = [(name, one) for name in ("bm25", "dense", "dense_records") for one in METHODS[name].conditions]
    monkeypatch.setattr(encoders, "measured", lambda profile: runs)
    table = encoders.changes(first, second, 5)
    assert {*table["method"]} == {"dense", "dense_records"}  # no encoder changes BM25
    for name in ("first", "second"):
        assert table[[f"{what}_{name}" for what in encoders.LOSSES]].sum(axis=1).to_numpy() == pytest.approx(1.0)
    assert (table.loc[table["searched"] == encoders.GIVEN, ["lost_first", "lost_second"]] == 0).all(axis=None)
    differences = table[[f"{what}_difference" for what in encoders.LOSSES]].sum(axis=1)
    assert differences.to_numpy() == pytest.approx(0.0)
