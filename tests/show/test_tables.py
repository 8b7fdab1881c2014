"""Reported numbers for their dataset alone, the best of several rows, and depths that were not measured."""

import pandas as pd
import pytest

from lib.metrics.frame import HEADLINE, Metrics, best
from lib.show.tables import reported_runs
from lib.words import StudyError
from tests.made import values

RUNS = (("dense", "standard", 0.5), ("page_scorer", "standard", 0.7), ("dense", "oracle-page", 1.0))
SUMMARY = pd.DataFrame(
    [(method, where, metric, 5, mean, 0.25, 1.0, 150) for method, where, mean in RUNS for metric in HEADLINE],
    columns=["method", "condition", "metric", "k", "mean", "low", "high", "n"],
)
VALUES = [("dense", 5, 0.25), ("dense", 20, 0.75), ("rerank", 5, 0.5)]
METRICS = Metrics(pd.concat(values(["q"], [value], "page_recall", k, method) for method, k, value in VALUES))


def test_reported_figures_are_known_of_their_dataset_alone():
    assert reported_runs("page-questions") == {}
    known = reported_runs("financebench")
    assert known["page_scorer_filing", "standard"]["page_recall"] == 0.55
    assert ("page_scorer", "standard") not in known
    assert known["dense", "oracle-document"]["ctx_bleu"] == 0.25
    assert [method for method, condition in known if condition != "standard"] == ["dense", "dense"]
    assert len(known) == 11 + 2


@pytest.mark.parametrize("read", [lambda k: METRICS.at_depth(k), lambda k: METRICS["dense", "page_recall", k]])
def test_a_depth_that_was_not_measured_is_one_clear_sentence(read):
    with pytest.raises(StudyError, match="nothing was measured at k = 7: choose one of 5, 20, or add 7"):
        read(7)


def test_the_best_needs_something_to_choose_from_and_ties_go_to_the_first_name():
    tied = SUMMARY.assign(mean=0.5)
    assert best(tied)["method"] == "dense"
    with pytest.raises(StudyError, match="no method has page_recall under oracle-document"):
        best(tied, condition="oracle-document")
