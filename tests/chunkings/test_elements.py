"""Titles, text and tables of a page: nothing of its text is lost, and tables are found by where figures stand."""

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.chunkings.elements import elements, elements_of
from lib.chunkings.layout import Cell, rows_of_page, rows_of_text, split_cells

LINE = st.text(st.characters(codec="ascii", exclude_characters="\r\x0b\x0c\x1c\x1d\x1e"), max_size=60)


def kinds(page: pymupdf.Page) -> list[tuple[str, str]]:
    """Kind and first words of each element of a page."""
    text = page.get_text()
    found = elements_of(text, rows_of_page(page, text))
    assert "".join(text[one.start : one.end] for one in found) == text
    return [(one.kind, one.rows[0].cells[0].text) for one in found]


def test_a_page_is_told_apart(page_of, sales, prose):
    page = page_of(("title", "Results of operations"), ("text", prose), ("table", sales), ("text", prose))
    assert kinds(page) == [
        ("title", "Results of operations"),
        ("text", prose[0]),
        ("table", "(Millions)"),
        ("text", prose[0]),
    ]


def test_a_section_s_label_does_not_part_a_table(page_of, sales):
    longer = [*sales, ("Discontinued operations", "", ""), ("Net sales", "12", "15"), ("Loss", "(3)", "(1)")]
    assert kinds(page_of(("table", longer))) == [("table", "(Millions)")]


def test_figures_in_prose_are_no_table(page_of):
    lines = ["Net sales were $32,765 in 2018 and $31,657 in 2017.", "Cost of sales were 16,682 and 16,055."]
    assert [kind for kind, _ in kinds(page_of(("text", lines)))] == ["text"]


def test_figures_that_stand_in_no_column_are_no_table(page_of):
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        for number, (x, figure) in enumerate([(200, "17"), (330, "2018"), (410, "5")]):
            page.insert_text((50, 60 + 12 * number), "Words")
            page.insert_text((x, 60 + 12 * number), figure)
        assert {kind for kind, _ in kinds(page)} == {"text"}


def test_a_drawn_grid_of_words_is_a_table():
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        for row, words in enumerate([("Segment", "Head"), ("Safety", "Jane Doe"), ("Health", "John Roe")]):
            for column, word in enumerate(words):
                left, top = 50 + 200 * column, 60 + 15 * row
                page.draw_rect((left, top, left + 200, top + 15))
                page.insert_text((left + 5, top + 11), word, fontsize=9)
        assert kinds(page) == [("table", "Segment")]


def test_the_number_of_a_page_is_not_in_its_table(page_of, sales):
    page = page_of(("table", sales))
    page.insert_text((300, 750), "60", fontsize=9)
    assert kinds(page) == [("table", "(Millions)"), ("text", "60")]


def test_a_paragraph_in_bold_is_no_title():
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        for row in range(5):
            page.insert_text((50, 60 + 11 * row), f"We may not be able to sell what we make {row}", fontname="hebo")
        assert [kind for kind, _ in kinds(page)] == ["text"]


@given(st.lists(LINE, max_size=20))
def test_no_character_of_a_page_given_as_text_is_lost(lines):
    text = "\n".join(lines)
    found = elements_of(text, rows_of_text(text))
    if found:
        assert "".join(text[one.start : one.end] for one in found) == text
        assert (found[0].start, found[-1].end) == (0, len(text))
    else:
        assert not text.strip()


def test_of_text_a_table_is_its_labels_and_its_figures():
    labels = "Net sales\nCost of sales\nOperating income\n\n"
    figures = "2018\n\n32,765\n16,682\n7,207\n\n2017\n\n31,657\n16,055\n7,692\n\n"
    prose = "The company sold more of what it makes in the year, and cash flow rose with it. " * 3
    text = f"{prose}\n\n{labels}{figures}{prose}\n"
    found = elements_of(text, rows_of_text(text))
    assert [one.kind for one in found] == ["text", "table", "text"]
    assert text[found[1].start : found[1].end] == labels + figures


def test_a_page_whose_layout_reads_otherwise_has_no_rows(page_of, prose):
    page = page_of(("text", prose))
    assert rows_of_page(page, "Another text\n") is None
    assert rows_of_page(page, page.get_text() + "and more") is None
    assert [row.text for row in rows_of_page(page, page.get_text() + " \n\n")] == prose


@pytest.mark.parametrize("text", ["$1,577.0", "(4.2)%", "2018", "—", "$ (7,207)", "-3.5 %", "NM", "$", "1.5x", "(11%)"])
def test_figures(text):
    assert Cell(text).is_number


@pytest.mark.parametrize("text", ["", "Net sales", "June 30,", "2018 and", "10-K", "Note 7", "(a)", "1st"])
def test_no_figures(text):
    assert not Cell(text).is_number


def test_a_line_that_holds_a_whole_row_has_its_cells():
    cells = split_cells("Net sales 32,765 31,657 (3.5)%")
    assert [cell.text for cell in cells] == ["Net sales", "32,765", "31,657", "(3.5)%"]
    assert [cell.text for cell in split_cells("Net sales were 32,765 in 2018")] == ["Net sales were 32,765 in 2018"]
    assert [cell.text for cell in split_cells("Legal proceedings ........ 17")] == ["Legal proceedings", "17"]
    assert [cell.text for cell in split_cells("32,765 $")] == ["32,765", "$"]


def test_elements_of_a_study_hold_every_page_and_the_cells_of_tables(study_of, sales, prose):
    study = study_of([("title", "Net sales"), ("table", sales)], [], [("text", prose)])
    found = elements(study)
    assert found["page"].tolist() == [0, 0, 2]
    assert found.groupby("page")["text"].sum().to_dict() == {
        page: text for page, text in enumerate(study.pages["text"]) if text
    }
    assert found["kind"].tolist() == ["title", "table", "text"]
    assert '[["Net sales", 50.0,' in found["rows"][1].replace("[[[", "[[")
    assert found["rows"][[0, 2]].tolist() == ["", ""]
