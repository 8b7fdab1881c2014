"""How page scorers were trained: mistakes, folds, losses and tokens, of made-up measurements."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis import mistakes, training
from lib.analysis.page_scorer import COLUMNS
from lib.stats import Resampling

DRAWS = Resampling(pd.Series([*"aabb"], ["q0", "q1", "q2", "q3"]), 500)


def measured(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


def test_a_mistake_adds_its_mean_less_the_honest_one_and_a_question_without_gold_is_left_out():
    values = {"none": [0.0, 0.0, 1.0, 1.0], "page-zero": [0.0, np.nan, 1.0, 1.0], "epoch": [1.0, 0.0, 1.0, 1.0]}
    found = mistakes.added({"light": pd.DataFrame(values, DRAWS.company.index)}, DRAWS).set_index("mistake")
    assert found["n"].tolist() == [4, 3, 4]
    assert found["mean"].tolist() == pytest.approx([1 / 2, 2 / 3, 3 / 4])
    assert found["difference"].tolist() == pytest.approx([0, 1 / 6, 1 / 4])
    assert found.loc["none", ["low", "high"]].tolist() == [0, 0]
    assert found.loc["epoch", ["low", "high"]].tolist() == [0, 0.5]  # company b has none of it, a all
    assert mistakes.added({}, DRAWS).columns.tolist() == found.reset_index().columns.tolist()


def test_recall_with_mistakes_is_by_scorer_and_in_the_order_of_the_mistakes():
    rows = [("slip none", "light", "company", "q0", "page_recall", 5, 0.5)]
    rows += [("slip epoch", "light", "company", "q0", "page_recall", 5, 1.0)]
    rows += [("slip none", "light", "company", "q0", "doc_recall", 5, 1.0)]
    found = training.with_mistakes(measured(*rows, ("pages", "light", "", "q0", "page_recall", 5, 0.0)))
    assert {name: frame.to_dict("list") for name, frame in found.items()} == {"light": {"none": [0.5], "epoch": [1.0]}}


def test_a_fold_has_its_counts_the_loss_of_its_last_epoch_and_minutes():
    rows = [("training", "", "company", "0", name, 0, value) for name, value in [("n_pairs", 7), ("wall_s", 90.0)]]
    rows += [("training", "", "company", "0", "light_steps", 0, 50)]
    curve = [("curve", "full", "company", f"0:{epoch}", "loss", 0, loss) for epoch, loss in [(1, 0.9), (2, 0.4)]]
    (fold,) = training.folds(measured(*rows, *curve)).to_dict("records")
    assert (fold["item"], fold["n_pairs"], fold["last_loss"], fold["minutes"]) == ("0", 7, 0.4, 1.5)
    assert training.losses(measured(*rows, *curve))[["fold", "epoch"]].values.tolist() == [[0, 1], [0, 2]]
    assert training.folds(measured()).empty
    assert training.losses(measured()).empty


def test_tokens_have_the_minutes_of_training_and_the_recall_of_both_stages():
    values = {"page_recall_kept": (1.0, 0.0), "page_recall_both": (0.5, 0.0)}
    rows = [
        ("tokens", "full", "company", f"q{n}", name, 128, x)
        for name, both in values.items()
        for n, x in enumerate(both)
    ]
    found = training.tokens(measured(("tokens", "full", "company", "0", "wall_s", 128, 30.0), *rows), DRAWS).iloc[0]
    assert (found["minutes"], found["recall_of_kept_pages"], found["page_recall"], found["n"]) == (0.5, 0.5, 0.25, 2)
    assert training.tokens(measured(), DRAWS).empty
