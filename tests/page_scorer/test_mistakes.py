"""The slips: that each does what it says, and that the table adds up."""

import json

import numpy as np
import pandas as pd
import pytest

from lib.page_scorer import full as page_scorer
from lib.page_scorer import mistakes_full as full
from lib.page_scorer import mistakes_light as light
from lib.page_scorer.mistakes_table import HONEST, SLIPS, slip_table, slip_values
from lib.stats import clustered_bootstrap_difference

COMPANIES = pd.Series(["a", "a", "b", "c"], index=["q0", "q1", "q2", "q3"])


def values(**slips: list[float]) -> pd.DataFrame:
    parts = [
        pd.DataFrame({"slip": slip, "question_id": COMPANIES.index, "metric": "page_recall", "value": column})
        for slip, column in slips.items()
    ]
    return pd.concat(parts, ignore_index=True).dropna()


@pytest.fixture(scope="module")
def study(make_study):
    return make_study(epochs=1)


def test_table_says_what_a_slip_adds():
    table = slip_table(values(none=[0, 0, 1, 1], epoch=[1, 0, 1, 1]), COMPANIES, n_draws=500, seed=1)
    row = table.set_index("slip").loc["epoch"]
    assert (row["n"], row["mean"], row["added"]) == (4, 0.75, 0.25)
    both = (np.array([1, 0, 1, 1]), np.array([0, 0, 1, 1]))
    wanted = clustered_bootstrap_difference(*both, COMPANIES.to_numpy(), n_draws=500, seed=1)
    assert (row["low"], row["high"]) == pytest.approx((wanted.low, wanted.high))


def test_a_slip_that_drops_questions_changes_what_the_mean_is_over():
    table = slip_table(values(none=[0, 0, 1, 1], zero=[np.nan, 0, 1, 1]), COMPANIES, n_draws=100, seed=1)
    row = table.set_index("slip").loc["zero"]
    assert (row["n"], row["mean"], row["added"]) == (3, pytest.approx(2 / 3), pytest.approx(1 / 6))


def test_losing_page_zero_drops_the_questions_that_have_no_other(study):
    scores = np.random.default_rng(0).random((12, len(study.chunks))).astype(np.float32)
    found = slip_values(study, {HONEST: scores, "page-zero": scores}, k=5)
    counted = found[found["metric"] == "page_recall"].groupby("slip").size()
    assert counted.to_dict() == {HONEST: 12, "page-zero": 6}


@pytest.mark.parametrize("scorer", [light, pytest.param(full, marks=pytest.mark.slow)], ids=["light", "full"])
def test_every_slip_is_measured_beside_the_honest_run(study, scorer):
    found = scorer.slips(study, "company", k=3)
    assert list(found["slip"].unique()) == list(SLIPS)
    assert found["value"].between(0, 1).all()
    table = slip_table(found, study.questions.set_index("question_id")["company"], n_draws=50, seed=1)
    assert (table.loc[table["slip"] == HONEST, "added"] == 0).all()


def test_the_light_length_chosen_on_the_test_fold_is_never_worse_there(study):
    found = light.slips(study, "company", k=3)
    means = found[found["metric"] == "page_recall"].groupby("slip")["value"].mean()
    assert means["epoch"] >= means[HONEST]


def test_repeated_batches_hold_pairs_twice():
    sampler = full.RepeatedBatches(20, 16, seed=0)
    batches = list(sampler)
    assert [len(batch) for batch in batches] == [16, 16]
    assert any(len(set(batch)) < len(batch) for batch in batches)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_best_epoch_on_the_test_fold_is_kept(make_study, precision):
    study = make_study(epochs=3, train_precision=precision)
    seen = []

    class Watched(full.KeepBest):
        def on_train_end(self, args, state, control, model=None, **_):
            kept = json.loads((full.Path(args.output_dir) / "best.json").read_text())
            seen.append((kept["epoch"], kept["mrr"], state.epoch))
            super().on_train_end(args, state, control, model=model)

    before, full.KeepBest = full.KeepBest, Watched
    try:
        full._with_the_best_epoch(study, page_scorer.folds(study, "company")[0])
    finally:
        full.KeepBest = before
    [(epoch, mrr, last)] = seen
    assert 1 <= epoch <= last == 3
    assert 0 < mrr <= 1


def test_pages_of_every_plan_are_kept_for_the_slips_number_of_pages(study, monkeypatch):
    """Fewer pages are another entry of the store: it is not cut out of, nor taken for, one with more."""
    shapes = []
    for n_pages in (7, 3):
        monkeypatch.setattr(light, "PAGES", n_pages)
        shapes.append(light._pages_of_every_plan(study, "company").shape)
    assert [shape[-1] for shape in shapes] == [7, 3]
    assert shapes[0][:2] == shapes[1][:2]
