"""Years, quarters and dates in the forms that questions and filings use."""

from datetime import date

import pytest

from lib.ahead.periods import dates_in, quarters_in, years_in


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("capex in FY2018", [2018]),
        ("growth from FY20 to FY21", [2020, 2021]),
        ("FY'19 and fiscal year 98", [1998, 2019]),
        ("in Q22023 against 4Q22", [2022, 2023]),
        ("as of Q2'2023", [2023]),
        ("TARNBECK_2020Q3_10Q", [2020]),
        ("$2,018 million, 2018% and 2018.5", []),
        ("Does it pay dividends?", []),
        ("the 10-K of 2021.", [2021]),
    ],
)
def test_years(text, years):
    assert years_in(text) == years


@pytest.mark.parametrize(
    ("text", "quarters"),
    [
        ("Q2 of FY2023", [2]),
        ("FY2023Q1", [1]),
        ("3Q21 and the fourth quarter", [3, 4]),
        ("second fiscal quarter", [2]),
        ("H1 FY2023", [2]),
        ("the second half", [4]),
        ("FAQ1 and EQ2", []),
        ("in FY2022", []),
    ],
)
def test_quarters(text, quarters):
    assert quarters_in(text) == quarters


def test_dates_are_read_in_order_and_impossible_ones_are_left_out():
    text = "Report_dated-2022-07-01, on May 3, 2023 and Feb. 30, 2023; 2021-13-01"
    assert dates_in(text) == [date(2022, 7, 1), date(2023, 5, 3)]
