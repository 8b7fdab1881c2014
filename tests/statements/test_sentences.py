"""Amounts that a page states in sentences, and questions that ask for two figures."""

import pytest

from lib.statements.sentences import stated_in
from lib.statements.several import questions_in
from tests.statements.conftest import norvane

INCOME = """NORVANE
CONSOLIDATED STATEMENTS OF INCOME
(in millions)
Years ended December 31, 2023
2022
Revenue
4,210
3,980
Research and development
310
290
"""


@pytest.mark.parametrize(
    ("sentence", "amounts"),
    [
        ("Advertising costs were $5 million, $6 million and $7 million in 2021, 2022 and 2023, respectively.",
         [(2021, 5e6), (2022, 6e6), (2023, 7e6)]),
        ("During 2023 and 2022 the fair value of awards that vested was $25.5 million and $19 million.",
         [(2023, 25.5e6), (2022, 19e6)]),
        ("Rental expense of our operating leases was $2.2 billion in 2023 and $1.4 billion in 2022.",
         [(2023, 2.2e9), (2022, 1.4e9)]),
        ("As of January 24, 2024, there were 2,357 shareholders of record of our stock.", [(2024, 2357)]),
        ("We expect to spend approximately $40 million on the new plant near Oslo.", [(2023, 40e6)]),
        ("Our lease of the plant expires in 2031 and has options to extend it by years.", []),
        ("See Note 12 of the statements and Item 7 of this report for more about it.", []),
    ],
)  # fmt: skip
def test_amounts_of_a_sentence_have_their_years(sentence, amounts):
    scale = {"": 1, "million": 1e6, "billion": 1e9}
    found = stated_in(sentence, 2023)
    assert [(one.column.year, round(one.value * scale[one.money.unit])) for one in found] == amounts


def test_a_sentence_is_read_where_no_table_has_the_figure_and_is_never_sure():
    text = f"{INCOME}Advertising and other promotional costs were $12 million in 2022 and $15 million in 2023.\n"
    found = norvane("How much were Norvane's advertising and other promotional costs in 2023?", text)
    assert found.result.text == "$15 (in millions)"
    assert not found.is_sure
    assert "sentence" in "; ".join(found.vetoes)
    assert norvane("What was Norvane's revenue in 2023?", text).is_sure


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("How much was Norvane's revenue in 2023 and by what percentage did it change on 2022?",
         ["How much was Norvane's revenue in 2023?",
          "In 2023, by what percentage did revenue change on 2022 at Norvane?"]),
        ("What was Norvane's revenue in the second quarter of 2023, and what was its net income?",
         ["What was Norvane's revenue in the second quarter of 2023?",
          "In the second quarter of 2023, what was its net income at Norvane?"]),
        ("What was Norvane's revenue in 2023?", ["What was Norvane's revenue in 2023?"]),
        ("How many plants closed and what did the court say?", ["How many plants closed and what did the court say?"]),
    ],
)  # fmt: skip
def test_two_questions_are_taken_apart_where_each_stands_alone(question, parts):
    assert questions_in(question, ["Norvane"]) == parts


def test_both_answers_are_given_and_only_where_both_are_sure():
    question = "How much did Norvane spend on R&D in 2023, and by what percentage did that change on 2022?"
    found = norvane(question, INCOME)
    assert (found.result.text, found.vetoes) == ("310 (in millions) and 6.90%", ())
    assert found.is_sure
    above = "What was Norvane's revenue in 2023, and by how many percent was it above or below that of 2022?"
    assert norvane(above, INCOME).result.text.endswith(" and 5.78%")
    assert not norvane(question.replace("R&D", "dividends"), INCOME).is_sure
