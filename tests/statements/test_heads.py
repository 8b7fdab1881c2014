"""Heads of tables as filings set them, from text of one cell a line and by the places of words."""

import pytest

from lib.statements.blocks import unfolded
from lib.statements.figures import readable
from lib.statements.rows import lines_of, lines_of_words, sheet

TWO = "Revenue\n4,210\n3,980\nNet income\n310\n290\n"
REVENUE, NET = {2023: 4210, 2022: 3980}, {2023: 310, 2022: 290}
SUMS = "(in millions)\n2023\n2022\nCurrent assets\nInventories\n40\n30\nCash\n20\n10\n{}\n40\n"


def read(text: str) -> dict[str, dict]:
    """The rows that are in no doubt: by label the values by year."""
    lines = [line for line in lines_of(text) if not line.doubts]
    return {
        line.label: {column.year: value for column, value in zip(line.columns, line.values, strict=True)}
        for line in lines
    }


@pytest.mark.parametrize(
    "head",
    [
        "Years ended December 31, 2023\n2022\n",  # the first year stands beside the title
        "As at 30 June 2023\nNote\n2023\n2022\n",  # the title's date is of no column
        "31.12.2023\n31.12.20221\n",  # the mark of a footnote behind the year
        "1.1.-31.12.2023\n1.1.-31.12.2022\n",
        "12/31/2023\n12/31/2022\n",
        "2023 (5)\n2022\n",
        "12 Weeks Ended\n3/25/2023\n3/19/2022\n",
    ],
)
def test_the_years_of_a_head_are_read_in_every_form(head):
    assert read(f"NORVANE\n{head}{TWO}") == {"Revenue": REVENUE, "Net income": NET}


LABEL = "Receivables, less allowances: 2023—$447; 2022—$449"
LOSS = "Loss for the year attributable to owners of\nNorvane Limited"
TABLES = {
    "years below": (f"At December 31,\n{TWO}2023\n2022\n", {"Revenue": REVENUE, "Net income": NET}),
    "years below per cents": (f"Percent\nof sales\n{TWO}2023\n2022\n", {}),
    "per cents among years": ("2023\n2022\n% change\n2021\n% change\nRevenue\n4,210\n3,980\n6\n3,700\n8\n", {}),
    "figures in a label": (f"2023\n2022\n{LABEL}\n4,210\n3,980\n", {LABEL: REVENUE}),
    "a label that goes on, and a note": (
        f"Note\n2023\n2022\n{LOSS}\n4(a)\n(310)\n(290)\n",
        {LOSS.replace("\n", " "): {2023: -310, 2022: -290}},
    ),
    "a sum without a label": (
        SUMS.format(60),
        {
            "Inventories": {2023: 40, 2022: 30},
            "Cash": {2023: 20, 2022: 10},
            "Total Current assets": {2023: 60, 2022: 40},
        },
    ),
    "what is no sum": (SUMS.format(99), {"Inventories": {2023: 40, 2022: 30}}),
    "parts of years": (
        "2023\n2022\nRevenue\nCapital\nTotal\nRevenue\nCapital\nTotal\nIncome\n5\n-\n5\n4\n1\n5\n",
        {"Income": {2023: 5, 2022: 5}, "Income, Revenue": {2023: 5, 2022: 4}, "Income, Capital": {2023: 0, 2022: 1}},
    ),
}


@pytest.mark.parametrize(("text", "rows"), TABLES.values(), ids=TABLES)
def test_rows_that_are_in_no_doubt_have_the_printed_values(text, rows):
    assert read(text) == rows


def test_two_dates_of_one_year_are_two_columns():
    (line, *_) = lines_of(f"December 31, 2023\nJune 30, 2023\n{TWO}")
    assert [(column.year, column.month) for column in line.columns] == [(2023, 12), (2023, 6)]


LABELS = ["Revenue", "Cost of sales", "Gross profit", "Research", "Administration", "Operating income"]
COLUMNS = {2023: ["500", "300", "200", "50", "30", "120"], 2022: ["400", "250", "150", "40", "30", "80"]}


def folded(labels: list[str] = LABELS, first: str = "500") -> str:
    """A page that was read column by column."""
    figures = [line for year, column in COLUMNS.items() for line in [str(year), *column]]
    figures[1] = first
    return "\n".join(["STATEMENTS OF INCOME", "(In millions)", "Year Ended December 31,", *labels, "60", *figures])


def test_a_page_that_was_read_column_by_column_is_arranged_where_its_sums_come_out():
    sums = {"Gross profit": {2023: 200, 2022: 150}, "Operating income": {2023: 120, 2022: 80}}
    assert read(folded()) == read(folded([*LABELS[:3], "Operating expenses:", *LABELS[3:]])) == sums
    rows = {line.label: line for line in lines_of(folded())}
    assert [*rows] == LABELS
    assert rows["Research"].values == (50, 40)
    assert "apart" in rows["Research"].doubts[0]
    assert read(folded(LABELS[1:])) == {}
    for text in (folded(first="501"), TWO):
        assert unfolded(text) == (text, None)


def at(text: str, left: float, top: float) -> tuple[float, float, float, float, str]:
    return (left, top, left + 4.5 * len(text), top + 9, text)


def test_a_figure_within_a_label_is_no_column():
    words = [at("2023", 300, 10), at("2022", 400, 10), at("net", 40, 42), at("of", 56, 42), at("189", 68, 42)]
    for n, (one, other) in enumerate([("4,210", "3,980"), ("310", "290"), ("95", "90"), ("12", "11"), ("7", "6")]):
        top = 30 + 12 * n
        words += [at(f"Row{'abcde'[n]}", 20, top), at(one, 320 - 4.5 * len(one), top)]
        words += [at(other, 420 - 4.5 * len(other), top)]
    lines = lines_of_words(words)
    assert [(line.values, line.doubts) for line in lines][:2] == [((4210, 3980), ()), ((310, 290), ())]


def test_columns_below_a_year_are_rows_of_their_own_by_their_places():
    words = [at("2023", 300, 10), at("Capital", 270, 22), at("Total", 330, 22)]
    for top in (34, 46, 58):
        words += [at("Income", 20, top), at("5", 296, top), at("9", 350, top)]
    assert {(line.label, line.values) for line in lines_of_words(words)} == {
        ("Income", (9,)),
        ("Income, Capital", (5,)),
    }


def test_dates_of_numbers_are_read_in_words_where_they_can_be_read_in_one_way():
    plain = {
        "25/3/2023": "March 25, 2023",
        "3/4/2023": "2023",
        "1.10.2021-30.9.2022": "Twelve months ended September 30, 2022",
        "45/45/2023": "45/45/2023",
        "1.2.3": "1.2.3",
    }
    assert {text: readable(text) for text in plain} == plain


def test_a_consolidated_statement_with_a_broken_title_is_known_by_its_rows_and_no_other_table():
    rows = "Revenue|Cost of sales|Gross profit|Operating income|Interest expense|Income tax expense|Net income"
    text = "2023\n2022\n" + "".join(f"{label}\n9\n8\n" for label in rows.split("|"))
    broken = "Consolidated Stateme nt of Income\n"
    others = ["", "Summarized consolidated information of affiliates\n", "Consolidated pro forma results\n"]
    assert sheet("A_2023_10K", 1, 2023, broken + text).kind == "income"
    for other in [*(head + text for head in others), broken + text.partition("Operating")[0]]:
        assert sheet("A_2023_10K", 1, 2023, other).kind is None
