"""The ladder's steps: each reads more than the one before, and the last is the method; variants by question set."""

from itertools import pairwise
from types import SimpleNamespace

import pandas as pd
import pytest

from lib.ahead.views import VIEWS
from lib.analysis import ladder
from lib.profile import load_profile
from lib.words import NeedsFilings
from tests.made import make_study, values

IDS = list("abcd")
STUDY = make_study(
    questions=pd.DataFrame({"question_id": IDS}),
    profile=load_profile("default").replaced({"significance.n_draws": 200}),
    dataset=SimpleNamespace(collection="financebench", name="financebench"),
)


@pytest.fixture
def measured(monkeypatch):
    """The untrained sum finds nothing; a trained ranker finds everything under the first seed and half of it later. The
    method's own run finds a quarter."""

    def recalls(study, variant, seed, sets=(), k=5):
        found = {"untrained": 0.0, "without words": 0.25}.get(variant.name, 1.0 if seed == 13 else 0.5)
        about = {"question_id": IDS, "set": ["financebench"] * 3 + ["page-questions"]}
        about |= {"question_type": list("xxyz"), "company": ["ash", "birch", "cedar", "ash"]}
        return pd.DataFrame(about | {"doc_recall": 1.0, "page_recall": found})

    own = pd.concat(values(IDS, [0.25] * 4, name, 5, "ahead") for name in ladder.RECALLS)
    monkeypatch.setattr(ladder, "nested_recalls", recalls)
    monkeypatch.setattr(ladder, "evaluate", lambda study, method: own)


def test_every_step_reads_more_features_than_the_one_before():
    table = pd.DataFrame(columns=["plain", "page_rows", *VIEWS, "kinds_fit"])
    read = [set(rung.variant.columns(table)) for rung in ladder.LADDER]
    assert all(fewer < more for fewer, more in pairwise(read))
    assert (read[0], read[-1]) == ({"plain", "page_rows"}, set(table))


def test_steps_are_means_over_the_seeds_the_last_is_shown_by_seed_and_without_folds_there_is_the_first_alone(
    measured, monkeypatch
):
    monkeypatch.setattr(ladder, "scored_by", lambda _: "folds")
    found = ladder.ladder_metrics(STUDY).groupby("metric")["value"].mean()
    assert found["rung_page_recall/untrained"] == 0
    assert found["rung_page_recall/statements"] == pytest.approx(2 / 3)
    assert [found[f"rung_page_recall/whole_{seed}"] for seed in (13, 14, 15)] == [0.25, 0.5, 0.5]
    monkeypatch.setattr(ladder, "scored_by", lambda _: "saved")
    assert set(ladder.ladder_metrics(STUDY)["metric"]) == {f"rung_{metric}/untrained" for metric in ladder.RECALLS}


def test_variants_are_trained_on_all_sets_and_on_each_alone_and_what_is_not_known_is_left_out(measured, monkeypatch):
    found = ladder.variants(STUDY)
    assert [*found] == [*ladder.MEASURED, *(f"trained on {name} alone" for name in ("financebench", "page-questions"))]
    assert found[ladder.TRAINED].loc["d", ["set", "page_recall"]].tolist() == ["page-questions", pytest.approx(2 / 3)]

    def refuse(*_):
        raise NeedsFilings("no filings")

    monkeypatch.setattr(ladder, "nested_recalls", refuse)  # neither stored nor published
    assert ladder.variants(STUDY) == {}
