"""Templates of questions: what is left of their words, who is whose twin, and what is published as a template."""

import numpy as np
import pandas as pd
import pytest

from lib.filings.identity import Identity
from lib.filings.templates import likeness, template_numbers, template_words, twins

ASKED = [  # of questions as FinanceBench has them
    ("AMAZON", "What is Amazon's FY2017 days payable outstanding (DPO)?", "days payable outstanding dpo"),
    ("WALMART", "What is FY2018 days payable outstanding (DPO) for Walmart?", "days payable outstanding dpo for"),
    ("JPMORGAN", "Did JPM's net interest income in USD millions rise in Q2 2023?", "did net interest income in rise"),
    ("BESTBUY", "Which Best Buy categories did best in fiscal 2023?", "which categories did best in"),
    ("AMD", "Has AMD reported any materially important legal battles as of May 2022?", ""),
]
NAMES = {"AMAZON": "AMAZON.COM, INC.", "JPMORGAN": "JPMorgan Chase & Co.", "BESTBUY": "Best Buy"}
IDENTITIES = [Identity(2020, None, [], "10-K", f"{name}_10K", name, (NAMES.get(name, name),)) for name, *_ in ASKED]


@pytest.mark.parametrize(("name", "question", "left"), ASKED[:4])
def test_names_periods_numbers_and_units_are_no_part_of_a_template(name, question, left):
    words = template_words(question, [NAMES.get(name, name)])
    assert words - {"what", "is", "days"} == set(left.split()) - {"days"}


def test_twins_ask_the_same_of_another_company():
    questions = pd.DataFrame(
        {"question": [text for _, text, _ in ASKED], "doc_name": [f"{name}_10K" for name, *_ in ASKED]}
    )
    found = twins(questions, IDENTITIES)
    assert np.argwhere(np.triu(found, 1)).tolist() == [[0, 1]]


def test_every_two_of_a_template_are_twins_although_twins_form_a_chain():
    alike = likeness([{"a", "b", "c"}, {"b", "c", "d"}, {"c", "d", "e"}, set(), set()])
    assert alike[0].tolist() == [1, 0.5, 0.2, 0, 0]
    assert alike[3].tolist() == [0, 0, 0, 1, 0]
    numbers = template_numbers(alike)
    assert numbers[0] == 0
    assert len(set(numbers.tolist())) == 4
    assert numbers[0] != numbers[2]
    assert template_numbers(np.ones((1, 1))).tolist() == [0]
