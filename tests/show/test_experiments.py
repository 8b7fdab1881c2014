"""Trainings by other recipes as tables: by cell, and by what one change is worth."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from lib.show import experiments

COLUMNS = ["cell", "seed", "epoch", "pool", "route", "question_id", "metric", "k", "value"]


@pytest.fixture(scope="module")
def study(make_study):
    return make_study()


def recalls(study, gains):
    """Every question has its cell's gain after epoch 1, and nothing after epoch 0."""
    rows = [
        (cell, seed, epoch, pool, route, q, "page_recall", k, epoch * gain)
        for cell, gain in gains.items()
        for pool, seed, epoch, route, k in product(
            ("all", "held-out"), (1, 2), (0, 1), ("none", "records"), (5, 20)
        )
        for q in study.questions["question_id"]
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_experiments_are_shown_by_cell_at_their_last_epoch(study):
    table = experiments.experiments_table(study, recalls(study, {"128-batch": 0.25, "512-all-header": 0.5}))
    n = len(study.questions)
    assert table[["Tokens, negatives, header", "Seeds", "n"]].to_numpy().tolist() == [
        ["128-batch", 2, n],
        ["512-all-header", 2, n],
    ]
    assert table["Records first, P = 20"].str[:4].tolist() == ["0.25", "0.50"]


@pytest.mark.parametrize(
    ("name", "other", "change"),
    [
        ("128-batch-header", "128-batch", "header"),
        ("256-all", "128-all", "128 → 256 tokens"),
        ("128-all", "128-batch", "negatives: batch → all"),
        ("128-all-header-both", "128-all-header", "silver questions first"),
        ("128-batch", "128-batch-header", ""),
        ("128-all", "256-all", ""),
        ("128-all-header", "128-batch", ""),
        ("128-all-header-both", "128-all", ""),
    ],
)
def test_a_change_is_one_thing_that_is_added(name, other, change):
    assert experiments.changed(name, other) == change


def test_a_change_is_worth_the_difference_of_the_cells_that_differ_in_it_alone(study):
    found = experiments.worth(
        study, recalls(study, {"128-batch": 0.25, "128-batch-header": 0.75, "128-all-header": 1.0})
    )
    assert found[["change", "cell", "difference"]].to_numpy().tolist() == [
        ["header", "128-batch-header", 0.5],
        ["negatives: batch → all", "128-all-header", 0.25],
    ]
    assert experiments.worth_table(found)["Page recall"].tolist() == ["0.25 → 0.75", "0.75 → 1.00"]


def test_curves_are_of_the_held_out_filings_by_epoch(study):
    points = experiments.by_epoch(recalls(study, {"128-batch": 0.25, "128-all": 0.5}))
    axes = experiments.curves(points).axes[0]
    lines = {line.get_label(): line.get_xydata().tolist() for line in axes.get_lines()}
    assert lines == {"128-batch": [[0, 0], [1, 0.25]], "128-all": [[0, 0], [1, 0.5]]}


def test_without_trainings_nothing_is_chosen():
    value, names = experiments.chosen(pd.DataFrame())
    assert np.isnan(value)
    assert names == "none"
