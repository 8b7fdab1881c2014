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
def filing(tmp_path):
    return write_pdf(tmp_path / "ACME.pdf", *(f"page {number} of Acme" for number in range(4)))


@pytest.fixture
def amended(filing):
    """A filing with a page that was added behind its end, as programs save changes."""
    with pymupdf.open(filing) as opened:
        opened.new_page().insert_text((50, 50), "the page that was added")
        opened.saveIncr()
    return filing


@pytest.mark.parametrize("behind", [HTML, b"\0" * 9000, b"\r\n" * 3000, HTML + b"\nstartxref\n0\n", b"x" * 100_000])
@pytest.mark.parametrize("which", ["filing", "amended"])
def test_bytes_behind_the_end_of_a_pdf_harm_nothing(request, which, behind):
    path = request.getfixturevalue(which)
    sound = read_texts(path)
    path.write_bytes(path.read_bytes() + behind)
    assert read_texts(path) == sound
    assert len(sound[0]) == (4 if which == "filing" else 5)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.97])
@pytest.mark.parametrize("behind", [b"", HTML], ids=["", "HTML"])
def test_a_pdf_that_is_cut_is_named(amended, share, behind):
    content = amended.read_bytes()
    first_end = content.index(b"%%EOF")
    for start in (0, first_end):  # within the first part, and within what was added
        end = start + int((first_end if start == 0 else len(content) - start) * share)
        amended.write_bytes(content[:end] + behind)
        assert read_texts(amended) == ([], "is damaged, truncated or not a PDF; download it again")


def test_what_a_pdf_prints_as_the_number_of_a_page_is_read(filing):
    assert pdf.read_labels(filing) == []
    with pymupdf.open(filing) as opened:
        opened.set_page_labels([{"startpage": 0, "style": "r"}, {"startpage": 2, "style": "D", "prefix": "F-"}])
        opened.saveIncr()
    assert pdf.read_labels(filing) == ["i", "ii", "F-1", "F-2"]


def test_a_cell_is_marked_with_its_row_and_the_head_of_its_column():
    def places(*boxes: tuple[float, float]) -> list[pymupdf.Rect]:
        return [pymupdf.Rect(left, top, left + 30, top + 10) for left, top in boxes]

    rows, values, heads = (
        places((20, 50), (20, 90)),
        places((300, 50), (200, 90)),
        places((310, 10), (195, 20), (20, 95)),
    )
    assert pdf.cell_places(rows, values, heads) == [rows[0], values[0], heads[0]]
    assert pdf.cell_places(rows[1:], values, heads) == [rows[1], values[1], heads[1]]
    assert pdf.cell_places(rows[:1], values[1:], heads) == [rows[0], values[1]]  # not on one line
    assert pdf.cell_places([], [], heads) == []
