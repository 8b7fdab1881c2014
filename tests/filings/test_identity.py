"""Names on covers; the identity of a filing, the period that is asked about, and their match."""

from datetime import date

import numpy as np
import pytest

from lib.filings.identity import asked_period, dates_in, filing_identity, identity_features, quarters_in, years_in
from lib.filings.names import cover_names
from lib.retrievers.matched import fits_best, identities
from tests.ahead.conftest import BALANCE, CASH, cover

COVERS = {
    "FORM 10-Q\nOskarvale, Inc.\n(Exact name of registrant as specified)": ["Oskarvale, Inc."],
    "(2022)\n \nOSKARVALE\nPLC\n(Exact\nname of registrant": ["OSKARVALE PLC"],
    "file number 1-12345 Oskarvale Group plc(Exact Name of Registrant": ["Oskarvale Group plc"],
    "Quill & Quarry (NYSE: QNQ) today announced": ["Quill & Quarry", "QNQ"],
    "Commission File Number 001-02217\n(Exact name of registrant": [],
    "PLC\n(Exact name of registrant": [],
    "": [],
}


def test_names_on_a_cover():
    assert {text: cover_names(text) for text in COVERS} == COVERS


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


def test_period_that_a_question_asks_about():
    asked = {
        "What is the average from FY2018 to FY2020?": (2020, None, ""),
        "As of FY2021, what will be paid in 2024?": (2021, None, ""),
        "What changed in Q2 of FY2023, by the 10-Q?": (2023, 2, "10-Q"),
        "Is it cyclical?": (None, None, ""),
    }
    found = {question: asked_period(question) for question in asked}
    assert {question: (one.year, one.quarter, one.doc_type) for question, one in found.items()} == asked


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


YEARS = {
    "capex in FY2018, FY'19, FY20 to FY21, FY95 and fiscal year 98": [1995, 1998, *range(2018, 2022)],
    "in Q22023 against 4Q22 and Q2'21, as of Q2'2020; TARNBECK_2019Q3_10Q": [*range(2019, 2024)],
    "$2,018 million, 2018% and 2018.5 of the Act of 1934; sales of 2000 stores": [],
    "In 2019 shares were bought; 2020 shares": [2019],
}
QUARTERS = {
    "Q2 of FY2023, FY2023Q1, 3Q21, the fourth quarter, FAQ1 and EQ2": [2, 1, 3, 4],
    "the second fiscal quarter, H2 FY2023, the first half": [2, 4],
}
DATES = {
    "Report_dated-2022-07-01, on May 3, 2023": [date(2022, 7, 1), date(2023, 5, 3)],
    "Feb. 30, 2023; 2021-13-01": [],
}


@pytest.mark.parametrize(("read", "found"), [(years_in, YEARS), (quarters_in, QUARTERS), (dates_in, DATES)])
def test_years_quarters_and_dates(read, found):
    assert {text: read(text) for text in found} == found


def test_the_filing_that_fits_by_cover_or_records_is_searched_first_then_all(folder, open_words):
    """The annual reports of one company for two years, and of another; the names of two files say nothing."""
    reports = {"scan1": ("OSKARVALE PLC", 2021), "scan2": ("OSKARVALE PLC", 2022)}
    for doc_name, (name, year) in (reports | {"GLIMMERFEN_2021_10K": ("GLIMMERFEN MILLS, INC.", 2021)}).items():
        folder.pdf(doc_name, cover(name, "10-K", f"December 31, {year}"), BALANCE, CASH)
    folder.question("q1", "scan2", (1, BALANCE), question="What are Oskarvale's total assets in FY2022?")
    folder.question("q2", "GLIMMERFEN_2021_10K", (1, BALANCE), question="What are the total assets in FY2022?")
    study = open_words()
    filed = identities(study, True)
    assert {one.doc_name for one in filed} == {""}  # files' names say nothing
    read = ["GLIMMERFEN MILLS, INC. 2021 10-K", "OSKARVALE PLC 2021 10-K", "OSKARVALE PLC 2022 10-K"]
    assert [one.header for one in filed] == read
    named, unnamed = fits_best(study.questions["question"].tolist(), filed).tolist()
    assert named == [False, False, True]
    assert unnamed == [True, True, True]  # no company is named: every filing is searched
    headers = [one.header for one in identities(study, False)]
    assert all(f" {int(year)} " in header for year, header in zip(study.filings["doc_period"], headers, strict=True))
    run = study.run("bm25_covers").set_index("question_id")
    assert set(run.loc["q1", "doc_name"]) == {"scan1", "scan2", "GLIMMERFEN_2021_10K"}
    assert (run.loc["q1", "doc_name"] == "scan2").is_monotonic_decreasing
    assert run.loc["q1", "chunk_id"].is_unique
    plain = study.run("bm25").set_index("question_id")  # the other question names no company
    assert run.loc["q2", "chunk_id"].tolist() == plain.loc["q2", "chunk_id"].tolist()
