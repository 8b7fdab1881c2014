"""Company names in questions: whole, short, abbreviated; invented companies only."""

import numpy as np
import pytest

from lib.retrievers.names import cover_names, name_matches, names_company

MILLS = ["Glimmerfen Mills", "GLIMMERFEN MILLS, INC."]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Quill & Quarry"], {"QnQ": 0.8, "Q&Q": 0.8, "QQ": 0.8}),
        (["OMbank Trust"], {"OMB": 0.8}),
        (["Norrin Electric"], {"NorEl": 0.8, "NE": 0.8, "EN": 0}),
        (["Civic Energy", "Ember Power Systems", "Ilmen Nickel"], {"CEO": 0, "EPS": 0, "in": 0, "I": 0}),
        (MILLS, {"Glimmerfen Mills's": 1, "GlimmerfenMills": 1, "Glimmerfen": 0.9, "GM": 0.8, "anyone": 0}),
    ],
)
def test_a_whole_name_counts_more_than_its_first_word_or_an_abbreviation_that_is_no_acronym(names, expected):
    found = name_matches([f"did {token} pay a dividend?" for token in expected], [names])
    assert found[:, 0].tolist() == [*expected.values()]


def test_a_word_that_two_companies_share_names_neither():
    questions = ["What did Silver earn?", "What did Silver Ridge earn?"]
    scores = name_matches(questions, [["Silver Ridge"], ["Silver Harbor Foods"]])
    assert np.array_equal(scores, [[0.0, 0.0], [1.0, 0.0]])
    assert name_matches([], [["Oskarvale"]]).shape == (0, 1)
    assert name_matches(["Who?"], []).shape == (1, 0)


def test_a_question_names_its_company_by_the_first_word_or_a_short_form():
    named = {"is glimmerfen cyclical?": True, "Did GlmM pay?": True, "Did MG pay?": False, "Did FY22 pay?": False}
    assert {question: names_company(question, MILLS[0]) for question in named} == named


@pytest.mark.parametrize(
    ("cover", "names"),
    [
        ("FORM 10-Q\nOskarvale, Inc.\n(Exact name of registrant as specified)", ["Oskarvale, Inc."]),
        ("(2022)\n \nOSKARVALE\nPLC\n(Exact\nname of registrant", ["OSKARVALE PLC"]),
        ("file number 1-12345 Oskarvale Group plc(Exact Name of Registrant", ["Oskarvale Group plc"]),
        ("Quill & Quarry (NYSE: QNQ) today announced", ["Quill & Quarry", "QNQ"]),
        *((cover, []) for cover in ("Commission File Number 001-02217\n(Exact name of registrant", "")),
        ("PLC\n(Exact name of registrant", []),
    ],
)
def test_names_on_a_cover(cover, names):
    assert cover_names(cover) == names
