"""Quotations of the dataset: found by words in a row, kept out reversibly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extras.publish.quotes import Quotations, as_pieces, states, with_gaps
from lib.published import from_pieces

QUESTION = "What is the FY2018 capital expenditure amount (in USD millions) for 3M?"
WORDS = st.sampled_from([*QUESTION.split(), "and", "the", "1,577", "so", "—", "\n", "What"])


def test_an_echo_leaves_no_word_but_references_into_the_question():
    assert with_gaps(as_pieces(f"{QUESTION} {QUESTION}", QUESTION)) == "[…]?"
    few = "the capital expenditure amount is high"  # no echo
    assert with_gaps(as_pieces(few, QUESTION)) == few
    for question in (QUESTION, QUESTION.upper()):
        pieces = as_pieces(f"You ask: {question} It is 1,577.", QUESTION)
        assert (pieces[0], pieces[-1]) == ("You ask: ", "? It is 1,577.")
        assert "capital" not in with_gaps(pieces).lower()


@given(st.lists(WORDS, max_size=60).map(" ".join) | st.text(max_size=80), st.just(QUESTION) | st.text(max_size=80))
def test_pieces_join_to_the_text(text, question):
    assert from_pieces(as_pieces(text, question), question) == text


LONG = ["Net sales of the company rose because prices were higher than ever", "short one"]
SHORT = ["Who audits Acme now?", "Why?"]


@pytest.mark.parametrize(
    ("texts", "n", "text", "longest"),
    [
        (LONG, 4, "They say net sales of THE company, rose; because prices fell.",
         "net sales of the company rose because prices"),
        (LONG, 4, "net sales rose because of the company", ""),
        (["1 2 3 4 5 6 7 8 9 10 11 12 13 14"], 5, "0 1 2 3 4 5 6 7 8", ""),  # figures in a row are no quotation
        (SHORT, 12, "He asked: who audits Acme now? Nobody.", "who audits acme now"),  # a short text counts as a whole
        (SHORT, 12, "who audits it, and why", ""),
    ],
)  # fmt: skip
def test_the_longest_run_of_words_is_found(texts, n, text, longest):
    assert Quotations(texts, n).longest(text) == longest


@pytest.mark.parametrize(
    ("text", "answer", "is_stated"),
    [
        ("[…] is $1,577.", "$1577.00", True),
        ("[…] was 1.577 billion", "$1577.00", True),  # thousands and sign aside, as tables write them
        ("[…] is 1,600.", "$1577.00", False),
        ("[…] is 0.44.", "0.66", False),  # of a fraction only the whole number counts
        ("No, 3M has not […].", "No. It fell by 2%.", True),
        ("Yes, […].", "No. It fell by 2%.", False),
        ("[…] is the consumer segment, at a loss.", "Consumer segment", True),
        ("[…]", "Capital expenditure", False),  # words of the question tell nothing
        ("in millions: 1,577", "$1.577 billion", True),
        ("8,738", "$8.70", True),  # billions, in a table in millions
        ("8,838 and 8.9", "$8.70", False),
        ("the year 2017", "2018", False),  # a year is no quantity
    ],
)
def test_a_text_with_gaps_states_an_answer_by_a_number_a_yes_or_its_words(text, answer, is_stated):
    assert states(text, answer, QUESTION) == is_stated
