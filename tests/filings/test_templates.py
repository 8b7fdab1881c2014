"""Templates of questions: what is left of their words, who is whose twin, and what is published as a template."""

import numpy as np
import pandas as pd
import pytest

from lib.filings.identity import Identity
from lib.filings.templates import likeness, template_numbers, template_words, twins

ASKED = [  # of questions as FinanceBench has them
    ("AMAZON.COM, INC.", "What is Amazon's FY2017 days payable outstanding (DPO)?", "what is payable outstanding dpo"),
    ("WALMART", "What is FY2018 days payable outstanding (DPO) for Walmart?", "what is payable outstanding dpo for"),
    ("JPMorgan Chase & Co.", "Did JPM's interest income in USD millions rise in Q2?", "did interest income in rise"),
    ("Best Buy", "Which Best Buy categories did best in fiscal 2023?", "which categories did best in"),
    ("AMD", "Has AMD reported any legal battles as of May 2022?", "has reported any legal battles as of"),
]


@pytest.mark.parametrize(("name", "question", "left"), ASKED)
def test_names_periods_numbers_and_units_are_no_part_of_a_template(name, question, left):
    assert template_words(question, [name]) == set(left.split())


def test_twins_ask_the_same_of_another_company():
    names = [name for name, *_ in ASKED]
    questions = pd.DataFrame({"question": [text for _, text, _ in ASKED], "doc_name": names})
    identities = [Identity(2020, None, [], "10-K", name, name, (name,)) for name in names]
    assert np.argwhere(np.triu(twins(questions, identities), 1)).tolist() == [[0, 1]]


def test_every_two_of_a_template_are_twins_although_twins_form_a_chain():
    alike = likeness([{"a", "b", "c"}, {"b", "c", "d"}, {"c", "d", "e"}, set(), set()])
    assert alike[0].tolist() == [1, 0.5, 0.2, 0, 0]
    assert alike[3].tolist() == [0, 0, 0, 1, 0]
    numbers = template_numbers(alike)
    assert numbers[0] == 0
    assert len(set(numbers.tolist())) == 4
    assert numbers[0] != numbers[2]
    assert template_numbers(np.ones((1, 1))).tolist() == [0]
