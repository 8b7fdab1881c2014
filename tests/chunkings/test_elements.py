"""Titles, text and tables of a page: nothing of its text is lost, and tables are found by where figures stand."""

import psutil
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.chunkings.elements import elements, elements_of, elements_of_filing
from lib.chunkings.layout import Cell, rows_of_page, rows_of_text, split_cells
from lib.data.pdf import layout_of, read_texts
from lib.schema import StudyError
from tests.chunkings.conftest import PROSE, SALES

LINE = st.text(st.characters(codec="ascii", exclude_characters="\r\x0b\x0c\x1c\x1d\x1e"), max_size=60)


def kinds(page: pymupdf.Page) -> list[tuple[str, str]]:
    """Kind and first line of each element of a page."""
    text = page.get_text()
    found = elements_of(text, rows_of_page(*layout_of(page), text))
    assert "".join(text[one.start : one.end] for one in found) == "".join(one.text for one in found) == text
    return [(one.kind, one.text.splitlines()[0]) for one in found]


def test_a_page_is_told_apart(page_of):
    # a section's label parts no table
    longer = [*SALES, ("Discontinued operations", "", ""), ("Net sales", "12", "15"), ("Loss", "(3)", "(1)")]
    page = page_of(("title", "Results of operations"), ("text", PROSE), ("table", longer), ("text", PROSE))
    page.insert_text((300, 750), "60", fontsize=9)
    texts = [("text", PROSE[0]), ("table", "(Millions)"), ("text", PROSE[0]), ("text", "60")]
    assert kinds(page) == [("title", "Results of operations"), *texts]
    last = page_of(("table", SALES))
    last.insert_text((300, 750), "60", fontsize=9)
    assert kinds(last) == [("table", "(Millions)"), ("text", "60")]  # the page's number


def test_a_page_whose_layout_is_of_another_text_has_no_rows(page_of):
    page = page_of(("table", SALES))
    given, laid = page.get_text(), layout_of(page)
    assert rows_of_page(*laid, "Another text\n") is None
    assert rows_of_page(*laid, given + "and more") is None
    assert rows_of_page(*laid, given + " \n\n")[-1].text == "Operating loss (7,207) -"


@given(st.lists(LINE, max_size=20))
def test_no_character_of_a_page_given_as_text_is_lost(lines):
    text = "\n".join(lines)
    found = elements_of(text, rows_of_text(text))
    if found:
        assert "".join(text[one.start : one.end] for one in found) == text
        assert (found[0].start, found[-1].end) == (0, len(text))
    else:
        assert not text.strip()


def test_which_cells_are_figures():
    figures = ["$1,577.0", "(4.2)%", "2018", "—", "$ (7,207)", "-3.5 %", "NM", "$", "1.5x", "(11%)"]
    words = ["", "Net sales", "June 30,", "2018 and", "10-K", "Note 7", "(a)", "1st"]
    assert [text for text in figures + words if Cell(text).is_number] == figures


@pytest.mark.parametrize(
    "line", ["Net sales|32,765|31,657|(3.5)%", "Net sales were 32,765 in 2018", "Legal proceedings| ........ |17"]
)
def test_a_line_that_holds_a_whole_row_has_its_cells(line):
    cells = [cell.text for cell in split_cells(line.replace("|", " "))]
    assert cells == [cell for cell in line.split("|") if cell.strip(" .")]


def test_elements_of_a_filing_given_as_text(study_of):
    page = "NET SALES\n\nNet sales rose in the year, as we sold more of what we make than in the year before.\n"
    study = study_of(page, "")
    assert elements(study)["kind"].tolist() == ["title", "text"]
    assert study.with_chunks("elements").chunks["text"].tolist() == [page.strip()]


def test_a_pdf_is_laid_out_apart_from_this_process_which_opens_none_and_is_named_where_that_fails(tmp_path, page_of):
    pdf = page_of(("title", "Results of operations"), ("text", PROSE), ("table", SALES)).parent
    pdf.save(sound := tmp_path / "A.PDF")
    texts, _ = read_texts(sound)
    found = elements_of_filing(sound, texts)
    assert [(page, kind) for page, kind, *_ in found] == [(0, "title"), (0, "text"), (0, "table")]
    assert not [file.path for file in psutil.Process().open_files() if file.path.endswith(".PDF")]
    (broken := tmp_path / "B.pdf").write_bytes(b"%PDF-1.7 nothing")
    with pytest.raises(StudyError, match=r"B\.pdf"):
        elements_of_filing(broken, texts)
