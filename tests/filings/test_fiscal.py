"""The fiscal years that a filing gives its end dates; the form that a cover has."""

from datetime import date

import pytest

from lib.filings.fiscal import fiscal_years
from lib.filings.identity import filing_identity, printed_form, with_fiscal_year

JANUARY = {date(2023, 1, 29): 2022, date(2024, 1, 28): 2023}
COVER = "FORM 10-K\nFor the fiscal year ended {}\nOSKARVALE PLC\n(Exact name of registrant"
SENTENCES = {
    "fiscal 2023 is the 52 weeks ended January 28, 2024, and fiscal 2022 the 52 weeks ended Jan. 29, 2023.": JANUARY,
    "the 53 weeks ended February 3, 2024 (“fiscal 2023”)": {date(2024, 2, 3): 2023},
    "The year ended January 28, 2024 is referred to as fiscal 2023.": {date(2024, 1, 28): 2023},
    "Fiscal years 2023 and 2022 ended on January 28, 2024 and January 29, 2023.": JANUARY,
    "Fiscal 2023, which ended on January 28, 2024. At January 29, 2023": JANUARY,  # the same day a year before
    "fiscal 2014 (12-month) represents the 12-month period ended February 1, 2014": {date(2014, 2, 1): 2014},
    "In fiscal 2022, sales rose; for the year ended January 28, 2024, they fell.": {},
    "for the year ended January 28, 2024 compared with fiscal 2022": {},
    "fiscal 2012 ended January 28, 2024": {},  # twelve years apart
}


def test_sentences_give_the_fiscal_years_of_end_dates():
    assert {text: fiscal_years(["", text.replace(" ", "\n")]) for text in SENTENCES} == SENTENCES
    texts = ["Fiscal 2022 ended January 29, 2023."] * 2 + ["fiscal 2023, the year ended January 29, 2023"]
    assert fiscal_years(texts) == {date(2023, 1, 29): 2022}  # what is repeated counts


def test_a_year_that_ends_in_january_is_the_one_before_where_the_filing_names_that_more_often():
    january, march = COVER.format("January 31, 2024"), COVER.format("March 31, 2024")
    assert fiscal_years([january, "In fiscal 2023, more than fiscal 2024, fiscal 2023"]) == {date(2024, 1, 31): 2023}
    assert fiscal_years([january, "In fiscal 2023 and fiscal 2024"]) == {}
    assert fiscal_years([march, "In fiscal 2023 and fiscal 2023"]) == {}


def test_a_filing_is_of_the_fiscal_year_that_it_gives_the_date_on_its_cover():
    cover = COVER.format("January 28, 2024")
    filing = filing_identity("OSKARVALE_2024_10K", None, "", None, cover)
    assert (filing.year, with_fiscal_year(filing, cover, JANUARY).year) == (2024, 2023)
    assert with_fiscal_year(filing, cover, {date(2022, 1, 30): 2021}) == filing


@pytest.mark.parametrize(
    ("name", "cover", "form"),
    [
        ("X", "FORM 20-F", "20-F"),
        ("X_2023_10K", "Form 40-F\nor Form 20-F", "40-F"),
        ("X", "Form 10-K/A", "10-K/A"),
        ("X", "Annual report on Form 10-K405", "10-K405"),
        ("X", "FORM 6-K", "6-K"),
        ("X_2023_20F", "Annual report", "20-F"),
        ("X_2022_annualreport", "We serve", "annual report"),
    ],
)
def test_the_form_is_the_one_that_is_printed(name, cover, form):
    filing = filing_identity(name, "Oskarvale", "", 2023, cover)
    assert printed_form(name, filing.doc_type, cover) == form
    assert filing._replace(form=form).header.endswith(form)


def test_a_release_is_of_no_form():
    assert printed_form("X_EARNINGS", "earnings", "Form 8-K") == ""
