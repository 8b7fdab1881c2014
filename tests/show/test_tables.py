"""Tables of retrieval: our numbers, reported ones for their dataset alone, and depths that were not measured."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lib.analysis.breakdowns import DIFFERENCES
from lib.metrics.frame import HEADLINE, Metrics, best
from lib.show.tables import (
    FORMS,
    TABLES,
    as_table,
    budget_table,
    given_table,
    pool_table,
    reported_runs,
    results_table,
    sizes_finding,
)
from lib.words import StudyError
from tests.made import make_study, values

RUNS = (("dense", "standard", 0.5), ("page_scorer", "standard", 0.7), ("dense", "oracle-page", 1.0))
REPORTED = "Reported: document / page / BLEU / ROUGE-L"
AGREEMENT = ["metric", "n", "spearman", "mean_gap", "farthest", "spearman_without"]
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


def test_agreement_names_the_method_that_is_farthest_and_every_table_known_forms():
    found = pd.DataFrame([("page_recall", 11, 0.664, -0.086, "parent_child", 0.927)], columns=AGREEMENT)
    assert as_table(found, "agreement").iloc[0].tolist() == ["Page recall", "0.66", "-0.09", "Parent-child", "0.93", 11]
    cells = [given for columns in TABLES.values() for given in columns.values()]
    assert {given[0] for given in cells if isinstance(given, list)} == set(FORMS)


def test_a_heading_is_filled_in_and_a_cell_has_its_form():
    found = pd.DataFrame([("10-K", 12, 0.25, 0.1, 0.4, 0.012, True)], columns=DIFFERENCES)
    shown = as_table(found.assign(run="Ahead"), "differences", head="Filing type", first="Dense")
    row = {"Filing type": "10-K", "Run": "Ahead", "n": 12, "Difference from Dense": "0.25 [0.10, 0.40]"}
    assert shown.iloc[0].to_dict() == row | {"p (Holm)": "0.012", "Distinguishable": "yes"}


def test_a_pool_s_losses_are_misses_and_inversions():
    gold = pd.DataFrame({"question_id": ["q"], "doc_name": ["D"], "gold_pages": [[0, 1, 2, 3]]})
    run = pd.DataFrame({"question_id": "q", "rank": [1, 2, 20, 21], "doc_name": "D", "page": range(4)})
    searched = study("demo")
    searched.questions, searched.run = gold, {"dense": run}.get
    row = pool_table(searched, METRICS, ["rerank"], 5).iloc[0]
    assert row.tolist() == ["Dense + reranker", "0.25", "0.75", "0.50", "0.25", "0.25"]


@pytest.mark.parametrize("read", [lambda k: METRICS.at_depth(k), lambda k: METRICS["dense", "page_recall", k]])
def test_a_depth_that_was_not_measured_is_one_clear_sentence(read):
    with pytest.raises(StudyError, match="nothing was measured at k = 7: choose one of 5, 20, or add 7"):
        read(7)


def test_the_best_needs_something_to_choose_from_and_ties_go_to_the_first_name():
    tied = SUMMARY.assign(mean=0.5)
    assert best(tied)["method"] == "dense"
    with pytest.raises(StudyError, match="no method has page_recall under oracle-document"):
        best(tied, condition="oracle-document")


def test_rows_that_others_choose_now_and_then_are_named_with_their_shares():
    chosen = {"dense": 0.7, "bm25": 0.295, "hyde": 0.005}
    row = {"group": "Baselines", "n_rows": 3, "best": "dense", "mean": 0.31, "nested": 0.274, "gap": -0.036}
    shown = as_table(pd.DataFrame([row | {"chosen": chosen}]), "selection").iloc[0]
    assert shown["Chosen there"] == "Dense 70%; BM25 30%"
    assert (shown["Best row"], shown["Difference"]) == ("Dense", "-0.036")


def test_a_budget_that_a_method_s_lists_do_not_reach_is_a_dash():
    rows = [("fixed_128", 500, 0.2), ("dense", 500, 0.1), ("dense", 1000, 0.3)]
    curves = pd.DataFrame(rows, columns=["method", "budget", "mean"]).assign(metric="page_recall", low=0, high=1, n=2)
    shown = budget_table(curves).set_index("Method")
    assert shown.loc["Chunks of 128 tokens"].tolist() == ["0.20 [0.00, 1.00]", "–", 2]
    assert shown.loc["Dense", "1,000 tokens"] == "0.30 [0.00, 1.00]"


def test_the_order_of_sizes_changes_where_other_rows_lead():
    questions = pd.DataFrame({"question_id": ["q1", "q2"], "company": ["Acme", "Bolt"]})
    few = pd.DataFrame({"fixed_128": [0, 0.5], "dense": [0.5, 1]}, index=["q1", "q2"])
    study, much = make_study(questions=questions), few.rename(columns={"fixed_128": "dense", "dense": "fixed_128"})
    said = sizes_finding(study, {"by chunks": few, "by tokens": much[["fixed_128", "dense"]]})
    assert said.startswith("The order changes: by chunks it is Dense 0.75, Chunks of 128 tokens 0.25 (Chunks of 128")
    assert "less Dense: -0.50 [" in said
    assert said.count("less Dense: 0.50 [") == 1
    assert sizes_finding(study, {"by chunks": few, "by tokens": few}).startswith("The order stays")
    assert sizes_finding(study, {"by chunks": few[["dense"]]}) == "Too few sizes of chunks are measured here."
