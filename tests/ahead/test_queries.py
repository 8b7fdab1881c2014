"""Variants of a question and terms: what is asked, without instructions, company and period."""

import pytest

from lib.ahead.queries import queries, terms, topic_terms

CCC = "What is the CCC? CCC is defined as: DIO + DSO - DPO."


@pytest.mark.parametrize(
    ("question", "core"),
    [
        ("Assume you are an analyst. What is Oskarvale's net PP&E? Answer in USD.", "What is Oskarvale's net PP&E?"),
        ("Here it is: what did Foo Inc. Ltd. sell in U.S. Dollars?", "what did Foo Inc. Ltd. sell in U.S. Dollars?"),
        ("Tell me about dividends.", "Tell me about dividends."),
        ("", ""),
    ],
)  # fmt: skip
def test_instructions_are_left_out_of_the_core(question, core):
    assert queries([question])["core"] == [core]


def test_expanded_queries_name_the_statements_and_keep_definitions():
    variants = queries([f"{CCC}  Round it."])
    assert variants["full"] == [f"{CCC} Round it."]
    assert variants["core"] == ["What is the CCC?"]
    assert variants["expanded"] == [f"{CCC} balance sheet statements of income"]


def test_topic_terms_leave_out_company_years_and_stop_words():
    question = "What did Oskarvale's dividends cost in FY2021?"
    assert topic_terms(question, ["Oskarvale plc"]) == terms("dividends cost") == ["dividend", "cost"]
