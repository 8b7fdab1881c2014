"""Company names in questions: whole, short, abbreviated; invented companies only."""

import numpy as np
import pytest

from lib.ahead.names import abbreviates, cover_names, match, match_all


@pytest.mark.parametrize(
    ("token", "name", "expected"),
    [
        ("QnQ", "Quill & Quarry", True),
        ("Q&Q", "Quill & Quarry", True),
        ("QQ", "Quill & Quarry", True),
        ("OMB", "OMbank Trust", True),
        ("NorEl", "Norrin Electric", True),
        ("NE", "Norrin Electric", True),
        ("EN", "Norrin Electric", False),
        ("Norrin", "Norrin Electric", False),
        ("CEO", "Ceo Energy Oskarvale", False),
        ("EPS", "Ember Power Systems", False),
        ("in", "Ilmen Nickel", False),
        ("N", "Norrin", False),
    ],
)
def test_abbreviations_are_beginnings_of_words_in_order(token, name, expected):
    assert abbreviates(token, name) is expected


@pytest.mark.parametrize(
    ("cover", "names"),
    [
        (
            "FORM 10-Q\nGlimmerfen Mills, Inc.\n(Exact name of registrant as specified)",
            ["Glimmerfen Mills, Inc."],
        ),
        ("(2022)\n \nOSKARVALE\nPLC\n(Exact\nname of registrant", ["OSKARVALE PLC"]),
        ("file number 1-12345 Oskarvale Group plc(Exact Name of Registrant", ["Oskarvale Group plc"]),
        ("Quill & Quarry (NYSE: QNQ) today announced", ["Quill & Quarry", "QNQ"]),
        ("Commission File Number 001-02217\n(Exact name of registrant", []),
        ("PLC\n(Exact name of registrant", []),
        ("", []),
    ],
)
def test_a_cover_says_what_the_company_is_called(cover, names):
    assert cover_names(cover) == names


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is Glimmerfen Mills's revenue?", 1.0),
        ("What is GlimmerfenMills revenue?", 1.0),
        ("Did Glimmerfen pay a dividend?", 0.9),
        ("Did GM pay a dividend?", 0.8),
        ("Did anyone pay a dividend?", 0.0),
    ],
)
def test_match(question, expected):
    assert match(question, ["Glimmerfen Mills", "GLIMMERFEN MILLS, INC."]) == expected


def test_a_word_that_two_companies_share_names_neither():
    scores = match_all(
        ["What did Silver earn?", "What did Silver Ridge earn?"], [["Silver Ridge"], ["Silver Harbor Foods"]]
    )
    assert np.array_equal(scores, [[0.0, 0.0], [1.0, 0.0]])


def test_no_company_and_no_question():
    assert match_all([], [["Oskarvale"]]).shape == (0, 1)
    assert match_all(["Who?"], []).shape == (1, 0)
