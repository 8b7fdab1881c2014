"""What a page is and what a question wants, by phrases; what is asked apart from how."""

import numpy as np
import pytest

from lib.ahead.asking import core_question, queries
from lib.ahead.page_kinds import STATEMENTS, PhraseCounter, kinds, page_strengths, question_wants, stems
from lib.ahead.terms import terms, topic_terms

from .conftest import BALANCE, CASH, INCOME, LEGAL


def test_phrases_are_counted_by_stems_and_whole_words():
    counter = PhraseCounter([["dividends paid", "net sales"], ["sale"]])
    assert counter.counts(stems("Dividend paid. Net-sales, wholesale sales.")) == {
        (0, 0): 1,
        (0, 1): 1,
        (1, 0): 2,
    }


def test_each_statement_is_strongest_in_its_own_kind():
    titles, items = page_strengths([BALANCE, INCOME, CASH, LEGAL, ""])
    columns = [list(kinds()).index(name) for name in STATEMENTS]
    strength = 3 * titles[:, columns] + items[:, columns]
    assert np.array_equal(strength[:3].argmax(axis=0), [0, 1, 2])
    assert np.array_equal(strength[:3].argmax(axis=1), [0, 1, 2])
    assert not titles[4].any()
    assert not items[4].any()


def wants(question):
    asked, implied = question_wants([question])
    return {
        name
        for name, a, i in zip(kinds(), asked[0], implied[0], strict=True)
        if (a or i) and name in STATEMENTS
    }


@pytest.mark.parametrize(
    ("question", "statements"),
    [
        ("What is the quick ratio?", {"balance"}),
        ("What is capex as a share of cash from operations?", {"cashflow"}),
        ("Using the balance sheet, what is the inventory turnover?", {"balance"}),
        (
            "From the P&L statement and the statement of cash flows: the EBITDA margin?",
            {"income", "cashflow"},
        ),
        ("Who chairs the board?", set()),
    ],
)
def test_statements_that_a_question_wants(question, statements):
    assert wants(question) == statements


def test_instructions_are_left_out_of_the_core():
    question = "Assume that you are an analyst. What is Oskarvale's net PP&E? Answer in USD billions."
    assert core_question(question) == "What is Oskarvale's net PP&E?"
    assert (
        core_question("Here is it: what did Foo Inc. Ltd. sell in U.S. Dollars?")
        == "what did Foo Inc. Ltd. sell in U.S. Dollars?"
    )
    assert core_question("Tell me about dividends.") == "Tell me about dividends."
    assert core_question("") == ""


def test_expanded_queries_name_the_statements_and_keep_definitions():
    asked = queries(["What is the CCC? CCC is defined as: DIO + DSO - DPO. Round it."])
    assert asked["expanded"] == [
        "What is the CCC? CCC is defined as: DIO + DSO - DPO. balance sheet statements of income"
    ]


def test_topic_terms_leave_out_company_years_and_stop_words():
    assert topic_terms("What did Oskarvale's dividends cost in FY2021?", ["Oskarvale plc"]) == terms(
        "dividends cost"
    )
