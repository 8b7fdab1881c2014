"""How sure a reading is: its features, the fitted chance, and the file of coefficients."""

import math

import pytest

from lib.answers.sure import FILE, chance, fitted, reading
from tests.answers.test_calculation import BALANCE, INCOME, sheet

NAMED = {"ACME_2020_10K": ("Acme",)}
REVENUE = "What was Acme's revenue in 2020?"
OTHER = INCOME.replace("500", "900")


def test_the_chance_is_logistic_in_the_features(monkeypatch):
    model = {"intercept": -1.0, "coefficients": {"a": 2.0, "b": 0.5}, "least": 0.9}
    monkeypatch.setattr("lib.answers.sure.fitted", lambda: model)
    assert chance({"a": 1.0, "b": 2.0}) == 1 / (1 + math.exp(-2.0))


def test_the_file_has_a_coefficient_of_every_feature_and_what_was_measured():
    model = fitted()
    assert model["coefficients"].keys() == reading(REVENUE, NAMED, [sheet(INCOME)]).features.keys()
    assert model["least"] >= 0.9
    assert {row["set"] for row in model["measured"]} == {"financebench", "page-questions"}
    assert FILE.stat().st_size < 10_000


ONE = {"company named": 1, "year asked": 1, "row by words": 0, "statements": 1, "rank of page": 0, "cells": math.log(2)}
ONE |= {"pages that agree": 0, "rivals": 0, "words unread": 0}


@pytest.mark.parametrize(
    ("question", "sheets", "features"),
    [
        (REVENUE, [sheet(INCOME)], ONE),  # a row by its item on one page
        (REVENUE, [sheet(INCOME), sheet(INCOME, 1)], {"pages that agree": math.log(2)}),
        (REVENUE, [sheet(INCOME), sheet(OTHER, 1)], {"rivals": math.log(2)}),
        ("What was Acme's revenue from batteries in Asia in 2020?", [sheet(INCOME)], {"words unread": math.log1p(2)}),
        ("What was Acme's gross margin in 2020?", [sheet(INCOME)], {"form fits": 1}),
        ("What was Acme's revenue margin rate in 2020?", [sheet(INCOME)], {"form fits": 0}),
    ],
)
def test_a_reading_has_features_by_where_its_cells_are_from(question, sheets, features):
    found = reading(question, NAMED, sheets).features
    assert {name: found[name] for name in features} == features


def test_what_is_not_read_is_not_sure_and_only_filings_that_are_named_are_read_where_any_is():
    one = reading("What was Acme's goodwill in 2020?", NAMED, [sheet(BALANCE, kind="balance")])
    assert (one.result.text, one.features, one.sure, one.is_sure) == ("", {}, 0.0, False)
    other = sheet(OTHER, doc="BOLT_2020_10K")
    assert reading(REVENUE, NAMED, [other, sheet(INCOME)]).result.text == "$500 (in millions)"
    assert reading("What was revenue in 2020?", {}, [other]).result.text == "$900 (in millions)"
