"""The ladder's rungs, their columns, their recall, and further signals."""

import numpy as np
import pandas as pd
import pytest

from lib.ahead import ladder
from lib.ahead.combiner import FEATURES, Combiner
from lib.ahead.pool import page_index, page_pool
from lib.ahead.training import SAVED, saved_record, task_of
from lib.retrievers import bm25


@pytest.fixture
def table(study) -> pd.DataFrame:
    return page_pool(study, ["What are total assets?"]).table


def test_every_column_belongs_to_an_ingredient_and_none_is_lost(table):
    assert ladder.columns_of(ladder.ALL, table) == list(table)
    assert ladder.columns_of((), table) == []
    for name in ladder.INGREDIENTS:
        others = [other for other in ladder.ALL if other != name]
        assert len(ladder.columns_of(others, table)) < table.shape[1]
    rung = next(rung for rung in ladder.WITHOUT if rung.name == "no_words")
    assert not [column for column in ladder.columns_of(rung.ingredients, table) if column.startswith("words")]


def test_saved_combiner_reads_columns_that_exist_in_their_order(table):
    combiner, trained = Combiner.load(SAVED), set(Combiner.load(SAVED).boosters[0].feature_name())
    assert combiner.boosters[0].feature_name() == [column for column in table if column in trained]
    assert set(combiner.linear["features"]) == set(FEATURES) <= set(table)
    assert len(saved_record()["question_ids"]) == saved_record()["n_questions"]


def test_without_folds_the_ladder_is_the_plain_rung(study):
    metrics = ladder.ladder_metrics(study)
    assert set(metrics["metric"]) == {"rung_doc_recall/routed", "rung_page_recall/routed"}
    assert len(metrics) == 2 * len(study.questions)


def test_recall_of_the_first_pages(study):
    task = task_of(study)
    recalls = {
        k: ladder.recalls(task, task.pool.gold.astype(float), k)["page_recall"].tolist() for k in (1, 5)
    }
    assert recalls == {1: [1, 0.5, 1], 5: [1, 1, 1]}


def test_further_signals_give_a_page_its_best_chunk_and_a_blank_page_the_least(study, monkeypatch):
    monkeypatch.setattr(ladder, "splade", bm25)
    assert {rung.signal for rung in ladder.FURTHER} == set(ladder.FURTHER_SIGNALS)
    signal, owners = ladder.further_signal(study, "sparse"), page_index(study).chunk_pages
    scores = bm25.score(study, study.candidates("standard"))
    for page in range(len(study.pages)):
        mine = scores[:, owners == page]
        np.testing.assert_allclose(signal[:, page], mine.max(axis=1) if mine.size else scores.min())
    [rung] = [rung for rung in ladder.FURTHER if rung.signal == "sparse"]
    table = ladder.rung_table(study, rung).filter(like="sparse")
    assert len(table) == len(task_of(study).pool.rows)
    assert set(table) == {f"sparse{end}" for end in ("", "_standing", "_rank", "_gap", "_filing", "_beside")}
    assert table.notna().all().all()
