"""The ladder's steps: each reads more than the one before, and the last is the method."""

from itertools import pairwise
from types import SimpleNamespace

import pandas as pd

from lib.ahead.views import VIEWS
from lib.analysis import ladder
from lib.profile import load_profile

STUDY = SimpleNamespace(questions=pd.DataFrame({"question_id": ["q1", "q2"]}), profile=load_profile("default"))


def recalls(study, variant, seed, *, k):
    return study.questions.assign(doc_recall=1.0, page_recall=float(seed == 13))


def test_every_step_reads_more_features_than_the_one_before():
    table = pd.DataFrame(columns=["plain", "page_rows", *VIEWS, "kinds_fit"])
    read = [set(rung.variant.columns(table)) for rung in ladder.LADDER]
    assert all(fewer < more for fewer, more in pairwise(read))
    assert read[0] == {"plain", "page_rows"}
    assert read[-1] == set(table)


def test_without_folds_the_ladder_is_the_untrained_step(monkeypatch):
    monkeypatch.setattr(ladder, "nested_recalls", recalls)
    monkeypatch.setattr(ladder, "scored_by", lambda _: "saved")
    metrics = ladder.ladder_metrics(STUDY)
    assert set(metrics["metric"]) == {"rung_doc_recall/untrained", "rung_page_recall/untrained"}
    assert len(metrics) == 2 * len(STUDY.questions)


def test_steps_are_means_over_the_seeds_and_the_last_is_shown_by_seed(monkeypatch):
    monkeypatch.setattr(ladder, "nested_recalls", recalls)
    monkeypatch.setattr(ladder, "scored_by", lambda _: "folds")
    found: pd.Series = ladder.ladder_metrics(STUDY).groupby("metric")["value"].mean()
    assert found["rung_page_recall/untrained"] == 1
    assert round(found["rung_page_recall/kinds"], 3) == 0.333
    assert [found[f"rung_page_recall/whole_{seed}"] for seed in (13, 14, 15)] == [1, 0, 0]
