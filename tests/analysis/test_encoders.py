import pandas as pd
import pytest

from lib.analysis import encoders
from lib.analysis.unseen import ENCODED, better_encoder
from lib.data.locate import UNSEEN
from lib.evaluation import SUMMARY_FILE
from lib.published import Published
from lib.studies import open_study


@pytest.fixture(autouse=True)
def without_filings(monkeypatch):
    monkeypatch.delenv("RETRIEVAL_GAP_DATA", raising=False)


def test_without_runs_of_both_encoders_no_change_is_drawn():
    moved = pd.DataFrame(columns=["set", "method", "condition", "searched"])
    assert encoders.drawn_changes(moved) == {}
    assert encoders.counted(moved) == dict.fromkeys(["runs", "more", "likely_more", "fewer", "likely_fewer"], 0)


def test_the_better_encoder_on_unseen_companies_is_that_of_the_published_runs(tmp_path):
    study = open_study(UNSEEN, artifacts=tmp_path, say=lambda line: None)
    found = better_encoder(study)
    assert found.index.tolist() == [*ENCODED]
    for profile, column in (("default", "reference_mean"), ("base", "mean")):
        summary = pd.read_csv(Published.of(UNSEEN, profile).file(SUMMARY_FILE))
        is_wanted = (summary["metric"] == "page_recall") & (summary["condition"] == "standard") & (summary["k"] == 5)
        means = summary[is_wanted].set_index("method")["mean"]
        assert found[column].tolist() == pytest.approx(means[[*ENCODED]].tolist(), abs=1e-6)
    better = open_study(UNSEEN, "base", artifacts=tmp_path, say=lambda line: None)
    assert better_encoder(better) is None, "it is the study's own encoder"
