"""Tables read as they are printed: columns, styles of figures, units, currencies, signs, and what is not sure."""

from datetime import date

import pytest
from hypothesis import given, settings

from lib.statements.figures import CONTINENTAL, ENGLISH, is_ambiguous, number
from lib.statements.money import Money, money_of
from lib.statements.rows import lines_of, lines_of_words, sheet
from lib.statements.sure import reading
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
NAMED, REVENUE = {"NORVANE_2023_10K": ("Norvane",)}, "What was Norvane's revenue in FY2023?"
NOTES = ROWS.replace("Revenue", "Revenue\n4").replace("income", "income\n9")
OFFICE = "What were Norvane's office benefits in FY2023?"
CURRENT = "(in millions)\n2023\n2022\nCurrent assets\nInventories\n40\n30\nCash\n20\n10\n60\n40\n"
LOSS = ROWS.replace("Net income", "Net loss")
YEAR_2022, IN_MILLIONS = "What was Norvane's revenue in FY2022?", "(in millions)\n"
INCOME = "What was Norvane's net income in FY2023?"
JANUARY = "NORVANE\nCONSOLIDATED STATEMENTS OF INCOME\n(in millions)\nJan 28, 2024\nJan 29, 2023\n" + ROWS[10:]


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (REVENUE, IN_MILLIONS + "Note\n" + NOTES, "4,210 (in millions)"),
        (YEAR_2022, IN_MILLIONS + "2023\n%\n2022\n%\nRevenue\n4,210\n100.0\n3,980\n100.0\n", "3,980 (in millions)"),
        (YEAR_2022, IN_MILLIONS + ROWS.replace("4,210", "4,210\n(1)"), "3,980 (in millions)"),
        (REVENUE, "(Shares in thousands; dollars in millions)\n" + ROWS, "$4,210 (in millions)"),
        (REVENUE, "(in millions of euros)\n" + ROWS, "€4,210 (in millions)"),
        (YEAR_2022, "(in millions of euros)\n" + ROWS.replace(",", " "), "€3,980 (in millions)"),
        (INCOME, IN_MILLIONS + LOSS, "-310 (in millions)"),
        (INCOME, IN_MILLIONS + ROWS.replace("310", "−310"), "-310 (in millions)"),
        (REVENUE, "(in millions)\nSegment data:\n(in thousands)\n" + ROWS, "4,210 (in thousands)"),
        (REVENUE, IN_MILLIONS + ROWS.replace("4,210", "4,210¹").replace("3,980", "3,980²"), "4,210 (in millions)"),
        (REVENUE, "Real estate (in millions)\n" + ROWS, "4,210 (in millions)"),
        (OFFICE, IN_MILLIONS + ROWS.replace("Revenue", "O\ufb03ce benefits"), "4,210 (in millions)"),
    ],
)  # fmt: skip
def test_figures_of_inputs_from_practice_are_read(question, text, answer):
    found = reading(question, NAMED, [sheet("NORVANE_2023_10K", 3, 2023, HEAD + text)])
    assert (found.result.text, found.vetoes) == (answer, ())


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("(in millions)\n" + ROWS.replace("4,210", "7\n4,210"), "more figures than columns"),
        ("(in millions)\nAs previously reported\n" + ROWS, "restated or adjusted"),
        ("(in millions)\n" + ROWS.replace("4,210", "4.210").replace("3,980", "3.980"), "thousands or has three"),
    ],
)  # fmt: skip
def test_figures_that_can_be_read_in_two_ways_are_in_doubt(text, doubt):
    found = reading(REVENUE, NAMED, [sheet("NORVANE_2023_10K", 3, 2023, HEAD + text)])
    assert doubt in "; ".join(found.vetoes)
    assert not found.is_sure


def test_a_fiscal_year_is_the_one_that_the_filing_says():
    ends = {date(2024, 1, 28): 2023, date(2023, 1, 29): 2022}
    page = sheet("NORVANE_2023_10K", 3, 2023, JANUARY, fiscal=ends)
    assert reading(REVENUE, NAMED, [page]).result.text == "4,210 (in millions)"
    assert reading(YEAR_2022, NAMED, [page]).result.text == "3,980 (in millions)"


def test_sums_without_a_label_and_tables_that_go_on_are_read():
    text = CURRENT + "Current liabilities\nPayables\n5\n6"
    read = {line.label: line.values for line in lines_of(text)}
    assert (read["Cash"], read["Total Current assets"], read["Payables"]) == ((20, 10), (60, 40), (5, 6))
    below = lines_of("Total equity\n55\n34\n", before=text)
    assert [(line.values, line.columns[0].year, line.money.unit) for line in below] == [((55, 34), 2023, "million")]
    (other,) = lines_of("2021\n2020\nStores\n55\n34\n", before=text)  # a table of its own, of no unit
    assert (other.columns[0].year, other.money.unit) == (2021, "")
