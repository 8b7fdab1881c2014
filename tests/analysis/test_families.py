"""Families of tests: every contrast is in one, and every table that shows it has the same p."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis.families import RUNG, corrected, family_of, members
from lib.analysis.ladder import LADDER
from lib.metrics.frame import Metrics
from lib.stats import Resampling
from tests.made import values

N = 40
IDS = pd.Index([f"q{number:02}" for number in range(N)], name="question_id")
DRAWS = Resampling(pd.Series([f"company {number % 20}" for number in range(N)], IDS), 500, 1)


def metrics_of(**shares: float) -> Metrics:
    """Page recall at 5: each row finds the pages of the first of the questions, a share of them."""
    parts = [values(IDS, np.arange(N) < share * N, "page_recall", 5, name) for name, share in shares.items()]
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
    rungs = {name: pd.Series(1.0 * (np.arange(N) < 12 + 4 * place), IDS) for place, name in enumerate(names)}
    frames = [values(IDS, one, f"{RUNG}{name}", 5, "ahead") for name, one in rungs.items()]
    metrics = metrics_of(dense_records=0.2) + Metrics(pd.concat(frames))
    below = dict(zip(names, [metrics["dense_records", "page_recall", 5], *rungs.values()], strict=False))
    found = corrected(DRAWS, metrics, [(f"{RUNG}kinds", f"{RUNG}statements")], 5)
    assert found.tolist() == [DRAWS.compare(below, rungs).at["kinds", "p_holm"]]
