"""Pages that tests typeset themselves, and a study over them."""

from collections.abc import Callable

import pandas as pd
import pymupdf
import pytest

from lib.chunkings.elements import ELEMENT_COLUMNS
from lib.chunkings.table import CHUNKINGS
from lib.study import Study

TITLE, BODY = 14, 9


def typeset(pdf: pymupdf.Document, *pieces: tuple) -> pymupdf.Page:
    """Write a page: pieces are ("title", text), ("text", lines) and ("table", rows of a label and figures)."""
    page, y = pdf.new_page(), 60
    for kind, content in pieces:
        y += 24
        if kind == "title":
            page.insert_text((50, y), content, fontsize=TITLE, fontname="hebo")
        for line in content if kind == "text" else []:
            page.insert_text((50, y), line, fontsize=BODY)
            y += 11
        for row in content if kind == "table" else []:
            page.insert_text((50, y), row[0], fontsize=BODY)
            for column, figure in enumerate(row[1:]):
                width = pymupdf.get_text_length(figure, fontsize=BODY)
                page.insert_text((360 + 90 * column - width, y), figure, fontsize=BODY)
            y += 12
    return page


SALES = [("(Millions)", "2018", "2017"), ("Continuing operations", "", ""), ("Net sales", "$32,765", "$31,657")]
SALES += [("Cost of sales", "16,682", "16,055"), ("Operating loss", "(7,207)", "-")]
PROSE = ["Net sales rose in the year as the company sold more of what it makes, and", "cash flow rose with them."]


def element_table(*rows: tuple) -> pd.DataFrame:
    """Elements of ``DOC`` from (page, kind, text); each begins where the one before ended."""
    elements, end = [], {}
    for page, kind, text in rows:
        start = end.get(page, 0)
        end[page] = start + len(text)
        elements.append(("DOC", page, kind, text, start, end[page], "", True))
    return pd.DataFrame(elements, columns=list(ELEMENT_COLUMNS))


@pytest.fixture
def page_of() -> Callable[..., pymupdf.Page]:
    """Make a page of pieces, see :func:`typeset`."""
    with pymupdf.open() as pdf:
        yield lambda *pieces: typeset(pdf, *pieces)


@pytest.fixture
def study_of(folder, open_words) -> Callable[..., Study]:
    """Make a study of one filing, ``DOC``: pages of pieces (see :func:`typeset`), or of text where they are strings."""

    def make(*pages) -> Study:
        if isinstance(pages[0], str):
            folder.text("DOC", *pages)
        else:
            with pymupdf.open() as pdf:
                for pieces in pages:
                    typeset(pdf, *pieces)
                pdf.save(folder.root / "pdfs" / "DOC.pdf")
            folder.document("DOC")
        folder.question("q0", "DOC", (0, "net sales"), question="net sales rose")
        changes = {"embedder.window": 66, "embedder.window_overlap": 8}
        changes |= {"chunks.size": 200, "chunks.overlap": 20, "parent_child.size": 16, "parent_child.overlap": 2}
        return open_words(changes, chunkings=CHUNKINGS)

    return make
