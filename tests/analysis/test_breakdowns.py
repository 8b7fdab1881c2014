"""Breakdowns: groups, intervals that a small group cannot fool, and how a question names whom it means."""

import numpy as np
import pandas as pd

from lib.analysis import breakdowns
from lib.analysis.breakdowns import NAMED, Seen, by_group, group_interval
from lib.metrics.frame import Metrics
from lib.stats import Resampling, wilson
from tests.made import make_study, values

IDS = pd.Index([f"q{i}" for i in range(40)])
COMPANY = [f"company {i % 8}" for i in range(30)] + ["one company"] * 10


def test_questions_are_sorted_by_what_they_name():
    texts = ["3M in Q2'23?", "3M, sales of 2000 stores?", "Margin in FY95?", "Margin?"]
    asked = pd.DataFrame({"question_id": list("abcd"), "question": texts, "company": "3M"})
    assert breakdowns.named(make_study(questions=asked))["named"].tolist() == list(NAMED)


def test_a_large_group_has_the_bootstrap_s_interval_and_a_small_one_a_wider():
    draws, ones = Resampling(pd.Series(COMPANY, IDS), 200, 0), pd.Series(1.0, IDS)
    half = ones[:30] * (np.arange(30) % 2)
    assert group_interval(draws, half) == (draws.interval(half), False)
    assert np.allclose(group_interval(draws, ones[:30])[0][1:3], wilson(1, 30))
    small, is_small = group_interval(draws, ones[30:])
    assert (small.n_clusters, is_small) == (1, True)
    assert np.allclose((small.low, small.high), wilson(1, 10))


def test_groups_come_with_their_means_counts_and_marks():
    study = make_study(50, 1, questions=pd.DataFrame({"question_id": IDS, "company": COMPANY}))
    numbers = {"standard": np.arange(40) % 2.0, "oracle-document": np.ones(40)}
    parts = [values(IDS, of, "page_recall", 5, "dense", condition) for condition, of in numbers.items()]
    seen, types = [Seen(name, "dense", name) for name in numbers], pd.Series(["a"] * 30 + ["b"] * 10, IDS)
    found = by_group(study, Metrics(pd.concat(parts)), types, seen, 5, ["page_recall"])
    assert found[["group", "entry", "mean", "n", "n_companies", "is_small"]].to_numpy().tolist() == [
        ["a", "standard", 0.5, 30, 8, False],
        ["a", "oracle-document", 1.0, 30, 8, False],
        ["b", "standard", 0.5, 10, 1, True],
        ["b", "oracle-document", 1.0, 10, 1, True],
    ]
