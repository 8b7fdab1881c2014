"""Evaluation mistakes: all are measured on the light page scorer, and chapters train no other."""

import pytest

from lib.analysis.mistakes import HONEST, MISTAKES, measure_light
from lib.analysis.page_scorer import measured_mistakes
from lib.page_scorer import trainer


def test_every_mistake_is_measured_beside_the_honest_run_and_without_the_command_no_other_scorer(
    make_study, monkeypatch
):
    study = make_study(epochs=1, n_folds=2)
    found = measure_light(study, k=3)
    assert list(found["mistake"].unique()) == list(MISTAKES)
    assert found["value"].between(0, 1).all()
    recall = found[found["metric"] == "page_recall"].groupby("mistake")["value"]
    assert recall.mean()["epoch"] >= recall.mean()[HONEST]  # the length is chosen on the test fold
    counted = recall.size().to_dict()
    assert counted.pop("page-zero") == 6  # the others have no gold page beside page 0
    assert set(counted.values()) == {12}
    monkeypatch.setattr(trainer, "train", lambda *_, **__: pytest.fail("trained"))
    assert measured_mistakes(study, "full", 3) is None
