"""The rows of a page: what stands on one height, with its font, its cells and what is drawn around it.

The lines of ``Page.get_text("dict")`` are those of ``Page.get_text()`` in the same order, so every row is a span of the
page's text. A page that is given as text has rows without places. A row's cells are figures and labels; the signs of a
figure belong to it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import pymupdf

NUMBER = re.compile(
    r"[-–—+(]?\s?[$€£¥]?\s?\(?[-–]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?\s?\)?\s?(?:%|x|bps|pts?|pp)?\s?\)?\s?[$€£¥]?"
)
NOTHING = frozenset({"-", "–", "—", "―", "--", "n/a", "na", "nm", "n.m.", "n.a.", "*", "**", "nil", "$", "%"})
SYMBOL = re.compile(r"[^\w]*")
BEFORE_A_NUMBER = frozenset("$€£¥(")
GAP = re.compile(r"\s{3,}|\t+|(?:\s*\.){4,}\s*")
TRAILING_NUMBER = re.compile(
    r"(?<=\s)(?:[$€£¥]?\s?\(?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?\)?%?|[—–-])(?=\s|$)"
)
NEXT_SIGN = re.compile(r"(?<=\d|\))\s+[$€£¥]\s*\Z")
BOLD, ITALIC = 1 << 4, 1 << 1
IS_BOLD = re.compile(r"bold|black|heavy|demi", re.I)
IS_ITALIC = re.compile(r"italic|oblique", re.I)
MIN_SHARE = 0.5


@dataclass(frozen=True)
class Cell:
    """One cell of a row: its text and its left and right edge, in points (0 where places are unknown)."""

    text: str
    left: float = 0.0
    right: float = 0.0

    @property
    def is_number(self) -> bool:
        """Whether the cell is a figure, or the dash or note that stands for one."""
        return is_number(self.text)


def is_number(text: str) -> bool:
    """Whether a cell is a figure (``$1,577.0``, ``(4.2)%``, ``2018``), or a dash or note in its place."""
    text = " ".join(text.split())
    if text.lower() in NOTHING:
        return True
    return any(character.isdigit() for character in text) and NUMBER.fullmatch(text) is not None


def split_cells(text: str, left: float = 0.0, right: float = 0.0) -> list[Cell]:
    """The cells of one line: parted by wide gaps and leaders, and before figures that end the line in a row."""
    pieces, begin = [], 0
    for gap in GAP.finditer(text):
        pieces.append((begin, gap.start()))
        begin = gap.end()
    pieces.append((begin, len(text)))
    pieces = [part for piece in pieces for part in _without_next_sign(text, *piece)]
    cells = []
    for start, end in pieces:
        cells += _without_trailing_numbers(text, start, end)
    width = (right - left) / max(len(text.rstrip()), 1)
    found = [(start, end, text[start:end].strip()) for start, end in cells]
    return [
        Cell(" ".join(piece.split()), left + start * width, left + min(end, len(text.rstrip())) * width)
        for start, end, piece in found
        if piece
    ]


def _without_next_sign(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """``12,614 $`` as two spans: the sign is the next figure's."""
    sign = NEXT_SIGN.search(text, start, end)
    return [(start, sign.start()), (sign.start(), end)] if sign else [(start, end)]


