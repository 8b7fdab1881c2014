"""Rows of tables from words with places and from text: columns, units, and rows whose columns cannot be known."""

from lib.data.rows import Entry, columns_of, entries_of_text, entries_of_words, is_head, lines_of, unit_of

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


def words(*rows: tuple[float, str]) -> list[tuple]:
    """Words ten points high and five wide a letter: a row a tuple of places and words, in turn."""
    return [
        (x, 20.0 * y, x + 5 * len(word), 20.0 * y + 10, word)
        for y, row in enumerate(rows)
        for x, word in zip(row[::2], row[1::2], strict=True)
    ]


def test_columns_of_text_have_year_months_and_month():
    lines = lines_of(entries_of_text(TEXT), TEXT)
    assert [(line.label, line.values, line.section) for line in lines] == [
        ("Net sales", (5, 4, 9, 8), "Revenues")
    ]  # Goodwill has one value for four columns
    assert [column[:3] for column in lines[0].columns] == [
        (2023, 3, 6), (2022, 3, 6), (2023, 6, 6), (2022, 6, 6)
    ]  # fmt: skip
    assert lines[0].is_share
    assert lines[0].unit == ""


def test_layout_puts_a_value_into_the_column_that_it_stands_under():
    page = words(
        (200, "2020", 300, "2019"),
        (0, "Net", 18, "sales", 150, "$", 200, "(500)", 305, "400"),
        (0, "Goodwill", 305, "7"),
        (0, "Sale", 24, "of"),
        (0, "stores", 200, "3", 300, "—", 400, "12"),
    )
    lines = lines_of(entries_of_words(page), "(in thousands)")
    assert [(line.label, line.values, line.unit) for line in lines] == [
        ("Net sales", (-500, 400), "thousand"),
        ("Goodwill", (None, 7), "thousand"),
        ("Sale of stores", (3, None), "thousand"),
    ]


def test_a_number_within_words_is_no_value():
    assert entries_of_words(words((0, "Note", 22, "4", 200, "5"))) == [Entry("Note 4", ("5",), (202.5,))]


def test_heads_are_years_and_lengths_of_periods_alone():
    heads = ["Years ended December 31,", "2019", "May 31, 2019 and 2018", "(In millions)", "Sales in 2019"]
    assert [is_head(Entry(head)) for head in heads] == [True, True, True, False, False]
    assert is_head(Entry("December 31,", ("2020", "2019")))
    assert not is_head(Entry("Stores", ("2020", "12")))


def test_a_title_that_names_the_years_adds_no_columns():
    title, heads = Entry("Years ended May 31, 2019, 2018"), Entry("May 31,", ("2019", "2018"))
    assert [column.year for column in columns_of([title, heads])] == [2019, 2018]
    assert columns_of([Entry("Year ended")]) == ()


def test_units_are_read_where_a_page_names_them_first():
    assert [unit_of(text) for text in ("(In millions, except)", "$000", "dollars in billions", "a million")] == [
        "million", "thousand", "billion", "",
    ]  # fmt: skip
