"""How sure a reading is: its features, the fitted chance, and the file of coefficients."""

import math

import pytest

from lib.answers.sure import FILE, chance, fitted, reading
from tests.answers.test_calculation import BALANCE, INCOME, sheet

NAMED = {"ACME_2020_10K": ("Acme",)}


def found(question: str, *sheets):
    return reading(question, NAMED, sheets or [sheet(INCOME)])


def test_the_chance_is_logistic_in_the_features(monkeypatch):
    model = {"intercept": -1.0, "coefficients": {"a": 2.0, "b": 0.5}, "least": 0.9}
    monkeypatch.setattr("lib.answers.sure.fitted", lambda: model)
    assert chance({"a": 1.0, "b": 2.0}) == 1 / (1 + math.exp(-2.0))


def test_the_file_has_a_coefficient_of_every_feature_and_what_was_measured():
    model = fitted()
    assert model["coefficients"].keys() == found("What was Acme's revenue in 2020?").features.keys()
    assert model["least"] >= 0.9
    assert {row["set"] for row in model["measured"]} == {"financebench", "page-questions"}
    assert FILE.stat().st_size < 10_000


def test_a_row_by_its_item_on_one_page_has_these_features():
    one = found("What was Acme's revenue in 2020?").features
    assert (one["company named"], one["year asked"], one["row by words"], one["statements"]) == (1, 1, 0, 1)
    assert (one["rank of page"], one["pages that agree"], one["rivals"], one["words unread"]) == (0, 0, 0, 0)
    assert one["cells"] == math.log(2)


def test_pages_that_agree_are_counted_and_other_values_are_rivals():
    question = "What was Acme's revenue in 2020?"
    other = INCOME.replace("500", "900")
    assert found(question, sheet(INCOME), sheet(INCOME, 1)).features["pages that agree"] == math.log(2)
    assert found(question, sheet(INCOME), sheet(other, 1)).features["rivals"] == math.log(2)


def test_words_that_no_row_has_are_unread():
    asked = "What was Acme's revenue from batteries in Asia in 2020?"
    assert found(asked).features["words unread"] == math.log1p(2)


@pytest.mark.parametrize(
    ("question", "fits"),
    [("What was Acme's gross margin in 2020?", 1), ("What was Acme's revenue margin rate in 2020?", 0)],
)
def test_a_share_that_is_asked_for_is_a_share_that_is_found(question, fits):
    one = found(question)
    assert one.features["form fits"] == fits


def test_what_is_not_read_is_not_sure():
    one = found("What was Acme's goodwill in 2020?", sheet(BALANCE, kind="balance"))
    assert (one.result.text, one.features, one.sure, one.is_sure) == ("", {}, 0.0, False)


def test_only_filings_that_are_named_are_read_where_any_is():
    other = sheet(INCOME.replace("500", "900"), doc="BOLT_2020_10K")
    assert found("What was Acme's revenue in 2020?", other, sheet(INCOME)).result.text == "$500 (in millions)"
    assert reading("What was revenue in 2020?", {}, [other]).result.text == "$900 (in millions)"
