"""Whose filing it is: from records, from its name, from its cover; and what questions say."""

from datetime import date

import numpy as np
import pytest

from lib.ahead.features import identity_features, identity_score
from lib.ahead.identity import asked, filing_identity

from .conftest import cover


def test_records_come_first():
    found = filing_identity("X_1999_10K", "Oskarvale", "10-Q", 2021, "quarterly period ended June 30, 2020")
    assert (found.company, found.year, found.quarter, found.doc_type) == ("Oskarvale", 2021, 2, "10-Q")
    assert found.header == "Oskarvale 2021 Q2 10-Q"


def test_then_the_name():
    found = filing_identity("OSKARVALE_2023Q3_EARNINGS_dated-2023-11-02", None, "other", None, "")
    assert (found.year, found.quarter, found.doc_type) == (2023, 3, "earnings")
    assert found.dates == (date(2023, 11, 2),)
    assert found.company == "OSKARVALE"


def test_then_the_cover():
    found = filing_identity(
        "report", None, "other", None, cover("Oskarvale plc", "10-Q", "September 30, 2022")
    )
    assert (found.company, found.year, found.quarter, found.doc_type) == ("Oskarvale plc", 2022, 3, "10-Q")


def test_a_filing_that_says_nothing_has_a_header_all_the_same():
    found = filing_identity("report", None, "other", None, "")
    assert (found.year, found.quarter, found.doc_type, found.header) == (None, None, "other", "report")


@pytest.mark.parametrize(
    ("question", "year", "quarter", "doc_type"),
    [
        ("Is the business cyclical?", None, None, None),
        ("What is the average from FY2018 to FY2020?", 2020, None, None),
        ("As of FY2021, what will be paid in 2024?", 2021, None, None),
        ("What changed in Q2 of FY2023?", 2023, 2, None),
        ("What does the 10-K of 2019 list?", 2019, None, "10-K"),
    ],
)
def test_asked(question, year, quarter, doc_type):
    said = asked(question)
    assert (said.year, said.quarter, said.doc_type) == (year, quarter, doc_type)


def identities():
    return [
        filing_identity("OSKARVALE_2020_10K", "Oskarvale", "10-K", 2020, ""),
        filing_identity("OSKARVALE_2021_10K", "Oskarvale", "10-K", 2021, ""),
        filing_identity("GLIMMERFEN_2021_10K", "Glimmerfen", "10-K", 2021, ""),
    ]


def test_the_filing_of_the_company_and_year_fits_best():
    fit = identity_score(identity_features(["What did Oskarvale earn in FY2021?"], identities()))
    assert fit[0].argmax() == 1
    assert fit[0, 0] > fit[0, 2]


def test_without_a_year_the_company_alone_decides():
    pair = identity_features(["What did Oskarvale earn?"], identities())
    assert np.isnan(pair["year_gap"]).all()
    fit = identity_score(pair)
    assert fit[0, 0] == fit[0, 1] > fit[0, 2]


def test_without_company_and_year_all_filings_fit_alike():
    assert np.ptp(identity_score(identity_features(["What was earned?"], identities()))) == 0
