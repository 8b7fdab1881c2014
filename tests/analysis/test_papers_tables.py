"""The papers' tables here: cells of the right rows and questions, as shares, and sizes of the collection."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis import papers_tables as tables
from lib.metrics.frame import Metrics
from lib.stats import Resampling
from tests.analysis.conftest import refuse
from tests.made import make_study, values

IDS = [f"q{i}" for i in range(24)]
QUESTIONS = pd.DataFrame({"question_id": IDS, "company": [f"c{i % 8}" for i in range(24)]})
QUESTIONS["question_type"] = ["metrics-generated", "novel-generated"] * 12
QUESTIONS["doc_type"] = "10-K"


def test_cells_are_of_the_rows_and_kinds_that_are_reported_and_others_are_left_out():
    hits = np.arange(24) % 2.0  # of all novel questions and of no other
    metrics = [values(IDS, hits, "page_recall", 5, "page_scorer_filing"), values(IDS, hits, "right", None, "fixed_512")]
    metrics += [values(IDS, hits, "right", None, "dense", "oracle-page")]
    metrics += [values(IDS, hits, "ndcg", 10, "stacked_rerank")]
    study = make_study(200, questions=QUESTIONS, need_filings=refuse)
    found = tables.papers_tables(study, Metrics(pd.concat(metrics)))
    found = found.set_index(["table", "row", "measure"])[["reported", "mean", "n"]].T.to_dict("list")
    assert found == {
        ("Figure 3", "page_scorer", "P, metrics-generated"): [0.81, 0, 12],
        ("Figure 3", "page_scorer", "P, novel-generated"): [pytest.approx(np.nan, nan_ok=True), 1, 12],
        ("Table 4", "page_scorer", "P, 10-K"): [0.62, 0.5, 24],
        ("Table III", "oracle", "right numbers"): [0.35, 0.5, 24],
        ("Table 5", "base_512", "right numbers"): [pytest.approx(0.4823), 0.5, 24],
        ("Table 8", "FT_1.5B_voyage_rerank_2", "ndcg@10 of stacked_rerank"): [0.59898, 0.5, 24],
    }


def test_the_correlation_is_over_the_rows_and_each_mean_over_the_questions_that_have_it():
    recalls, right = [0.0, 0.25, 0.5, 1.0], [0.2, 0.3, 0.4, 0.6]  # on one line: r is 1
    parts = []
    for run, recall, share in zip(tables.READ.values(), recalls, right, strict=True):
        parts += [values(IDS, [recall] * 24, name, 5, *run) for name in ("doc_recall", "page_recall")]
        parts += [values(IDS[:12], [share] * 12, "right", None, *run)]
    study = make_study(200, questions=QUESTIONS)
    rows = tables.correlated(study, Metrics(pd.concat(parts)), Resampling.of(study))
    found = pd.DataFrame(rows, columns=tables.COLUMNS)
    assert found["mean"].tolist() == pytest.approx([1, 1])
    assert found[["reported", "low", "n"]].to_numpy().tolist() == [[0.99, pytest.approx(1), 4]] * 2


def test_sizes_stand_beside_both_papers_that_state_them():
    of = ["pages", "chunks", *(f"chunks {name}" for name in tables.CUT)]
    of += ["tokens of a question", "tokens of an answer"]
    sizes = pd.DataFrame({"of": of, "total": 100, "mean": 10.0, "sd": 2.0, "n": 10})
    found = pd.DataFrame(tables._of_corpus(sizes), columns=tables.COLUMNS)
    assert found.groupby("paper", sort=False).size().tolist() == [7, 3 * len(tables.CUT)]
    assert found["reported"].notna().all()
