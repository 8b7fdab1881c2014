"""What a question asks without instructions, its terms, the kinds of pages that it needs, and pages in filings."""

import numpy as np
import pytest

from lib.ahead import kinds
from lib.ahead.kinds import PRIMARY, STATEMENTS, expanded, page_strengths, question_kinds
from lib.ahead.pool import FilingGroups
from lib.ahead.terms import core, pairs, terms, topic

from .conftest import BALANCE, CASH, INCOME, LEGAL


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Assume you are an analyst. What is Oskarvale's net PP&E? Answer in USD.", "What is Oskarvale's net PP&E?"),
        ("Here it is: what did Foo Inc. Ltd. sell in U.S. Dollars?", "what did Foo Inc. Ltd. sell in U.S. Dollars?"),
        ("Tell me about dividends.", "Tell me about dividends."),
        ("", ""),
    ],
)
def test_instructions_are_left_out_of_the_core(question, asked):
    assert core(question) == asked


def test_expanded_questions_name_the_statements_and_keep_definitions():
    asked = "What is the CCC? CCC is defined as: DIO + DSO - DPO."
    assert expanded(f"{asked}  Round it.") == f"{asked} balance sheet statements of income"


def test_terms_are_stems_without_stop_words_and_the_topic_is_without_names_and_years():
    found = terms("The dividends of 1,200 were acquired")
    assert found == ["dividend", "1200", "acquir"]
    assert terms("The dividends", {"dividends"}) == ["the"]
    assert pairs(found) == ["dividend 1200", "1200 acquir"]
    assert pairs(found[:1]) == []
    asked = terms("What did Oskarvale's dividends cost in FY2021?")
    assert topic(asked, terms("Oskarvale plc")) == ["dividend", "cost"]


def test_phrases_are_counted_by_stems_and_whole_words(monkeypatch):
    phrases = {"cash": {"some": ("dividends paid", "net sales")}, "income": {"some": ("sale",)}}
    monkeypatch.setattr(kinds, "kinds", lambda: phrases)
    counts = kinds.phrase_counts("Dividend paid. Net-sales, wholesale sales.", "some")
    assert counts == {(0, "dividends paid"): 1, (0, "net sales"): 1, (1, "sale"): 2}


def test_each_statement_is_one_of_the_first_kinds_and_strongest_in_its_own():
    assert tuple(kinds.kinds())[: len(STATEMENTS)] == STATEMENTS
    titles, items = page_strengths([BALANCE, INCOME, CASH, LEGAL, ""])
    strength = (3 * titles + items)[:3, PRIMARY]
    assert strength.argmax(axis=0).tolist() == strength.argmax(axis=1).tolist() == [0, 1, 2]
    assert not np.any([titles[4], items[4]])


@pytest.mark.parametrize(
    ("question", "statements"),
    [
        ("What is capex as a share of cash from operations?", {"cashflow"}),
        ("Using the balance sheet, what is the inventory turnover?", {"balance"}),
        ("From the P&L statement and the statement of cash flows: EBITDA margin?", {"income", "cashflow"}),
        ("Who chairs the board?", set()),
    ],
)
def test_kinds_that_a_question_needs(question, statements):
    [needed] = np.logical_or(*question_kinds([question]))[:, PRIMARY]
    assert set(np.array(STATEMENTS)[needed]) == statements


def test_pages_are_compared_within_their_filing():
    groups, values = FilingGroups(np.array([0, 0, 0, 1, 1])), np.array([[1.0, 3.0, 2.0, 5.0, 5.0]])
    assert groups.ranks(values).tolist() == [[2, 0, 1, 0, 1]]
    assert groups.best(values).tolist() == [[3, 3, 3, 5, 5]]
    deviation = np.std([1, 2, 3])
    assert np.allclose(groups.standing(values), [[-1 / deviation, 1 / deviation, 0, 0, 0]], atol=1e-4)
    assert groups.neighbours(values).tolist() == [[3, 2, 3, 5, 5]]
    assert FilingGroups(np.array([0, 1])).neighbours(np.array([[4.0, 7.0]])).tolist() == [[4, 4]]
