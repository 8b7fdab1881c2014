"""The evaluation mistakes: each does what its name says, the table adds up, and nothing is trained by a chapter."""

import json

import numpy as np
import pandas as pd
import pytest

from lib.page_scorer import mistakes_full, mistakes_light, training
from lib.page_scorer.measured import measured_mistakes
from lib.page_scorer.mistakes import HONEST, MISTAKES, added_by_mistakes, mistake_values
from lib.page_scorer.scores import folds
from lib.stats import Resampling

COMPANIES = pd.Series(["a", "a", "b", "c"], index=["q0", "q1", "q2", "q3"])


def added(**values: list[float]) -> pd.DataFrame:
    long = pd.DataFrame(values, COMPANIES.index).rename_axis("question_id").reset_index()
    long = long.melt("question_id", var_name="mistake").dropna()
    return added_by_mistakes(long, Resampling(COMPANIES, 500, 1)).set_index("mistake")


@pytest.fixture(scope="module")
def study(make_study):
    return make_study(epochs=1, n_folds=2)


def test_the_table_reports_what_a_mistake_adds():
    table = added(none=[0, 0, 1, 1], epoch=[1, 0, 1, 1])
    assert table.loc["epoch", ["n", "mean", "added"]].tolist() == [4, 0.75, 0.25]
    assert table.loc[HONEST, ["added", "low", "high"]].tolist() == [0, 0, 0]
    wanted = Resampling(COMPANIES, 500, 1).interval(pd.Series([0.0, 0, 0, 0], COMPANIES.index) + [1, 0, 0, 0])
    assert table.loc["epoch", ["low", "high"]].tolist() == pytest.approx([wanted.low, wanted.high])


def test_a_mistake_that_drops_questions_changes_what_the_mean_is_over():
    row = added(none=[0, 0, 1, 1], zero=[np.nan, 0, 1, 1]).loc["zero"]
    assert row[["n", "mean", "added"]].tolist() == pytest.approx([3, 2 / 3, 1 / 6])


def test_losing_page_zero_drops_the_questions_that_have_no_other(study):
    scores = np.random.default_rng(0).random((12, len(study.chunks))).astype(np.float32)
    found = mistake_values(study, {HONEST: scores, "page-zero": scores}, k=5)
    counted = found[found["metric"] == "page_recall"].groupby("mistake").size()
    assert counted.to_dict() == {HONEST: 12, "page-zero": 6}


@pytest.mark.parametrize("scorer", [mistakes_light, mistakes_full])
def test_every_mistake_is_measured_beside_the_honest_run(study, scorer):
    found = scorer.measure(study, "company", k=3)
    assert list(found["mistake"].unique()) == list(MISTAKES)
    assert found["value"].between(0, 1).all()
    means = found[found["metric"] == "page_recall"].groupby("mistake")["value"].mean()
    assert scorer is mistakes_full or means["epoch"] >= means[HONEST]  # the length is chosen on the test fold


def test_without_the_command_nothing_is_trained(make_study, monkeypatch):
    study = make_study(epochs=1)
    monkeypatch.setattr(training, "train", lambda *_, **__: pytest.fail("trained"))
    assert measured_mistakes(study, "full", 3, may_compute=False) is None


def test_repeated_batches_contain_pairs_twice():
    batches = list(mistakes_full.RepeatedBatches(20, 16, seed=0))
    assert [len(batch) for batch in batches] == [16, 16]
    assert any(len(set(batch)) < len(batch) for batch in batches)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_best_epoch_on_the_test_fold_is_kept(make_study, monkeypatch, precision):
    study, seen = make_study(train_precision=precision), []

    class Watched(mistakes_full.KeepBest):
        def on_train_end(self, args, state, control, model=None, **_):
            kept = json.loads((mistakes_full.Path(args.output_dir) / "best.json").read_text())
            seen.append((kept["epoch"], kept["mrr"], state.epoch))
            super().on_train_end(args, state, control, model=model)

    monkeypatch.setattr(mistakes_full, "KeepBest", Watched)
    mistakes_full.MODELS["epoch"](study, folds(study, "company")[0])
    [(epoch, mrr, last)] = seen
    assert 1 <= epoch <= last == 2
    assert 0 < mrr <= 1
