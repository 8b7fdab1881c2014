"""Rows of tables from text: columns, units, and rows whose columns cannot be known."""

from lib.data.rows import Entry, columns_of, labels_of, lines_of, unit_of

TEXT = """(In millions)
Three months ended June 30,
Six months ended June 30,
2023
2022
2023
2022
Revenues:
Net sales
$
5 %
4
9
8
Goodwill
7
"""


def test_columns_of_text_have_year_months_and_month():
    (line,) = lines_of(TEXT)  # Goodwill has one value for four columns
    assert (line.label, line.values, line.section) == ("Net sales", (5, 4, 9, 8), "Revenues")
    assert list(map(tuple, line.columns)) == [(2023, 3, 6), (2022, 3, 6), (2023, 6, 6), (2022, 6, 6)]
    assert (line.is_share, line.unit) == (True, "")


def test_labels_are_of_rows_with_values_and_no_broken_off_dates():
    assert labels_of(TEXT.replace("Six months ended June 30,", "As of\n12")) == ["Net sales", "Goodwill"]


def test_a_title_that_names_the_years_adds_no_columns():
    title, heads = Entry("Years ended May 31, 2019, 2018"), Entry("May 31,", ("2019", "2018"))
    assert [column.year for column in columns_of([title, heads])] == [2019, 2018]
    assert columns_of([Entry("Year ended")]) == ()


def test_units_are_read_where_a_page_names_them_first():
    units = {"(In millions, except)": "million", "$000": "thousand", "dollars in billions": "billion", "a million": ""}
    assert {text: unit_of(text) for text in units} == units
