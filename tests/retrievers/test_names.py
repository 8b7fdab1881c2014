"""Company names in questions: whole, short, abbreviated; invented companies only."""

import numpy as np
import pytest

from lib.retrievers.names import cover_names, name_matches, names_company

MILLS = ["Glimmerfen Mills", "GLIMMERFEN MILLS, INC."]


@pytest.mark.parametrize(
    ("token", "names", "expected"),
    [
        *((token, ["Quill & Quarry"], 0.8) for token in ("QnQ", "Q&Q", "QQ")),
        ("OMB", ["OMbank Trust"], 0.8),
        *((token, ["Norrin Electric"], value) for token, value in (("NorEl", 0.8), ("NE", 0.8), ("EN", 0))),
        *((token, [name], 0) for token, name in (("CEO", "Civic Energy"), ("EPS", "Ember Power Systems"))),
        *((token, ["Ilmen Nickel"], 0) for token in ("in", "I")),
        *((token, MILLS, 1) for token in ("Glimmerfen Mills's", "GlimmerfenMills")),
        *((token, MILLS, value) for token, value in (("Glimmerfen", 0.9), ("GM", 0.8), ("anyone", 0))),
    ],
)
def test_a_whole_name_counts_more_than_its_first_word_or_an_abbreviation_that_is_no_acronym(token, names, expected):
    assert name_matches([f"did {token} pay a dividend?"], [names]) == expected


def test_a_word_that_two_companies_share_names_neither():
    questions = ["What did Silver earn?", "What did Silver Ridge earn?"]
    scores = name_matches(questions, [["Silver Ridge"], ["Silver Harbor Foods"]])
    assert np.array_equal(scores, [[0.0, 0.0], [1.0, 0.0]])


def test_no_company_and_no_question():
    assert name_matches([], [["Oskarvale"]]).shape == (0, 1)
    assert name_matches(["Who?"], []).shape == (1, 0)


@pytest.mark.parametrize(
    ("question", "is_named"),
    [("is glimmerfen cyclical?", True), ("Did GlmM pay?", True), ("Did MG pay?", False), ("Did FY22 pay?", False)],
)
def test_a_question_names_its_company_by_the_first_word_or_a_short_form(question, is_named):
    assert names_company(question, MILLS[0]) == is_named


@pytest.mark.parametrize(
    ("cover", "names"),
    [
        ("FORM 10-Q\nOskarvale, Inc.\n(Exact name of registrant as specified)", ["Oskarvale, Inc."]),
        ("(2022)\n \nOSKARVALE\nPLC\n(Exact\nname of registrant", ["OSKARVALE PLC"]),
        ("file number 1-12345 Oskarvale Group plc(Exact Name of Registrant", ["Oskarvale Group plc"]),
        ("Quill & Quarry (NYSE: QNQ) today announced", ["Quill & Quarry", "QNQ"]),
        ("Commission File Number 001-02217\n(Exact name of registrant", []),
        ("PLC\n(Exact name of registrant", []),
        ("", []),
    ],
)
def test_names_on_a_cover(cover, names):
    assert cover_names(cover) == names