def _without_trailing_numbers(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """``Net sales 32,765 31,657`` as three spans; two figures at least, as a sentence may end with one."""
    numbers = []
    for match in TRAILING_NUMBER.finditer(text, start, end):
        if numbers and text[numbers[-1][1] : match.start()].strip(" $€£¥"):
            numbers = []
        numbers.append(match.span())
    if len(numbers) < 2 or text[numbers[-1][1] : end].strip():
        return [(start, end)]
    return [(start, numbers[0][0]), *numbers]


def joined_cells(cells: list[Cell]) -> list[Cell]:
    """Cells with lone signs put to their number: ``$`` and ``(`` to the next, ``)`` and ``%`` to the last."""
    joined: list[Cell] = []
    before: Cell | None = None
    for cell in cells:
        if before:
            cell, before = Cell(before.text + cell.text, before.left, cell.right), None
        if set(cell.text) <= BEFORE_A_NUMBER:
            before = cell
        elif SYMBOL.fullmatch(cell.text) and cell.text not in NOTHING and joined:
            joined[-1] = Cell(joined[-1].text + cell.text, joined[-1].left, cell.right)
        else:
            joined.append(cell)
    return joined or ([before] if before else [])


@dataclass
class Row:
    """What stands on one height of a page.

    Attributes:
        start, end: characters of the page's text; only blanks stand between rows.
        cells: from left to right.
        top, bottom, left, right: the box, in points from the page's upper left corner.
        size: of the font, in points; 0 where it is unknown.
        is_bold, is_italic: all of its letters are.
        n_backgrounds: cells drawn behind it.
        n_rules: horizontal rules drawn right above or below it.
        is_placed: whether the places are known.
    """

    start: int
    end: int
    cells: list[Cell] = field(default_factory=list)
    top: float = 0.0
    bottom: float = 0.0
    left: float = 0.0
    right: float = 0.0
    size: float = 0.0
    is_bold: bool = False
    is_italic: bool = False
    n_backgrounds: int = 0
    n_rules: int = 0
    is_placed: bool = True

    @property
    def text(self) -> str:
        """The cells' text, with a space between cells."""
        return " ".join(cell.text for cell in self.cells)

    @property
    def n_numbers(self) -> int:
        return sum(cell.is_number for cell in self.cells)


def rows_of_page(page: pymupdf.Page, text: str) -> list[Row] | None:
    """The rows of a PDF's page.

    Args:
        page: the page.
        text: its text as the study has it; blank lines and blanks at a line's ends may differ from the layout's.

    Returns:
        Rows with letters, in order; None when the layout's lines are not the text's.
    """
    rows, lines_of, end = [], [], 0
    for block in page.get_text("dict", flags=pymupdf.TEXTFLAGS_TEXT)["blocks"]:
        for line in block["lines"]:
            content = "".join(span["text"] for span in line["spans"]).replace("\x00", "")
            if not content.strip():
                continue
            start = text.find(content.strip(), end)
            if start < 0 or text[end:start].strip():
                return None
            end = start + len(content.strip())
            if rows and _is_beside(line["bbox"], lines_of[-1]):
                rows[-1].end = end
            else:
                rows.append(Row(start, end))
                lines_of.append([])
            lines_of[-1].append((line["bbox"], line["spans"], content))
    if text[end:].strip():
        return None
    for row, lines in zip(rows, lines_of, strict=True):
        _describe(row, lines)
    _look_at_drawings(page, rows)
    return rows


def _is_beside(box: Sequence[float], lines: list[tuple]) -> bool:
    """Whether a line stands on the height of a row's lines, to their right."""
    last = lines[-1][0]
    overlap = min(box[3], last[3]) - max(box[1], last[1])
    return overlap > MIN_SHARE * min(box[3] - box[1], last[3] - last[1]) and box[0] >= last[2] - 3


def _describe(row: Row, lines: list[tuple]) -> None:
    boxes = [box for box, _, _ in lines]
    row.left, row.right = min(box[0] for box in boxes), max(box[2] for box in boxes)
    row.top, row.bottom = min(box[1] for box in boxes), max(box[3] for box in boxes)
    spans = [span for _, spans, _ in lines for span in spans if span["text"].strip()]
    letters = [span for span in spans if any(map(str.isalpha, span["text"]))] or spans
    row.size = max(letters, key=lambda span: len(span["text"]))["size"]
    row.is_bold = all(span["flags"] & BOLD or IS_BOLD.search(span["font"]) for span in letters)
    row.is_italic = all(span["flags"] & ITALIC or IS_ITALIC.search(span["font"]) for span in letters)
    row.cells = joined_cells([cell for box, _, text in lines for cell in split_cells(text, box[0], box[2])])


def _look_at_drawings(page: pymupdf.Page, rows: list[Row]) -> None:
    """Count the cells and the rules that are drawn around each row."""
    boxes = [drawing["rect"] for drawing in page.get_cdrawings() if drawing.get("rect")]
    rules = [box for box in boxes if box[3] - box[1] <= 2 and box[2] - box[0] >= 12]
    cells = [box for box in boxes if 5 <= box[3] - box[1] <= 60 and box[2] - box[0] >= 4]
    for row in rows:
        middle = (row.top + row.bottom) / 2
        row.n_backgrounds = len({round(box[0]) for box in cells if box[1] <= middle <= box[3]})
        near = (box for box in rules if min(abs(box[1] - row.bottom), abs(box[3] - row.top)) <= 3)
        row.n_rules = len({round(box[0]) for box in near})


def rows_of_text(text: str) -> list[Row]:
    """The rows of a page that is given as text: its lines that are not blank, without places."""
    rows, start = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            rows.append(
                Row(start, start + len(line.rstrip()), joined_cells(split_cells(line)), is_placed=False)
            )
        start += len(line)
    return rows
