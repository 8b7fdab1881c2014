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
    pieces = as_pieces(f"You ask: {QUESTION.upper()} It is 1,577.", QUESTION)
    assert (pieces[0], pieces[-1]) == ("You ask: ", "? It is 1,577.")
    assert "capital" not in with_gaps(pieces).lower()


@given(st.lists(WORDS, max_size=60).map(" ".join) | st.text(max_size=80), st.just(QUESTION) | st.text(max_size=80))
def test_pieces_join_to_the_text(text, question):
    assert from_pieces(as_pieces(text, question), question) == text


QUOTED = [
    "Net sales of the company rose because prices were higher than ever",
    "1 2 3 4 5 6 7 8 9 10",
    "Who audits Acme now?",
]
QUOTING = {
    "They say net sales of THE company, rose; because prices fell.": "net sales of the company rose because prices",
    "net sales rose because of the company": "",
    "0 1 2 3 4 5 6 7 8": "",  # figures in a row are no quotation
    "He asked: who audits Acme now? Nobody.": "who audits acme now",  # a text that is short counts as a whole
    "who audits it now": "",
}


@pytest.mark.parametrize("text", QUOTING)
def test_the_longest_run_of_words_is_found(text):
    assert Quotations(QUOTED, 5).longest(text) == QUOTING[text]


#: A text with gaps, a gold answer, and whether the text still states it.
STATED = [
    ("[…] is $1,577.", "$1577.00", True),
    ("[…] was 1.577 billion", "$1577.00", True),  # thousands and sign aside, as tables write them
    ("[…] is 1,600.", "$1577.00", False),
    ("[…] is 0.44.", "0.66", False),  # of a fraction only the whole number counts
    ("No, 3M has not […].", "No. It fell by 2%.", True),
    ("Yes, […].", "No. It fell by 2%.", False),
    ("[…] is the consumer segment, at a loss.", "Consumer segment", True),
    ("[…]", "Capital expenditure", False),  # words of the question tell nothing
    ("8,738", "$8.70", True),  # billions, in a table in millions
    ("8,838 and 8.9", "$8.70", False),
    ("the year 2017", "2018", False),  # a year is no quantity
]


@pytest.mark.parametrize(("text", "answer", "is_stated"), STATED)
def test_a_text_with_gaps_states_an_answer_by_a_number_a_yes_or_its_words(text, answer, is_stated):
    assert states(text, answer, QUESTION) == is_stated
