"""Names of companies: spellings of one, own words, and that no two of the published ones become one."""

import pandas as pd
import pytest

from lib.data.dataset import read_dataset
from lib.files import published_folders
from lib.filings.names import company_key, core_words, name_matches, names_company, one_spelling
from lib.folds import make_folds

SAME = [
    ["Acme, Inc.", "ACME INC", "Acme", "acme incorporated", "The Acme Company, Inc.", "Acme Co., Ltd."],
    ["Société Générale S.A.", "SOCIETE GENERALE SA"],
    ["J.P. Morgan", "JP Morgan", "JPMorgan", "J P Morgan"],
    ["Johnson & Johnson", "JOHNSON-JOHNSON"],
    ["Macy's", "MACY’S, INC.", "Macys"],
    ["Ｂolt", "Bolt N.V.", "Bolt GmbH", "Bolt AB"],
    ["売上", "売上 "],
    ["Co", "CO"],
]


def test_a_company_is_one_by_letters_and_digits_without_legal_forms():
    found = one_spelling([name for names in SAME for name in names])
    assert found == {name: names[0] for names in SAME for name in names}
    others = ["Acme Holdings", "Acme Group", "Acme 2", "Co-Acme", "Inc", "&", "売", "-"]
    assert one_spelling(others) == {name: name for name in others}


def test_a_name_s_own_words_are_without_those_that_name_nobody_unless_there_are_no_others():
    names = {
        "The Acme Holding Group, Inc.": ["acme"],
        "AB Bolt of Companies plc": ["ab", "bolt"],
        "The Group": ["the", "group"],
    }
    assert {name: core_words(name) for name in names} == names


@pytest.mark.parametrize("folder", published_folders(), ids=lambda folder: folder.parent.name)
def test_no_two_published_companies_are_one_so_that_folds_and_intervals_stay(folder):
    for name in ("questions", "filings"):
        companies = pd.read_csv(folder / f"{name}.csv", dtype=str)["company"]
        assert companies.map(company_key).nunique() == companies.nunique()


def test_filings_of_one_company_are_in_one_fold_however_it_is_spelt(folder):
    spelt = {"A1": "Acme, Inc.", "A2": "ACME INC", "B": "Bolt plc", "C": "Corp of Ash"}
    for name, company in spelt.items():
        folder.text(name, f"Annual report {name}", company=company)
        folder.question(f"q{name}", name, (0, f"Annual report {name}"), company="acme" if name == "A2" else "")
    dataset = read_dataset(folder.write(), "mine")
    assert dataset.filings["company"].tolist() == ["Acme, Inc.", "Acme, Inc.", "Bolt plc", "Corp of Ash"]
    assert dataset.questions["company"].tolist() == dataset.filings["company"].tolist()
    for fold in make_folds(dataset.questions, dataset.filings, "company", 3, 13):
        assert len({"A1", "A2"} & fold.test_filings) in (0, 2)


@pytest.mark.parametrize("written", ["Nestelé", "NESTELE\u0301", "Nestelé SA", "The Nestelé Group"])
def test_a_name_matches_with_and_without_marks(written):
    asked = ["Nestele", "NESTELÉ", "Nestele\u0301", "Nestor"]
    found = name_matches([f"What did {name} earn?" for name in asked], [[written]])
    assert found[:, 0].tolist() == [1, 1, 1, 0]


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


def test_a_word_that_two_companies_share_names_neither_and_a_lesser_match_counts_half():
    questions = ["What did Silver earn?", "What did Silver Ridge earn?", "Did Silver Ridge buy Oskarvale?"]
    scores = name_matches(questions, [["Silver Ridge"], ["Silver Harbor Foods"], ["Oskarvale Foundry"]])
    assert scores.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 0.45]]
    assert name_matches([], [["Oskarvale"]]).shape == (0, 1)
    assert name_matches(["Who?"], []).shape == (1, 0)


def test_a_question_names_its_company_by_the_first_word_or_a_short_form():
    named = {"is glimmerfen cyclical?": True, "Did GlmM pay?": True, "Did MG pay?": False, "Did FY22 pay?": False}
    assert {question: names_company(question, MILLS[0]) for question in named} == named
