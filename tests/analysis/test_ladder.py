"""The ladder: each step reads more than the one before; variants by question set; families of tests and their p."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.ahead.views import VIEWS
from lib.analysis import ladder
from lib.analysis.families import RUNG, corrected, family_of, members
from lib.analysis.ladder import LADDER
from lib.metrics.frame import Metrics
from lib.profile import load_profile
from lib.schema import NeedsFilings
from lib.stats import Resampling
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
    views = {name: [name] for name in ("plain", "page", *VIEWS, "kinds")}
    read = [set(rung.variant.columns(views)) for rung in ladder.LADDER]
    assert all(fewer < more for fewer, more in pairwise(read))
    assert (read[0], read[-1]) == ({"plain", "page"}, set(views))


def test_steps_are_means_over_the_seeds_the_last_is_by_seed_and_without_folds_is_the_first(measured, monkeypatch):
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


N = 40
NUMBERED = pd.Index([f"q{number:02}" for number in range(N)], name="question_id")
DRAWS = Resampling(pd.Series([f"company {number % 20}" for number in range(N)], NUMBERED), 500, 1)


def metrics_of(**shares: float) -> Metrics:
    """Page recall at 5: each row finds the pages of the first of the questions, a share of them."""
    parts = [values(NUMBERED, np.arange(N) < share * N, "page_recall", 5, name) for name, share in shares.items()]
    return Metrics(pd.concat(parts))


@pytest.mark.parametrize(
    ("form", "base", "family"),
    [
        (f"{RUNG}kinds", f"{RUNG}statements", "ladder"),
        ("dense_records", "dense", "matched"),
        ("contextual_hybrid_covers", "contextual_hybrid", "changes"),  # no baseline
        ("rerank_head_20", "dense", "akarsu2026"),
        ("rerank_head_50", "rerank_head_20", "changes"),  # not the row that it changes
        ("page_scorer_light_order_records", "dense_records", "rivals"),
        ("page_scorer_light_order_records", "page_scorer_light_order", "changes"),
        ("fixed_128", "dense", "yepes2024"),
    ],
)
def test_a_contrast_is_in_one_family(form, base, family):
    assert family_of(form, base) == family
    assert {family_of(*pair) for pair in members(family)} == {family}
    assert family == "changes" or (form, base) in members(family)


def test_a_single_contrast_has_the_p_of_its_whole_family():
    sizes, own = {"fixed_128": 0.7, "fixed_256": 0.6, "fixed_512": 0.5}, ("fixed_256", "dense")
    metrics = metrics_of(dense=0.5, dense_records=0.9, **sizes)
    recalls = {name: metrics[name, "page_recall", 5] for name in sizes}
    table = DRAWS.compare(metrics["dense", "page_recall", 5], recalls)
    found = corrected(DRAWS, metrics, [("dense_records", "dense"), own], 5)
    assert found[own] == table.at["fixed_256", "p_holm"] > table.at["fixed_256", "p"]
    assert found[("dense_records", "dense")] < found[own]  # alone in its family


def test_a_step_has_the_p_of_the_ladder_which_begins_at_matched_dense_search():
    names = [rung.name for rung in LADDER[1:]]
    rungs = {name: pd.Series(1.0 * (np.arange(N) < 12 + 4 * place), NUMBERED) for place, name in enumerate(names)}
    frames = [values(NUMBERED, one, f"{RUNG}{name}", 5, "ahead") for name, one in rungs.items()]
    metrics = metrics_of(dense_records=0.2) + Metrics(pd.concat(frames))
    below = dict(zip(names, [metrics["dense_records", "page_recall", 5], *rungs.values()], strict=False))
    found = corrected(DRAWS, metrics, [(f"{RUNG}kinds", f"{RUNG}statements")], 5)
    assert found.tolist() == [DRAWS.compare(below, rungs).at["kinds", "p_holm"]]


def test_steps_that_need_filings_are_no_rows(monkeypatch):
    def refuse(*_):
        raise NeedsFilings("no filings")

    monkeypatch.setattr(ladder, "ladder_metrics", refuse)
    found = Metrics(ladder.known_metrics(STUDY))
    assert found.frame.empty
    assert ("ahead", f"{RUNG}kinds", 5) not in found


def test_variants_are_compared_by_set_and_the_kinds_on_the_own_set_have_the_ladder_s_p(measured):
    recalls = ladder.variants(STUDY)
    draws = Resampling(pd.Series(dtype=object), 200, 1)
    found = ladder.by_set(STUDY, recalls, draws, 0.03).set_index(["variant", "set"])
    assert list(found.reset_index()) == ladder.BY_SET
    first = found.loc[(ladder.BASE, "financebench")]
    assert (first["mean"], first["n"], first["seeds"], first["verdict"]) == (0.0, 3, 1, "–")
    trained = found.loc[(ladder.TRAINED, "financebench")]
    assert trained["difference"] == pytest.approx(2 / 3)  # all under one seed, half under two, less nothing
    kinds = found.xs(ladder.KINDS)
    assert kinds.loc["financebench", "p_holm"] == 0.03
    assert kinds["reference"].tolist() == [ladder.TRAINED] * 2
    assert kinds.loc["page-questions", "p_holm"] == 1.0
    assert ladder.by_set(STUDY, {}, draws).empty
