"""Whether an answer concludes with the reference's figure, on answers one can read."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.metrics import right as m

MILLIONS = "What is the FY2018 capital expenditure amount (in USD millions) for Acme?"
BILLIONS = "What is the year end FY2018 net PPNE for Acme? Answer in USD billions."
DERIVED = "The ratio is assets over debt. Assets were $303 million, debt $404 million. So it is 303 / 404 = 0.75."


@pytest.mark.parametrize(
    ("answer", "question", "expected"),
    [
        ("$1577.00", MILLIONS, (1577, 1, 1e6, False, True)),  # zeros behind the point are no digits
        ("$8.70", BILLIONS, (8.7, 0.1, 1e9, False, True)),
        ("65.4%", None, (65.4, 0.1, 1, True, False)),
        ("-0.02", None, (-0.02, 0.01, 1, False, False)),
        ("$1.5 billion", MILLIONS, (1.5, 0.1, 1e9, False, True)),  # its own scale goes before the question's
        ("Yes, 5%", None, None),
    ],
)
def test_the_figure_that_a_gold_answer_is(answer, question, expected):
    found = m.figure(answer, question)
    assert found == (expected and pytest.approx(expected))


RIGHT = [
    ("Capex was $1,577 million.", "$1577.00", MILLIONS, True),
    ("Capex was $1,584 million.", "$1577.00", MILLIONS, True),  # 7 is within 0.5 %, 7.885
    ("Capex was $1,585 million.", "$1577.00", MILLIONS, False),
    ("Capex was $1.58 billion.", "$1577.00", MILLIONS, True),
    ("Capex was $1,577,300 as stated.", "$1577.00", MILLIONS, True),  # the statement is in thousands
    ("It was (1,577) million.", "$-1577.00", MILLIONS, True),
    ("PPNE is $8,738 million.", "$8.70", BILLIONS, True),
    ("0.654", "65.4%", None, True),
    (DERIVED, "0.75", None, True),
    (DERIVED, "404", None, False),  # an operand
    ("Assets were $303 million. It is $\\frac{303}{404} \\approx 0.75$.", "0.75", None, True),
    ("The result is\n\n\\[ 0.75 \\]\n\nfor FY2018.", "0.75", None, True),  # a year is no figure
    ("I cannot determine it. Assets were 0.75.", "0.75", None, False),
    ("The context does not state it. However, 303 / 404 gives 0.75.", "0.75", None, True),
    ("", "0", None, False),
]


@pytest.mark.parametrize(("prediction", "answer", "question", "expected"), RIGHT)
def test_an_answer_is_right_by_the_figure_it_concludes_with(prediction, answer, question, expected):
    assert m.answer_right(prediction, answer, question) is expected


@given(st.text(max_size=60), st.integers(-99_999, 99_999), st.sampled_from(["", " million", "%"]))
def test_any_text_can_be_read_and_a_figure_is_right_by_itself(text, value, scale):
    answer = f"{value:,}{scale}"
    m.answer_right(text, answer, MILLIONS)
    is_year = not scale and 1900 <= abs(value) <= 2100 and "," not in answer
    assert m.answer_right(f"It is {answer}.", answer, MILLIONS) is not is_year


def test_texts_without_a_figure_are_not_measured():
    rows = [("q1", MILLIONS, "$1577.00", "$1.577 billion"), ("q2", "Did it grow?", "Yes, by 5%", "5%")]
    frame = pd.DataFrame(rows, columns=["question_id", "question", "answer", "prediction"])
    found = m.right_metrics(frame)
    assert found[["question_id", "metric", "value"]].to_numpy().tolist() == [["q1", "answer_right", 1.0]]
    assert found["k"].isna().all()
    assert m.right_metrics(frame[1:]).empty


SAME_SIDE = {
    "Yes, it grew.": "Yes. Sales rose by 5%.",
    "**No**, it did not.": "No",
    "Acme grew. It did not shrink.": "Yes",
    "Acme is not capital intensive. It owns little.": "No, the ratio is low.",
}


def test_yes_and_no():
    assert [text for text, answer in SAME_SIDE.items() if not m.same_side(text, answer)] == []
    for text in ("Yes, though margins did not.", "I cannot determine whether it grew.", ""):
        assert not m.same_side(text, "No")
