"""The ladder's steps: each reads more than the one before, and the last is the method."""

from itertools import pairwise
from types import SimpleNamespace

import pandas as pd
import pytest

from lib.ahead.ranker import UNTRAINED, WHOLE
from lib.ahead.views import VIEWS
from lib.analysis import ladder
from lib.metrics.frame import long_frame
from lib.profile import load_profile
from lib.words import NeedsFilings
from tests.made import make_study

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


# --- variants by question set ---

SETS_OF = make_study(
    200,
    profile=load_profile("default").replaced({"significance.n_draws": 200}),
    dataset=SimpleNamespace(collection="financebench", name="financebench"),
)


@pytest.fixture
def measured(monkeypatch):
    """The untrained sum finds nothing; a trained ranker finds everything under the first seed and half of it later."""

    def recalls(study, variant, seed, sets):
        found = {"untrained": 0.0, "without words": 0.25}.get(variant.name, 1.0 if seed == 13 else 0.5)
        about = {"question_id": list("abcd"), "set": ["financebench"] * 3 + ["page-questions"]}
        about |= {"question_type": list("xxyz"), "company": ["ash", "birch", "cedar", "ash"]}
        return pd.DataFrame(about | {"doc_recall": 1.0, "page_recall": found})

    monkeypatch.setattr(ladder, "nested_recalls", recalls)


@pytest.mark.parametrize(("variant", "seeds", "mean"), [(WHOLE, [13, 14, 15], 2 / 3), (UNTRAINED, [13], 0)])
def test_recalls_are_means_over_the_seeds(measured, variant, seeds, mean):
    assert ladder.seeds_of(SETS_OF, variant) == seeds
    assert ladder.mean_recalls(SETS_OF, variant)["page_recall"].tolist() == pytest.approx([mean] * 4)


def test_rankers_are_compared_with_the_untrained_sum_and_ablations_with_the_whole_ranker(measured):
    found = ladder.by_set(SETS_OF).set_index(["variant", "set"])
    assert len(found) == 2 * (len(ladder.MEASURED) + 2)
    trained = found.loc[("trained on page-questions alone", "financebench")]
    assert trained[["n", "companies", "seeds"]].tolist() == [3, 3, 3]
    assert trained["difference"] == pytest.approx(2 / 3)
    assert pd.isna(found.loc[(ladder.BASE, "page-questions"), "difference"])
    ablation = found.loc[("trained, without words", "financebench")]
    assert ablation["reference"] == ladder.TRAINED
    assert ablation["difference"] == pytest.approx(0.25 - 2 / 3)
    assert ablation["p_holm"] >= ablation["p"]
    steps = pd.DataFrame({"title": [ladder.LADDER[-1].title], "p_holm": [0.0123]})
    again = ladder.by_set(SETS_OF, steps).set_index(["variant", "set"])["p_holm"]
    assert again[ladder.KINDS, "financebench"] == 0.0123  # a step of the ladder has its p, and no part in the family
    assert again[ladder.KINDS, "page-questions"] == found["p_holm"][ladder.KINDS, "page-questions"]


def test_what_is_neither_stored_nor_published_is_left_out(monkeypatch):
    def refuse(*_):
        raise NeedsFilings("no filings")

    monkeypatch.setattr(ladder, "nested_recalls", refuse)
    assert ladder.by_set(SETS_OF).empty
