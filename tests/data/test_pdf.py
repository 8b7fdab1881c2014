"""PDFs are read whole or not at all: bytes behind the end harm nothing, a file that is cut is named."""

import json

import pymupdf
import pytest

from lib.data import pdf
from tests.conftest import write_pdf

HTML = b"<!DOCTYPE html><html><body>" + b"<p>Served by a proxy 1 0 objects</p>" * 200 + b"</body></html>"


def read_texts(path):
    """What reading gives, here in this process."""
    return tuple(json.loads(pdf.texts(str(path))))


@pytest.fixture
def amended(tmp_path):
    """A filing with a page that was added behind its end, as programs save changes."""
    path = write_pdf(tmp_path / "ACME.pdf", *(f"page {number} of Acme" for number in range(4)))
    with pymupdf.open(path) as opened:
        opened.new_page().insert_text((50, 50), "the page that was added")
        opened.saveIncr()
    return path


@pytest.mark.parametrize("behind", [HTML, HTML + b"\nstartxref\n0\n", b"\0" * 9000, b"x" * 100_000])
def test_bytes_behind_the_end_of_a_pdf_harm_nothing(amended, behind):
    sound = read_texts(amended)
    amended.write_bytes(amended.read_bytes() + behind)
    assert read_texts(amended) == sound
    assert len(sound[0]) == 5


@pytest.mark.parametrize("share", [0.3, 0.6, 0.97])
@pytest.mark.parametrize("behind", [b"", HTML], ids=["", "HTML"])
def test_a_pdf_that_is_cut_is_named(amended, share, behind):
    content = amended.read_bytes()
    first_end = content.index(b"%%EOF")
    ends = int(first_end * share), first_end + int((len(content) - first_end) * share)
    for end in ends:  # within the first part, and within what was added
        amended.write_bytes(content[:end] + behind)
        pages, problem = read_texts(amended)
        assert pages == []
        assert "damaged" in problem


def test_what_a_pdf_prints_as_the_number_of_a_page_is_read(amended):
    assert pdf.read_labels(amended) == []
    with pymupdf.open(amended) as opened:
        opened.set_page_labels([{"startpage": 0, "style": "r"}, {"startpage": 2, "style": "D", "prefix": "F-"}])
        opened.saveIncr()
    assert pdf.read_labels(amended) == ["i", "ii", "F-1", "F-2", "F-3"]


def test_a_cell_is_marked_with_its_row_and_the_head_of_its_column():
    def place(left: float, top: float) -> pymupdf.Rect:
        return pymupdf.Rect(left, top, left + 30, top + 10)

    rows, values = [place(20, 50), place(20, 90)], [place(300, 50), place(200, 90)]
    heads = [place(310, 10), place(195, 20), place(20, 95)]
    assert pdf.cell_places(rows, values, heads) == [rows[0], values[0], heads[0]]
    assert pdf.cell_places(rows[1:], values, heads) == [rows[1], values[1], heads[1]]
    assert pdf.cell_places(rows[:1], values[1:], heads) == [rows[0], values[1]]  # not on one line
