"""Ahead step by step: rungs, variants by question set, and families of corrected tests."""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from lib.ahead.views import VIEWS
from lib.analysis import ladder
from lib.analysis.climb import climb
from lib.analysis.families import corrected, family_of, members
from lib.analysis.ladder import LADDER
from lib.methods import METHODS
from lib.profile import load_profile
from lib.stats import Resampling
from tests.analysis.conftest import COMPANY, DRAWS, NUMBERED, recalls_of, refuse
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
    read = [set(rung.variant.columns(views)) for rung in LADDER]
    assert all(fewer < more for fewer, more in pairwise(read))
    assert (read[0], read[-1]) == ({"plain", "page"}, set(views))


def test_steps_are_means_over_the_seeds_the_last_is_by_seed_and_without_folds_is_the_first(measured, monkeypatch):
    monkeypatch.setattr(ladder, "scored_by", lambda _: "folds")
    found = ladder.rung_recalls(STUDY)
    means = found["page_recall"].mean()
    assert [*means.index] == [*(rung.name for rung in LADDER), "whole_13", "whole_14", "whole_15"]
    assert (means["untrained"], means["statements"]) == (0, pytest.approx(2 / 3))
    assert means.filter(like="whole").tolist() == [0.25, 0.5, 0.5]
    monkeypatch.setattr(ladder, "scored_by", lambda _: "saved")
    assert [*ladder.rung_recalls(STUDY)["doc_recall"]] == ["untrained"]


def test_no_step_has_the_name_of_a_method():
    assert {rung.name for rung in LADDER}.isdisjoint(METHODS)


def test_what_needs_filings_that_are_not_here_is_left_out(monkeypatch):
    monkeypatch.setattr(ladder, "nested_recalls", refuse)  # neither stored nor published
    monkeypatch.setattr(ladder, "scored_by", lambda _: "folds")
    found = ladder.rung_recalls(STUDY)
    assert "kinds" not in found["page_recall"]
    assert ladder.variants(STUDY) == {}
    assert ladder.by_set(STUDY, {}, DRAWS).empty


def test_variants_are_trained_on_all_sets_and_on_each_alone_and_compared_by_set(measured):
    recalls = ladder.variants(STUDY)
    names = ("financebench", "page-questions", "narrative-questions")
    assert [*recalls] == [*ladder.MEASURED, ladder.FIRST, *(f"trained on {name} alone" for name in names)]
    draws = Resampling(pd.Series(dtype=object), 200, 1)
    found = ladder.by_set(STUDY, recalls, draws, 0.03).set_index(["variant", "set"])
    first = found.loc[(ladder.BASE, "financebench")]
    assert (first["mean"], first["n"], first["seeds"], first["verdict"]) == (0.0, 3, 1, "–")
    assert found.loc[(ladder.TRAINED, "financebench"), "difference"] == pytest.approx(2 / 3)
    kinds = found.xs(ladder.KINDS)
    assert kinds["reference"].tolist() == [ladder.TRAINED] * 2
    assert kinds["p_holm"].tolist() == [0.03, 1.0], "that of the ladder on the study's own set"
    without = found.loc[("trained, without words", "financebench")]
    assert (without["reference"], without["difference"], without["seeds"]) == (ladder.FIRST, -0.75, 1)
    views = ladder.by_view(found.reset_index()).set_index("view")
    assert views.index.tolist() == [*VIEWS, "encoder"]
    assert views.loc["words", ["financebench_difference", "page-questions_difference"]].tolist() == [-0.75, -0.75]


@pytest.mark.parametrize(
    ("form", "base", "family"),
    [
        ("kinds", "statements", "ladder"),
        ("dense_records", "dense", "matched"),
        ("contextual_hybrid_covers", "contextual_hybrid", "changes"),  # no baseline
        ("rerank_head_20", "dense", "akarsu2026"),
        ("rerank_head_50", "rerank_head_20", "changes"),  # not the row that it changes
        ("page_scorer_light_order_records", "dense_records", "rivals"),
        ("page_scorer_light_order_records", "page_scorer_light_order", "changes"),
    ],
)
def test_a_contrast_is_in_one_family(form, base, family):
    assert family_of(form, base) == family
    assert {family_of(*pair) for pair in members(family)} == {family}
    assert family == "changes" or (form, base) in members(family)


def test_a_single_contrast_has_the_p_of_its_whole_family():
    recalls, own = recalls_of(dense=0.5, dense_records=0.9, fixed_128=0.7, fixed_256=0.6, fixed_512=0.5), "fixed_256"
    sizes = {name: recalls[name] for name in recalls.filter(like="fixed")}
    table = DRAWS.compare(recalls["dense"], sizes)
    found = corrected(DRAWS, recalls, [("dense_records", "dense"), (own, "dense")])
    assert found[own, "dense"] == table.at[own, "p_holm"] > table.at[own, "p"]
    assert found["dense_records", "dense"] < found[own, "dense"]  # alone in its family
    assert corrected(DRAWS, recalls, []).empty


def test_a_step_has_the_p_of_the_ladder_which_begins_at_matched_dense_search():
    names = [rung.name for rung in LADDER[1:]]
    recalls = recalls_of(dense_records=0.2, **{name: 0.3 + 0.1 * place for place, name in enumerate(names)})
    below = dict(zip(names, map(recalls.get, recalls), strict=False))
    found = corrected(DRAWS, recalls, [("kinds", "statements")])
    assert found.tolist() == [DRAWS.compare(below, {name: recalls[name] for name in names}).at["kinds", "p_holm"]]


def test_each_step_of_the_climb_stands_beside_the_one_above_it():
    questions = pd.DataFrame({"question_id": NUMBERED, "company": COMPANY})
    study = make_study(200, home=Path("none"), published=None, questions=questions)
    parts = []
    for name, share, k in [("dense", 0.2, 5), ("dense_records", 0.8, 5), ("ahead", 0.9, 5), ("ahead", 1.0, 20)]:
        found = recalls_of(all=share)["all"]
        parts += [values(found.index, found, metric, k, name) for metric in ladder.RECALLS]
    measured = pd.concat(parts, ignore_index=True)
    rows = climb(study, measured)
    assert rows["method"].tolist() == ["dense", "dense_records", "ahead", "ahead"]
    assert rows["difference"].tolist()[1:] == pytest.approx([0.6, 0.1, 0.1])
    assert rows["p_holm"].isna().tolist() == [True, False, False, True], "to read more chunks cannot lose"
    strict = {"ahead": pd.DataFrame({"page_recall": 0.85, "doc_recall": 1.0}, index=NUMBERED)}
    assert climb(study, measured, strict)["page_recall"].tolist() == pytest.approx([0.2, 0.8, 0.85, 1.0])
    assert len(climb(study, pd.concat(parts[:2], ignore_index=True))) == 1
