"""Company names in questions: whole, short, abbreviated; invented companies only."""

import numpy as np
import pytest

from lib.retrievers.names import cover_names, name_matches


@pytest.mark.parametrize(
    ("token", "name", "expected"),
    [
        *((token, "Quill & Quarry", 0.8) for token in ("QnQ", "Q&Q", "QQ")),
        ("OMB", "OMbank Trust", 0.8),
        *((token, "Norrin Electric", value) for token, value in (("NorEl", 0.8), ("NE", 0.8), ("EN", 0))),
        ("CEO", "Civic Energy Oskarvale", 0),
        ("EPS", "Ember Power Systems", 0),
        *((token, "Ilmen Nickel", 0) for token in ("in", "I")),
    ],
)
def test_abbreviations_are_beginnings_of_words_in_order_and_no_acronyms_of_finance(token, name, expected):
    assert name_matches([f"did {token} pay a dividend?"], [[name]]) == expected


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
def test_whole_names_count_more_than_parts(question, expected):
    assert name_matches([question], [["Glimmerfen Mills", "GLIMMERFEN MILLS, INC."]]) == expected


def test_a_word_that_two_companies_share_names_neither():
    questions = ["What did Silver earn?", "What did Silver Ridge earn?"]
    scores = name_matches(questions, [["Silver Ridge"], ["Silver Harbor Foods"]])
    assert np.array_equal(scores, [[0.0, 0.0], [1.0, 0.0]])


def test_no_company_and_no_question():
    assert name_matches([], [["Oskarvale"]]).shape == (0, 1)
    assert name_matches(["Who?"], []).shape == (1, 0)


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
