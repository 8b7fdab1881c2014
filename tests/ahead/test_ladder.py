"""The ladder's steps: each reads more than the one before, and the last is the method."""

from itertools import pairwise

import pandas as pd

from lib.ahead import ladder, ranker
from lib.ahead.views import pool_of


def test_every_step_reads_more_features_than_the_one_before(study):
    table = pool_of(study, ["What are total assets?"], has_kinds=True).table
    read = [set(ranker.columns_of(rung.variant, table)) for rung in ladder.LADDER[1:]]
    assert all(fewer < more for fewer, more in pairwise(read))
    assert read[-1] == set(table)


def test_without_folds_the_ladder_is_the_untrained_step(study, monkeypatch):
    monkeypatch.setattr(type(study), "inputs_digest", lambda *_: "of no method")
    metrics = ladder.ladder_metrics(study)
    assert set(metrics["metric"]) == {"rung_doc_recall/untrained", "rung_page_recall/untrained"}
    assert len(metrics) == 2 * len(study.questions)


def test_steps_are_means_over_the_seeds_and_the_last_is_shown_by_seed(study, monkeypatch):
    def recalls(study, variant, seed, *, k):
        found = study.questions[["question_id"]].assign(doc_recall=1.0)
        return found.assign(page_recall=float(seed == 13))

    monkeypatch.setattr(ladder, "nested_recalls", recalls)
    monkeypatch.setattr(ladder, "scored_by", lambda _: "folds")
    found: pd.Series = ladder.ladder_metrics(study).groupby("metric")["value"].mean()
    assert found["rung_page_recall/untrained"] == 1
    assert round(found["rung_page_recall/kinds"], 3) == 0.333
    assert [found[f"rung_page_recall/whole_{seed}"] for seed in (13, 14, 15)] == [1, 0, 0]
