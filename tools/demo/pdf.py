"""Drawing a filing: headings, wrapped paragraphs and aligned tables on letter-size pages, with PyMuPDF.

Pages are written as PDF operators (ISO 32000-1, 9.4) with the base-14 Helvetica: `page.insert_text` looks all fonts up
again for each string, which alone would take longer than all the rest.

What is drawn under a mark is remembered as a span of each page's printed characters, so that the evidence for a
question can later be cut from the text that PyMuPDF reads back, and not from what we meant to draw.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pymupdf

from tools.demo.typeset import (
    BOLD,
    BOTTOM,
    HEIGHT,
    ITALIC,
    LEADING,
    LEFT,
    PLAIN,
    RIGHT,
    SIZE,
    TOP,
    WIDTH,
    width,
    wrap,
)

_TIMESTAMP = "D:20230301000000Z"


@dataclass(frozen=True)
class Row:
    """One line of a table. ``style``: "item", "head" (no figures), "total" (ruled above) or "grand" (and with $)."""

    label: str
    values: tuple[str, ...] = ()
    style: str = "item"
    indent: int = 1


@dataclass(frozen=True)
class Span:
    """Printed characters ``start:end`` of a page, not counting white space."""

    page: int
    start: int
    end: int


class Sheets:
    """A filing while it is being drawn, from the top of its first page to the bottom of its last.

    Args:
        title: goes into the PDF's metadata.
        header: printed small at the top of every page but the first; may be empty.
    """

    def __init__(self, title: str, header: str = ""):
        self._document = pymupdf.open()
        self._document.set_metadata({"title": title, "subject": "Invented company, invented figures",
                                     "creationDate": _TIMESTAMP, "modDate": _TIMESTAMP})  # fmt: skip
        self._header = header
        self._printed: list[int] = []
        self.marks: dict[str, list[Span]] = defaultdict(list)
        self._pages: list[list[str]] = []  # the operators of each page
        self._contents: int | None = None
        self._sections: list[tuple[str, int]] = []
        self.new_page()

    @property
    def page(self) -> int:
        return len(self._printed) - 1

    def new_page(self) -> None:
        self._pages.append([])
        self._printed.append(0)
        self._y = TOP
        if self._header and self.page:
            self._write(LEFT, 40, self._header, ITALIC, 7.5)

    def contents_page(self) -> None:
        """Leave a page for the table of contents, which is drawn when all sections are known."""
        self.new_page()
        self._contents = self.page

    def section(self, title: str, new_page: bool = True) -> None:
        """Open an item that the table of contents lists."""
        if new_page or self._y + 8 * LEADING > BOTTOM:
            self.new_page()
        self._sections.append((title, self.page))
        self.heading(title, 11)

    def blank_page(self) -> None:
        """A page with nothing on it at all, as printers leave before a new part."""
        self._pages.append([])
        self._printed.append(0)

    def _write(self, x: float, y: float, text: str, font: str = PLAIN, size: float = SIZE) -> None:
        self._pages[-1].append(text_operator(x, y, text, font, size))
        self._printed[-1] += len("".join(text.split()))

    def _rule(self, x0: float, x1: float, y: float) -> None:
        self._pages[-1].append(f"0.5 w {x0:.2f} {HEIGHT - y:.2f} m {x1:.2f} {HEIGHT - y:.2f} l S")

    def _need(self, height: float) -> None:
        if self._y + height > BOTTOM:
            self.new_page()

    @contextmanager
    def mark(self, name: str | None) -> Iterator[None]:
        """Remember what is drawn inside under this name, page by page."""
        page, start = self.page, self._printed[-1]
        yield
        for number in range(page, self.page + 1) if name else ():
            begin = start if number == page else len("".join(self._header.split()))
            if self._printed[number] > begin:
                self.marks[name].append(Span(number, begin, self._printed[number]))

    def space(self, height: float) -> None:
        self._y += height

    def centered(self, text: str, font: str = PLAIN, size: float = SIZE) -> None:
        for line in wrap(text, RIGHT - LEFT, font, size):
            self._y += max(0, size - SIZE)
            self._write((WIDTH - width(line, font, size)) / 2, self._y, line, font, size)
            self._y += SIZE * 1.35

    def heading(self, text: str, size: float = SIZE) -> None:
        self._need(5 * LEADING)
        self._y += 5
        for line in wrap(text, RIGHT - LEFT, BOLD, size):
            self._write(LEFT, self._y, line, BOLD, size)
            self._y += size * 1.4

    def paragraph(self, text: str, mark: str | None = None) -> None:
        """Wrapped text. A marked paragraph stays on one page, others may run over."""
        lines = wrap(text, RIGHT - LEFT, PLAIN, SIZE)
        self._need((len(lines) if mark else min(2, len(lines))) * LEADING)
        with self.mark(mark):
            for line in lines:
                self._need(LEADING)
                self._write(LEFT, self._y, line)
                self._y += LEADING
        self._y += 5

    def table(self, columns: Sequence[str], rows: Sequence[Row], mark: str | None = None, caption: str = "",
              title: Sequence[str] = (), column_width: float = 78, heading: str = "") -> None:  # fmt: skip
        """Labels to the left, figures flush right in columns; kept on one page.

        Args:
            columns: head of each column of figures.
            caption: what stands above the labels, such as "(in millions)".
            title: centered lines above, the first in bold; they belong to the mark.
            heading: a heading that must not be parted from the table.
        """
        edges = [RIGHT - column_width * (len(columns) - 1 - i) for i in range(len(columns))]
        self._need((len(title) + len(rows) + (2 if heading else 0) + 2) * LEADING + 20)
        if heading:
            self.heading(heading)
        self._y += 3
        with self.mark(mark):
            for line, text in enumerate(title):
                self.centered(text, PLAIN if line else BOLD, SIZE + (0 if line else 1.5))
            self._y += 6 if title else 0
            self._table_line(caption, columns, edges, ITALIC, BOLD)
            self._rule(LEFT, RIGHT, self._y - LEADING + 3.5)
            for row in rows:
                self._row(row, edges, column_width)
        self._y += 9

    def _row(self, row: Row, edges: Sequence[float], column_width: float) -> None:
        font = BOLD if row.style in ("head", "grand") else PLAIN
        indent = 0 if row.style in ("head", "grand") else 10 * row.indent
        if row.style in ("total", "grand"):
            for edge in edges:
                self._rule(edge - column_width + 14, edge, self._y - 9)
        self._table_line(row.label, row.values, edges, font, PLAIN, indent, has_dollar=row.style == "grand")

    def _table_line(self, label: str, values: Sequence[str], edges: Sequence[float], font: str, figures: str,
                    indent: float = 0, has_dollar: bool = False) -> None:  # fmt: skip
        if label:
            self._write(LEFT + indent, self._y, label, font)
        for value, edge in zip(values, edges, strict=False):
            if has_dollar and value[:1].strip("-"):
                self._write(edge - 62, self._y, "$", figures)
            if value:
                # A closing parenthesis hangs past the edge so that digits line up.
                hang = width(")", figures, SIZE) if value.endswith(")") else 0
                self._write(edge - 4 - width(value, figures, SIZE) + hang, self._y, value, figures)
        self._y += LEADING

    def _contents_operators(self) -> list[str]:
        found = [text_operator(LEFT, TOP, "TABLE OF CONTENTS", BOLD, 11)]
        for line, (title, page) in enumerate(self._sections):
            y = TOP + 30 + 18 * line
            found.append(text_operator(LEFT, y, title))
            found.append(text_operator(RIGHT - width(str(page), PLAIN, SIZE), y, str(page)))
        return found

    def finish(self) -> bytes:
        """The PDF; equal drawing gives equal bytes."""
        for number, operators in enumerate(self._pages):
            page = self._document.new_page(width=WIDTH, height=HEIGHT)
            if not operators:
                continue
            # The page number is not counted as printed: it comes after everything that may be marked.
            middle = (WIDTH - width(str(number), PLAIN, 8)) / 2
            footer = [text_operator(middle, 764, str(number), PLAIN, 8)] if number else []
            contents = self._contents_operators() if number == self._contents else []
            for font in (PLAIN, BOLD, ITALIC):
                page.insert_font(fontname=font)
            xref = self._document.get_new_xref()
            self._document.update_object(xref, "<<>>")
            self._document.update_stream(xref, "\n".join([*operators, *contents, *footer]).encode("ascii"))
            page.set_contents(xref)
        return self._document.tobytes(no_new_id=True, deflate=True, garbage=3)


def text_operator(x: float, y: float, text: str, font: str = PLAIN, size: float = SIZE) -> str:
    """PDF operators that show a line of ASCII text, its baseline starting ``x, y`` points from the top left."""
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /{font} {size} Tf {x:.2f} {HEIGHT - y:.2f} Td ({escaped}) Tj ET"
