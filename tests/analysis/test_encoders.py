"""Published sets as they were read and measured: both encoders on unseen companies, and what was read of misses."""

import pandas as pd
import pytest

from lib.analysis import encoders, unseen
from lib.analysis.unseen import ENCODED, better_encoder
from lib.data.locate import UNSEEN
from lib.evaluation import SUMMARY_FILE
from lib.frames import read_csv
from lib.metrics.frame import Metrics
from lib.published import Published
from lib.studies import open_study


def test_without_runs_of_both_encoders_no_change_is_drawn():
    moved = pd.DataFrame(columns=["set", "method", "condition", "searched"])
    assert encoders.drawn_changes(moved) == {}
    assert {*encoders.counted(moved).values()} == {0}


def test_the_better_encoder_on_unseen_companies_is_that_of_the_published_runs(tmp_path, monkeypatch):
    monkeypatch.delenv("RETRIEVAL_GAP_DATA", raising=False)
    found = better_encoder(open_study(UNSEEN, artifacts=tmp_path, say=lambda line: None))
    assert found.index.tolist() == [*ENCODED]
    for profile, column in (("default", "reference_mean"), ("base", "mean")):
        summary = pd.read_csv(Published.of(UNSEEN, profile).file(SUMMARY_FILE))
        is_wanted = (summary["metric"] == "page_recall") & (summary["condition"] == "standard") & (summary["k"] == 5)
        means = summary[is_wanted].set_index("method")["mean"]
        assert found[column].tolist() == pytest.approx(means[[*ENCODED]].tolist(), abs=1e-6)
    better = open_study(UNSEEN, "base", artifacts=tmp_path, say=lambda line: None)
    assert better_encoder(better) is None, "it is the study's own encoder"


def test_every_question_of_unseen_companies_that_ahead_misses_was_read_and_no_other():
    recall = Metrics(Published.of(UNSEEN, "default").metrics)["ahead", "page_recall", 5]
    read = read_csv(unseen.MISSED)
    assert set(read["question_id"]) == set(recall.index[recall < 1])
    assert set(read["kind"]) <= {*unseen.KINDS}
    before = read_csv(unseen.MISSED.with_name(f"{unseen.BEFORE}.csv"))
    assert set(before["question_id"]) == set(recall.index)
    assert before["page_recall"].between(0, 1).all()
