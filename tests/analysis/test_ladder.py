"""The ladder's steps: each reads more than the one before, and the last is the method."""

from itertools import pairwise
from types import SimpleNamespace

import pandas as pd
import pytest

from lib.ahead.views import VIEWS
from lib.analysis import ladder
from lib.metrics.frame import long_frame
from lib.profile import load_profile

STUDY = SimpleNamespace(questions=pd.DataFrame({"question_id": ["q1", "q2"]}), profile=load_profile("default"))


def recalls(study, variant, seed, *, k):
    return study.questions.assign(doc_recall=1.0, page_recall=float(seed == 13))


def evaluated(study, method):
    """The method's own run finds half of the pages."""
    values = pd.DataFrame({"doc_recall": [1.0, 1.0], "page_recall": 0.5}, index=study.questions["question_id"])
    parts = [long_frame(values[name], name, 5) for name in values]
    return pd.concat(parts, ignore_index=True).assign(method=method, condition="standard")


def test_every_step_reads_more_features_than_the_one_before():
    table = pd.DataFrame(columns=["plain", "page_rows", *VIEWS, "kinds_fit"])
    read = [set(rung.variant.columns(table)) for rung in ladder.LADDER]
    assert all(fewer < more for fewer, more in pairwise(read))
    assert read[0] == {"plain", "page_rows"}
    assert read[-1] == set(table)


@pytest.mark.parametrize("scored_by", ["saved", "folds"])
def test_steps_are_means_over_the_seeds_the_last_is_shown_by_seed_and_without_folds_there_is_the_first_alone(
    monkeypatch, scored_by
):
    monkeypatch.setattr(ladder, "nested_recalls", recalls)
    monkeypatch.setattr(ladder, "evaluate", evaluated)
    monkeypatch.setattr(ladder, "scored_by", lambda _: scored_by)
    metrics = ladder.ladder_metrics(STUDY)
    found: pd.Series = metrics.groupby("metric")["value"].mean()
    assert found["rung_page_recall/untrained"] == 1
    if scored_by == "saved":
        assert set(found.index) == {"rung_doc_recall/untrained", "rung_page_recall/untrained"}
        assert len(metrics) == 2 * len(STUDY.questions)
    else:
        assert round(found["rung_page_recall/statements"], 3) == 0.333
        assert [found[f"rung_page_recall/whole_{seed}"] for seed in (13, 14, 15)] == [0.5, 0, 0]
