"""Tables of retrieval: our numbers, reported ones for their dataset alone, and depths that were not measured."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lib.analysis.breakdowns import DIFFERENCES
from lib.metrics.frame import HEADLINE, Metrics, best
from lib.show.tables import FORMS, TABLES, as_table, given_table, reported_runs, results_table
from lib.words import StudyError
from tests.made import values

RUNS = (("dense", "standard", 0.5), ("page_scorer", "standard", 0.7), ("dense", "oracle-page", 1.0))
REPORTED = "Reported: document / page / BLEU / ROUGE-L"
SUMMARY = pd.DataFrame(
    [(method, where, metric, 5, mean, 0.25, 1.0, 150) for method, where, mean in RUNS for metric in HEADLINE],
    columns=["method", "condition", "metric", "k", "mean", "low", "high", "n"],
)
VALUES = [("dense", 5, 0.25), ("dense", 20, 0.75), ("rerank", 5, 0.5)]
METRICS = Metrics(pd.concat(values(["q"], [value], "page_recall", k, method) for method, k, value in VALUES))


def study(name: str) -> SimpleNamespace:
    settings = SimpleNamespace(rerank=SimpleNamespace(n=20))
    return SimpleNamespace(dataset=SimpleNamespace(name=name), profile=settings)


def test_reported_figures_stand_beside_ours_for_their_dataset_alone():
    table = results_table(study("financebench"), SUMMARY, "standard", ["dense", "page_scorer"])
    assert table["Document recall"].tolist() == ["0.50 [0.25, 1.00]", "0.70 [0.25, 1.00]"]
    assert table[REPORTED].tolist() == ["0.88 / 0.34 / 0.26 / 0.35", "–"]
    assert REPORTED not in results_table(study("demo"), SUMMARY, "standard", ["dense"])
    assert reported_runs("page-questions") == {}
    known = reported_runs("financebench")
    assert known["page_scorer_filing", "standard"]["page_recall"] == 0.55
    assert ("page_scorer", "standard") not in known
    assert known["dense", "oracle-document"]["ctx_bleu"] == 0.25
    assert [method for method, condition in known if condition != "standard"] == ["dense", "dense"]
    assert len(known) == 11 + 2


def test_page_recall_is_shown_under_the_conditions_that_were_summarised():
    table = given_table(study("financebench"), SUMMARY, ["dense"])
    assert table["Page recall, all filings"].tolist() == ["0.50 [0.25, 1.00]"]
    assert table["Page recall, pages given"].tolist() == ["1.00 [0.25, 1.00]"]
    assert "Page recall, filing given" not in table


def test_every_table_has_known_forms():
    cells = [given for columns in TABLES.values() for given in columns.values()]
    assert {given[0] for given in cells if isinstance(given, list)} == set(FORMS)


def test_a_heading_is_filled_in_and_a_cell_has_its_form():
    found = pd.DataFrame([("10-K", 12, 0.25, 0.1, 0.4, 0.012, True)], columns=DIFFERENCES)
    shown = as_table(found.assign(run="Ahead"), "differences", head="Filing type", first="Dense")
    row = {"Filing type": "10-K", "Run": "Ahead", "n": 12, "Difference from Dense": "0.25 [0.10, 0.40]"}
    assert shown.iloc[0].to_dict() == row | {"p (Holm)": "0.012", "Distinguishable": "yes"}


@pytest.mark.parametrize("read", [lambda k: METRICS.at_depth(k), lambda k: METRICS["dense", "page_recall", k]])
def test_a_depth_that_was_not_measured_is_one_clear_sentence(read):
    with pytest.raises(StudyError, match="nothing was measured at k = 7: choose one of 5, 20, or add 7"):
        read(7)


def test_the_best_needs_something_to_choose_from_and_ties_go_to_the_first_name():
    tied = SUMMARY.assign(mean=0.5)
    assert best(tied)["method"] == "dense"
    with pytest.raises(StudyError, match="no method has page_recall under oracle-document"):
        best(tied, condition="oracle-document")
