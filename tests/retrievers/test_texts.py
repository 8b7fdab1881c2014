"""What is written for a question: how lists are read, and that nothing is made up."""

import pytest

from lib.retrievers.texts import different, numbered, one_line, rewrites, terms, write

QUESTIONS = ["net sales?", "cash flow?"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. one\n2. two\n3. three", ["one", "two", "three"]),
        ('Here they are:\n1) "one"\n\n2) two', ["one", "two"]),
        ("Query 1: one\nQuery 2: two", ["one", "two"]),
        ("one\ntwo", ["one", "two"]),
        ("1. one\n2. two\n3. three\n4. four", ["one", "two", "three"]),
        ("1. one\n2.\n", ["one"]),
        ("2018 sales of 3M", ["2018 sales of 3M"]),  # a year is no number of a list
        ("", []),
    ],
)
def test_numbered_lines(text, expected):
    assert numbered(text, 3) == expected


def test_copies_are_left_out_whatever_their_case_and_spaces():
    assert different(["Net sales", "net  sales", "cash"]) == ["Net sales", "cash"]


def test_terms_are_parted_by_commas_and_lines_and_come_once():
    assert terms("Key terms: sales, - capex\n2. Sales\n- $1,577") == "sales, capex, $1,577"
    assert terms("") == ""


def test_one_line_has_no_lead_and_no_quotes():
    assert one_line('"Query: net\n sales"') == "net sales"


def test_rewrites_hold_neither_copies_nor_what_was_not_written(judged_study):
    study = judged_study(
        QUESTIONS, ["net"], lambda asked: None if "cash" in asked else "1. Net sales?\n2. sales\n3. sales"
    )
    assert rewrites(study) == {"q0": ["sales"], "q1": []}


def test_texts_are_written_once_with_the_settings_of_their_kind(judged_study):
    study = judged_study(QUESTIONS, ["net"], lambda asked: asked.split("Question: ")[1])
    first, again = write(study, "rewrites"), write(study, "rewrites")
    assert first.texts == again.texts == {"q0": "net sales?", "q1": "cash flow?"}
    assert len(study.generator.asked) == 2
    sampling = study.generator.asked[0].sampling
    assert (sampling.max_tokens, sampling.temperature, sampling.seed) == (60, 0.7, 13)
    assert "3 paraphrases" in study.generator.asked[0].prompt.user


def test_what_is_missing_is_counted(judged_study):
    found = write(
        judged_study(QUESTIONS, ["net"], lambda asked: None if "cash" in asked else "x"), "keywords"
    )
    assert (found.texts, list(found.missing)) == ({"q0": "x"}, ["q1"])
