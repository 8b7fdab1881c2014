"""Evaluation mistakes: the table adds up, all are measured on the light page scorer, and chapters train no other."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis.mistakes import HONEST, MISTAKES, added_by_mistakes, measure_light
from lib.analysis.page_scorer import measured_mistakes
from lib.page_scorer import trainer
from lib.stats import Resampling

COMPANIES = pd.Series(["a", "a", "b", "c"], index=["q0", "q1", "q2", "q3"])


def added(**values: list[float]) -> pd.DataFrame:
    long = pd.DataFrame(values, COMPANIES.index).rename_axis("question_id").reset_index()
    long = long.melt("question_id", var_name="mistake").dropna()
    return added_by_mistakes(long, Resampling(COMPANIES, 500, 1)).set_index("mistake")


def test_the_table_reports_what_a_mistake_adds_to_the_mean_over_its_questions():
    table = added(none=[0, 0, 1, 1], epoch=[1, 0, 1, 1], zero=[np.nan, 0, 1, 1])
    assert table.loc["epoch", ["n", "mean", "added"]].tolist() == [4, 0.75, 0.25]
    assert table.loc["zero", ["n", "mean", "added"]].tolist() == pytest.approx([3, 2 / 3, 1 / 6])
    assert table.loc[HONEST, ["added", "low", "high"]].tolist() == [0, 0, 0]
    wanted = Resampling(COMPANIES, 500, 1).interval(pd.Series([1.0, 0, 0, 0], COMPANIES.index))
    assert table.loc["epoch", ["low", "high"]].tolist() == pytest.approx([wanted.low, wanted.high])


def test_every_mistake_is_measured_beside_the_honest_run(make_study):
    found = measure_light(make_study(epochs=1, n_folds=2), k=3)
    assert list(found["mistake"].unique()) == list(MISTAKES)
    assert found["value"].between(0, 1).all()
    recall = found[found["metric"] == "page_recall"].groupby("mistake")["value"]
    assert recall.mean()["epoch"] >= recall.mean()[HONEST]  # the length is chosen on the test fold
    counted = recall.size().to_dict()
    assert counted.pop("page-zero") == 6  # the others have no gold page beside page 0
    assert set(counted.values()) == {12}


def test_without_the_command_nothing_is_trained(make_study, monkeypatch):
    study = make_study(epochs=1)
    monkeypatch.setattr(trainer, "train", lambda *_, **__: pytest.fail("trained"))
    assert measured_mistakes(study, "full", 3) is None
