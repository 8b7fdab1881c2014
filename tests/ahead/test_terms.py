"""What is asked, without instructions, and terms, without company and period."""

import pytest

from lib.ahead.kinds import expanded
from lib.ahead.terms import core, pairs, terms, topic

CCC = "What is the CCC? CCC is defined as: DIO + DSO - DPO."


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Assume you are an analyst. What is Oskarvale's net PP&E? Answer in USD.", "What is Oskarvale's net PP&E?"),
        ("Here it is: what did Foo Inc. Ltd. sell in U.S. Dollars?", "what did Foo Inc. Ltd. sell in U.S. Dollars?"),
        ("Tell me about dividends.", "Tell me about dividends."),
        ("", ""),
    ],
)  # fmt: skip
def test_instructions_are_left_out_of_the_core(question, asked):
    assert core(question) == asked


def test_expanded_questions_name_the_statements_and_keep_definitions():
    assert expanded(f"{CCC}  Round it.") == f"{CCC} balance sheet statements of income"


def test_terms_are_stems_without_stop_words_and_their_neighbours_are_pairs():
    found = terms("The dividends of 1,200 were acquired")
    assert found == ["dividend", "1200", "acquir"]
    assert terms("The dividends", {"dividends"}) == ["the"]
    assert pairs(found) == ["dividend 1200", "1200 acquir"]
    assert pairs(found[:1]) == []


def test_the_topic_leaves_out_names_and_years():
    asked = terms("What did Oskarvale's dividends cost in FY2021?")
    assert topic(asked, terms("Oskarvale plc")) == ["dividend", "cost"]
