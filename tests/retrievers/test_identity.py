"""The identity of a filing, from records, name or cover; the period that a question asks about; their fit."""

from datetime import date

import numpy as np
import pytest

from lib.retrievers.identity import asked_period, dates_in, filing_identity, identity_features, quarters_in, years_in
from tests.ahead.conftest import cover

RELEASE = "OSKARVALE_2023Q3_EARNINGS_dated-2023-11-02"
COVER = cover("Oskarvale plc", "10-Q", "September 30, 2022")


@pytest.mark.parametrize(
    ("name", "record", "text", "header"),
    [
        ("X_1999_10K", ("Oskarvale", "10-Q", 2021), "quarterly period ended June 30, 2020", "Oskarvale 2021 Q2 10-Q"),
        (RELEASE, (None, "other", None), "", "OSKARVALE 2023 Q3 earnings release"),
        ("report", (None, "other", None), COVER, "Oskarvale plc 2022 Q3 10-Q"),
        ("report", (None, "other", None), "", "report"),
    ],
)
def test_records_come_first_then_the_name_then_the_cover(name, record, text, header):
    assert filing_identity(name, *record, text).header == header


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is the average from FY2018 to FY2020?", (2020, None, "")),
        ("As of FY2021, what will be paid in 2024?", (2021, None, "")),
        ("What changed in Q2 of FY2023, by the 10-Q?", (2023, 2, "10-Q")),
        ("Is the business cyclical?", (None, None, "")),
    ],
)
def test_period_that_a_question_asks_about(question, asked):
    found = asked_period(question)
    assert (found.year, found.quarter, found.doc_type) == asked


def test_the_filing_of_the_company_and_year_fits_best_and_without_a_year_the_company_alone_decides():
    filings = ("Oskarvale", 2020), ("Oskarvale", 2021), ("Glimmerfen", 2021)
    filed = [filing_identity(f"{name}_{year}_10K", name, "10-K", year, "") for name, year in filings]
    features = identity_features(["What did Oskarvale earn in FY2021?"], filed)
    # 4 for the company (3 filings of 2), minus 1.5 for each year apart
    assert features["identity"].tolist() == [[2.5, 4.0, 0.0]]
    assert features["near_year"].tolist() == [[0.5, 1.5, 1.5]]
    assert features["company_named"].tolist() == [[1, 1, 1]]
    features = identity_features(["What did Oskarvale earn?"], filed)
    assert np.isnan(features["year_gap"]).all()
    assert features["identity_gap"].tolist() == [[0, 0, -4]]
    assert not identity_features(["What was earned?"], filed)["identity"].any()
    release = [filing_identity(RELEASE, "Oskarvale", "earnings", 2023, "")]
    question = "What does Oskarvale's earnings release of November 2, 2023 report for {} 2023?"
    scores = identity_features([question.format("Q3"), question.format("Q2")], release)["identity"]
    assert scores.tolist() == [[4 + 1 + 0.5 + 1], [4 - 1 + 0.5 + 1]]  # by quarter, type and date


@pytest.mark.parametrize(
    ("read", "text", "found"),
    [
        (years_in, "capex in FY2018, FY'19, FY20 to FY21, FY95 and fiscal year 98", [1995, 1998, *range(2018, 2022)]),
        (years_in, "in Q22023 against 4Q22 and Q2'21, as of Q2'2020; TARNBECK_2019Q3_10Q", [*range(2019, 2024)]),
        (years_in, "$2,018 million, 2018% and 2018.5 of the Act of 1934; sales of 2000 stores", []),
        (years_in, "In 2019 shares were bought; 2020 shares", [2019]),
        (quarters_in, "Q2 of FY2023, FY2023Q1, 3Q21, the fourth quarter, FAQ1 and EQ2", [2, 1, 3, 4]),
        (quarters_in, "the second fiscal quarter, H2 FY2023, the first half", [2, 4]),
        (dates_in, "Report_dated-2022-07-01, on May 3, 2023", [date(2022, 7, 1), date(2023, 5, 3)]),
        (dates_in, "Feb. 30, 2023; 2021-13-01", []),
    ],
)
def test_years_quarters_and_dates(read, text, found):
    assert read(text) == found
