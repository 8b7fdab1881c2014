"""Breakdowns: groups, intervals that a small group cannot fool, and how a question names whom it means."""

import numpy as np
import pandas as pd

from lib.analysis import breakdowns
from lib.analysis.breakdowns import NAMED, Seen, by_group, group_interval
from lib.metrics.frame import Metrics
from lib.stats import Resampling, wilson
from tests.made import make_study, values

N = 40
QUESTIONS = pd.DataFrame(
    {
        "question_id": [f"q{i}" for i in range(N)],
        "question": ["What is 3M's FY2018 capex?"] * N,
        "question_type": ["a"] * 30 + ["b"] * 10,
        "doc_name": ["A", "B"] * (N // 2),
        "doc_type": ["10-K"] * N,
        "company": [f"company {i % 8}" for i in range(30)] + ["one company"] * 10,
        "gold_pages": [[2 * i, 99][: 1 + i % 2] for i in range(N)],
    }
)
FILINGS = pd.DataFrame({"doc_name": ["A", "B"], "n_pages": [100, 100]})
STUDY = make_study(500, 1, questions=QUESTIONS, filings=FILINGS)
SEEN = [Seen("best_baseline", "dense"), Seen("oracle_document", "dense", "oracle-document")]


def metrics_of(**numbers: np.ndarray) -> Metrics:
    """Page recall at 5 of ``dense`` by condition, with ``_`` for ``-``."""
    asked, conditions = QUESTIONS["question_id"], {name: name.replace("_", "-") for name in numbers}
    return Metrics(
        pd.concat(values(asked, numbers[name], "page_recall", 5, "dense", conditions[name]) for name in numbers)
    )


METRICS = metrics_of(standard=np.arange(N) % 2.0, oracle_document=np.ones(N))
TYPES = QUESTIONS.set_index("question_id")["question_type"]


def test_questions_are_sorted_by_what_they_name():
    texts = ["3M in Q2'23?", "3M, sales of 2000 stores?", "Margin in FY95?", "Margin?"]
    asked = pd.DataFrame({"question_id": list("abcd"), "question": texts, "company": "3M"})
    assert breakdowns.named(make_study(questions=asked))["named"].tolist() == list(NAMED)


def test_a_large_group_has_the_bootstrap_s_interval_and_a_small_one_a_wider():
    draws = Resampling(QUESTIONS.set_index("question_id")["company"], 200, 0)
    ones = pd.Series(1.0, draws.company.index)
    large, is_small = group_interval(draws, ones[:30] * (np.arange(30) % 2))
    assert (large, is_small) == (draws.interval(ones[:30] * (np.arange(30) % 2)), False)
    assert np.allclose(group_interval(draws, ones[:30])[0][1:3], wilson(1, 30))
    small, is_small = group_interval(draws, ones[30:])
    assert (small.n_clusters, is_small) == (1, True)
    assert np.allclose((small.low, small.high), wilson(1, 10))


def test_groups_come_with_their_means_counts_and_marks():
    found = by_group(STUDY, METRICS, TYPES, SEEN, 5, ["page_recall"])
    assert found[["group", "entry", "mean", "n", "n_companies", "is_small"]].to_numpy().tolist() == [
        ["a", "best_baseline", 0.5, 30, 8, False],
        ["a", "oracle_document", 1.0, 30, 8, False],
        ["b", "best_baseline", 0.5, 10, 1, True],
        ["b", "oracle_document", 1.0, 10, 1, True],
    ]
