"""Failures: what came instead of a missed gold page, and the rule that names it."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lib.analysis import failures
from lib.analysis.failures import KINDS, RULES, classify, examples, misses, page_kind, typology

NUMBERS = " ".join(f"1,{i:03d}" for i in range(30))
BALANCE = f"ACME Consolidated Balance Sheets 2018 2017 Total assets {NUMBERS}"
INCOME = f"ACME Consolidated Statements of Operations 2018 Net income {NUMBERS}"
SUMMARY = f"Item 6. Selected Financial Data {NUMBERS}"
PROSE = "We sell things in many countries and expect to go on."

TEXTS = {
    ("ACME_2018_10K", 0): PROSE,
    ("ACME_2018_10K", 1): SUMMARY,
    ("ACME_2018_10K", 5): BALANCE,
    ("ACME_2018_10K", 6): INCOME,
    ("ACME_2018_10K", 8): BALANCE,
    ("ACME_2018_10K", 9): PROSE,
    ("ACME_2017_10K", 5): BALANCE,
    ("ACME_2018_8K", 0): PROSE,
    ("OTHER_2018_10K", 5): BALANCE,
    ("OTHER_2018_10K", 0): PROSE,
}
FILINGS = pd.DataFrame(
    [
        ("ACME_2018_10K", "Acme", "10-K", 2018),
        ("ACME_2017_10K", "Acme", "10-K", 2017),
        ("ACME_2018_8K", "Acme", "8-K", 2018),
        ("OTHER_2018_10K", "Other", "10-K", 2018),
    ],
    columns=["doc_name", "company", "doc_type", "doc_period"],
)


def study_of(gold_pages: list[int]) -> SimpleNamespace:
    pages = pd.DataFrame(
        [(*place, text) for place, text in TEXTS.items()], columns=["doc_name", "page", "text"]
    )
    questions = pd.DataFrame(
        {"question_id": ["q"], "doc_name": ["ACME_2018_10K"], "gold_pages": [gold_pages]}
    )
    return SimpleNamespace(
        pages=pages, questions=questions, filings=FILINGS, memo=lambda key, compute: compute()
    )


def run_of(*places: tuple[str, int]) -> pd.DataFrame:
    rows = [("q", rank, *place) for rank, place in enumerate(places, 1)]
    return pd.DataFrame(rows, columns=["question_id", "rank", "doc_name", "page"])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (BALANCE, "balance sheet"),
        (INCOME, "income statement"),
        (f"Consolidated Statement of Cash Flow s Operating activities {NUMBERS}", "cash flow statement"),
        (SUMMARY, "summary"),
        (PROSE, "other"),
        ("Consolidated Balance Sheets Total assets 1,577 1,488", "other"),  # no table: two numbers
        ("Consolidated Balance Sheets Total assets " + "2018 " * 30, "other"),  # years are no numbers
        (f"{'Fair values are shown. ' * 20} consolidated balance sheets, total assets {NUMBERS}", "other"),
        (f"See the consolidated balance sheets for leases. {NUMBERS}", "other"),  # no line item
        ("", "other"),
    ],
)
def test_a_page_is_what_its_head_says_if_it_holds_a_table(text, kind):
    assert page_kind(text) == kind


@pytest.mark.parametrize(
    ("gold", "retrieved", "kind"),
    [
        ([5, 8], [("ACME_2018_10K", 8)], "other gold page only"),
        ([5], [("ACME_2018_10K", 0), ("ACME_2018_10K", 6)], "neighbour page"),
        ([5], [("OTHER_2018_10K", 0), ("ACME_2018_10K", 1)], "summary instead of statement"),
        ([5], [("ACME_2018_10K", 8)], "same statement elsewhere"),
        ([8], [("ACME_2018_10K", 6)], "other statement"),
        ([5], [("ACME_2018_10K", 0)], "text or note instead of statement"),
        ([0], [("ACME_2018_10K", 9)], "right filing, other part"),
        ([5], [("ACME_2017_10K", 5)], "wrong year"),
        ([5], [("ACME_2018_8K", 0)], "other type of filing"),
        ([5], [("OTHER_2018_10K", 5)], "same statement of another company"),
        ([5], [("OTHER_2018_10K", 0), ("OTHER_2018_10K", 5)], "other company"),
        ([5], [], "nothing retrieved"),
    ],
)
def test_each_kind_of_failure(gold, retrieved, kind):
    found = classify(study_of(gold), run_of(*retrieved), 5)
    assert found.loc[found["page"] == gold[0], "kind"].tolist() == [kind]
    assert set(found["step"]) == {failures.STEP_OF[kind]}


def test_gold_pages_in_the_top_k_are_no_failures_and_those_below_are():
    run = run_of(("OTHER_2018_10K", 0), ("ACME_2018_10K", 5))
    assert misses(run, study_of([5]).questions, 2).empty
    missed = misses(run, study_of([5]).questions, 1)
    assert missed[["page", "shown_doc", "shown_page"]].to_numpy().tolist() == [[5, "OTHER_2018_10K", 0]]


def test_a_page_that_is_gold_itself_is_shown_only_if_there_is_no_other():
    questions = study_of([5, 6]).questions
    assert misses(run_of(("ACME_2018_10K", 6), ("ACME_2018_10K", 0)), questions, 5)[
        "shown_page"
    ].tolist() == [0]
    assert misses(run_of(("ACME_2018_10K", 6)), questions, 5)["shown_page"].tolist() == [6]


def test_the_typology_lists_every_rule_and_counts_every_miss():
    found = classify(study_of([5, 6]), run_of(("ACME_2018_10K", 0)), 5)
    table = typology({"Dense": found, "BM25": found[:0]})
    assert table["kind"].tolist() == list(KINDS) == [rule.kind for rule in RULES]
    assert (table["Dense"].sum(), table["BM25"].sum()) == (2, 0)


def test_examples_are_of_different_kinds_and_companies_where_they_can():
    rows = [
        ("q1", "A_1", "x"),
        ("q2", "A_2", "x"),
        ("q3", "A_1", "y"),
        ("q4", "B_1", "y"),
        ("q5", "C_1", "nothing retrieved"),
    ]
    table = pd.DataFrame(rows, columns=["question_id", "doc_name", "kind"])
    assert examples(table, 3)["question_id"].tolist() == ["q1", "q4"]


def test_a_caption_states_question_kind_and_rule():
    miss = SimpleNamespace(question_id="q1", kind="wrong year")
    said = failures.caption(miss, "What is *net* $?")
    assert "\\*net\\*" in said
    assert said.endswith("*wrong year*: the company's filing of the same type for another period.")
