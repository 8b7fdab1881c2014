"""Tables read as they are printed: columns, styles of figures, units, currencies, signs, and what is not sure."""

from datetime import date

import pytest
from hypothesis import given, settings

from lib.statements.figures import CONTINENTAL, ENGLISH, is_ambiguous, number
from lib.statements.money import Money, money_of
from lib.statements.rows import lines_of, lines_of_words
from tests.statements.conftest import norvane
from tests.statements.printed import tables


@pytest.mark.parametrize("mode", ["text", "words"])
@settings(max_examples=200, deadline=None)
@given(tables())
def test_a_value_that_is_not_in_doubt_is_the_printed_one(mode, table):
    lines = lines_of(table.text) if mode == "text" else lines_of_words(table.words)
    wrong = []
    for line in lines:
        n = table.labels.index(line.label)
        truth = dict(zip(table.years, table.values[n], strict=True))
        read = {
            column.year: value for column, value in zip(line.columns, line.values, strict=True) if value is not None
        }
        is_right = all(truth.get(year) == value for year, value in read.items()) and line.money.unit == table.unit
        wrong += [] if is_right or line.doubts else [(line, truth)]
    assert wrong == []


@settings(max_examples=100, deadline=None)
@given(tables())
def test_places_give_nearly_all_rows_without_a_doubt(table):
    sure = [line for line in lines_of_words(table.words) if not line.doubts and None not in line.values]
    plain = [row for row in table.printed if not any(map(is_ambiguous, row))]
    assert len(sure) >= len(plain) - 1


@pytest.mark.parametrize(
    ("text", "english", "continental"),
    [
        ("1,234.5", 1234.5, None), ("1.234,5", None, 1234.5), ("4 210", 4210, 4210), ("4 210,5", None, 4210.5),
        ("(310)", -310, -310), ("-310", -310, -310), ("−310", -310, -310), ("310-", -310, -310), ("(3.1%)", -3.1, None),
        ("12,34,567", 1234567, None), ("1'234", 1234, 1234), ("—", 0, 0), ("-", 0, 0), ("n/a", None, None),
        ("4a", None, None), ("1.234.567", None, 1234567),
    ],
)  # fmt: skip
def test_figures_are_numbers_in_the_styles_of_the_world(text, english, continental):
    assert (number(text, ENGLISH), number(text, CONTINENTAL)) == (english, continental)


@pytest.mark.parametrize(
    ("text", "unit", "currency"),
    [
        ("(Shares in thousands; dollars in millions, except per share data)", "million", "USD"),
        ("(in millions of euros)", "million", "EUR"), ("RMB'000", "thousand", "CNY"), ("$000", "thousand", "USD"),
        ("(₹ in crore)", "crore", "INR"), ("Millions of yen", "million", "JPY"), ("A$'000", "thousand", "AUD"),
        ("£m", "million", "GBP"), ("In CHF millions", "million", "CHF"), ("(In millions)", "million", ""),
        ("The company won awards (in millions)", "million", ""), ("Rand McNally (in thousands)", "thousand", ""),
        ("Net sales grew by $3 million in 2022", "", "USD"), ("a million", "", ""), ("Millions Inc", "million", ""),
    ],
)  # fmt: skip
def test_units_and_currencies_are_those_that_a_head_states(text, unit, currency):
    assert money_of(text) == Money(unit, currency)


HEAD = "NORVANE\nCONSOLIDATED STATEMENTS OF INCOME\nYears ended December 31,\n"
ROWS = "2023\n2022\nRevenue\n4,210\n3,980\nNet income\n310\n290\n"
MILLIONS, EUROS = "(in millions)\n", "(in millions of euros)\n"
NOTES = "Note\n" + ROWS.replace("Revenue", "Revenue\n4").replace("income", "income\n9")
SHARES = "2023\n%\n2022\n%\nRevenue\n4,210\n100.0\n3,980\n100.0\n"
FOOTNOTES = ROWS.replace("4,210", "4,210¹").replace("3,980", "3,980²")
REVENUE, BEFORE = "What was Norvane's revenue in FY2023?", "What was Norvane's revenue in FY2022?"
INCOME = "What was Norvane's net income in FY2023?"


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (REVENUE, MILLIONS + NOTES, "4,210 (in millions)"),
        (BEFORE, MILLIONS + SHARES, "3,980 (in millions)"),
        (BEFORE, MILLIONS + ROWS.replace("4,210", "4,210\n(1)"), "3,980 (in millions)"),
        (REVENUE, MILLIONS + FOOTNOTES, "4,210 (in millions)"),
        (REVENUE, "(Shares in thousands; dollars in millions)\n" + ROWS, "$4,210 (in millions)"),
        (BEFORE, EUROS + ROWS.replace(",", " "), "€3,980 (in millions)"),
        (INCOME, MILLIONS + ROWS.replace("Net income", "Net loss"), "-310 (in millions)"),
        (INCOME, MILLIONS + ROWS.replace("310", "−310"), "-310 (in millions)"),
        (REVENUE, f"{MILLIONS}Segment data:\n(in thousands)\n{ROWS}", "4,210 (in thousands)"),
        (REVENUE, "Real estate (in millions)\n" + ROWS, "4,210 (in millions)"),
        ("What were Norvane's office benefits in FY2023?", MILLIONS + ROWS.replace("Revenue", "O\ufb03ce benefits"),
         "4,210 (in millions)"),
    ],
)  # fmt: skip
def test_figures_of_inputs_from_practice_are_read(question, text, answer):
    found = norvane(question, HEAD + text)
    assert (found.result.text, found.vetoes) == (answer, ())


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        (ROWS.replace("4,210", "7\n4,210"), "more figures"),
        ("As previously reported\n" + ROWS, "restated"),
        (ROWS.replace("4,210", "4.210").replace("3,980", "3.980"), "three decimals"),
    ],
)
def test_figures_that_can_be_read_in_two_ways_are_in_doubt(text, doubt):
    found = norvane(REVENUE, HEAD + MILLIONS + text)
    assert doubt in "; ".join(found.vetoes)
    assert not found.is_sure


def test_a_fiscal_year_is_the_one_that_the_filing_says():
    text = HEAD + MILLIONS + ROWS.replace("2023\n2022", "Jan 28, 2024\nJan 29, 2023")
    for question, answer in ((REVENUE, "4,210 (in millions)"), (BEFORE, "3,980 (in millions)")):
        found = norvane(question, text, fiscal={date(2024, 1, 28): 2023, date(2023, 1, 29): 2022})
        assert found.result.text == answer


def test_a_table_that_goes_on_has_the_head_of_the_page_before():
    before = MILLIONS + ROWS
    (below,) = lines_of("Total equity\n55\n34\n", before=before)
    assert (below.values, below.columns[0].year, below.money.unit) == ((55, 34), 2023, "million")
    (other,) = lines_of("2021\n2020\nStores\n55\n34\n", before=before)  # a table of its own, of no unit
    assert (other.columns[0].year, other.money.unit) == (2021, "")
