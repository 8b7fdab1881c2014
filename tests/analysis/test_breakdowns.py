"""Recall by groups of questions; how a question names whom it means."""

import numpy as np
import pandas as pd

from lib.analysis import breakdowns
from lib.analysis.breakdowns import NAMED, Seen, by_group, group_interval
from lib.metrics.frame import Metrics
from lib.stats import Resampling, wilson
from tests.analysis.conftest import NUMBERED as IDS
from tests.made import make_study, values

COMPANY = [f"company {i % 8}" for i in range(30)] + ["one company"] * 10


def test_a_large_group_has_the_bootstrap_s_interval_and_a_small_one_a_wider():
    draws, ones = Resampling(pd.Series(COMPANY, IDS), 200, 0), pd.Series(1.0, IDS)
    half = ones[:30] * (np.arange(30) % 2)
    assert group_interval(draws, half) == (draws.interval(half), False)
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


def test_gains_within_groups_are_of_the_same_questions_and_a_small_group_has_none():
    draws = Resampling(pd.Series(COMPANY, IDS), 2000, 0)
    before, after = pd.Series([0.0] * 20 + [1.0] * 20, IDS), pd.Series(1.0, IDS)
    labels = pd.DataFrame({"kind": ["a"] * 15 + ["b"] * 15 + ["c"] * 10}, IDS)
    groups = pd.DataFrame({"group": ["a", "b", "c"], "metric": "page_recall", "mean": [0, 2 / 3, 1]})
    groups = groups.assign(low=0.0, high=1.0, is_small=[False, False, True])
    found = breakdowns.group_gains(draws, groups, after, before, labels).set_index("group")
    assert found["difference"].round(9).tolist()[:2] == [1, 0.333333333]
    assert found.loc[["a", "b"], "verdict"].tolist() == ["gain", "likely gain"]
    assert found.loc["c", ["difference", "verdict"]].isna().all()


def test_questions_are_sorted_by_what_they_name():
    texts = ["3M in Q2'23?", "3M, sales of 2000 stores?", "Margin in FY95?", "Margin?"]
    asked = pd.DataFrame({"question_id": list("abcd"), "question": texts, "company": "3M"})
    assert breakdowns.named(make_study(questions=asked))["named"].tolist() == list(NAMED)


def test_a_question_is_in_one_group_of_each_kind_and_names_nothing_where_its_words_are_not_here():
    asked = {"question_id": "q", "question": "3M in 2022?", "company": "3M", "question_type": "novel"}
    asked = pd.DataFrame([asked | {"doc_type": "10-K", "gold_pages": [3, 4]}])
    labels = breakdowns.kinds_of_questions(make_study(questions=asked))
    assert labels.loc["q"].tolist() == ["type: novel", "form: 10-K", "names: company and year", "gold pages: 2 or more"]
    without = make_study(questions=asked.drop(columns="question"))
    assert [*breakdowns.kinds_of_questions(without)] == ["type", "form", "gold pages"]
