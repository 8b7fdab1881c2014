"""The rows of a page: what stands on one height, with its font, its cells and whether it lies in a drawn grid.

The lines of ``Page.get_text("dict")`` are those of ``Page.get_text()`` in the same order, so every row is a span of the
page's text. A page that is given as text has rows without places.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

NUMBER = re.compile(
    r"[-–—+(]?\s?[$€£¥]?\s?\(?[-–]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?\s?\)?\s?(?:%|x|bps|pts?|pp)?\s?\)?\s?[$€£¥]?"
)
NOTHING = frozenset({"-", "–", "—", "―", "--", "n/a", "na", "nm", "n.m.", "n.a.", "*", "**", "nil", "$", "%"})
SYMBOL = re.compile(r"[^\w]*")
BEFORE_A_NUMBER = frozenset("$€£¥(")
GAP = re.compile(r"\s{3,}|\t+|(?:\s*\.){4,}\s*")
TRAILING_NUMBER = re.compile(r"(?<=\s)(?:[$€£¥]?\s?\(?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?\)?%?|[—–-])(?=\s|$)")
NEXT_SIGN = re.compile(r"(?<=\d|\))\s+[$€£¥]\s*\Z")
BOLD, ITALIC = 1 << 4, 1 << 1
IS_BOLD = re.compile(r"bold|black|heavy|demi", re.I)
IS_ITALIC = re.compile(r"italic|oblique", re.I)


class Cell(NamedTuple):
    """One cell of a row, a label or a figure with its signs."""

    text: str
    left: float = 0.0  # edges, in points; 0 where places are unknown
    right: float = 0.0

    @property
    def is_number(self) -> bool:
        """Whether the cell is a figure (``$1,577.0``, ``(4.2)%``, ``2018``), or a dash or note in its place."""
        text = " ".join(self.text.split())
        return text.lower() in NOTHING or (any(map(str.isdigit, text)) and NUMBER.fullmatch(text) is not None)


def split_cells(text: str, left: float = 0.0, right: float = 0.0) -> list[Cell]:
    """The cells of one line: parted by wide gaps and leaders, and before figures that end the line in a row."""
    edges = [0, *(edge for gap in GAP.finditer(text) for edge in gap.span()), len(text)]
    spans = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        sign = NEXT_SIGN.search(text, start, end)  # ``12,614 $``: the sign is the next figure's
        cut = sign.start() if sign else end
        spans += [*_without_trailing_numbers(text, start, cut), (cut, end)]
    length = len(text.rstrip())
    width = (right - left) / max(length, 1)
    return [
        Cell(" ".join(text[start:end].split()), left + start * width, left + min(end, length) * width)
        for start, end in spans
        if text[start:end].strip()
    ]


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


def joined_cells(cells: Sequence[Cell]) -> list[Cell]:
    """Cells with lone signs put to their number: ``$`` and ``(`` to the next, ``)`` and ``%`` to the last."""
    joined, before = [], None
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
    """What stands on one height of a page; places are in points from the page's upper left corner."""

    start: int  # characters of the page's text; only blanks stand between rows
    end: int
    cells: list[Cell]  # from left to right
    is_placed: bool = False  # whether the places are known
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    size: float = 0.0  # of the font
    is_bold: bool = False  # all of its letters are
    is_italic: bool = False
    is_in_grid: bool = False  # two cells or more are drawn behind it, or two rules right above or below it

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)

    @property
    def n_numbers(self) -> int:
        return sum(cell.is_number for cell in self.cells)


def rows_of_page(lines: Sequence[dict], boxes: Sequence[Sequence[float]], text: str) -> list[Row] | None:
    """The rows of a PDF's page that have letters, in order, of its lines and boxes, see :func:`lib.data.pdf.layout_of`;
    None when its lines, but for blanks, are not the text's."""
    rows, end = [], 0
    for line in lines:
        content = "".join(span["text"] for span in line["spans"]).replace("\x00", "")
        if not content.strip():
            continue
        start = text.find(content.strip(), end)
        if start < 0 or text[end:start].strip():
            return None
        end = start + len(content.strip())
        box, last = line["bbox"], rows[-1][-1]["bbox"] if rows else (0, 0, 0, 0)
        overlap = min(box[3], last[3]) - max(box[1], last[1])
        if not rows or overlap <= min(box[3] - box[1], last[3] - last[1]) / 2 or box[0] < last[2] - 3:
            rows.append([])  # not on the height of the last line, to its right
        rows[-1].append(line | {"start": start, "end": end, "text": content})
    if text[end:].strip():
        return None
    return [_row(row, boxes) for row in rows]


def _row(lines: Sequence[dict], boxes: Sequence[Sequence[float]]) -> Row:
    """The row of lines (``text`` and its ``start`` and ``end`` added) on a page with ``boxes`` drawn on it."""
    lefts, tops, rights, bottoms = zip(*(line["bbox"] for line in lines), strict=True)
    top, bottom = min(tops), max(bottoms)
    cells = [cell for line in lines for cell in split_cells(line["text"], *line["bbox"][::2])]
    spans = [span for line in lines for span in line["spans"] if span["text"].strip()]
    letters = [span for span in spans if any(map(str.isalpha, span["text"]))] or spans
    size = max(letters, key=lambda span: len(span["text"]))["size"]
    is_bold = all(span["flags"] & BOLD or IS_BOLD.search(span["font"]) for span in letters)
    is_italic = all(span["flags"] & ITALIC or IS_ITALIC.search(span["font"]) for span in letters)
    behind, rules = set(), set()  # the left edges, in whole points
    for left, upper, right, lower in boxes:
        if 5 <= lower - upper <= 60 and right - left >= 4 and upper <= (top + bottom) / 2 <= lower:
            behind.add(round(left))
        elif lower - upper <= 2 and right - left >= 12 and min(abs(upper - bottom), abs(lower - top)) <= 3:
            rules.add(round(left))
    place = (True, min(lefts), top, max(rights), bottom)
    is_in_grid = max(len(behind), len(rules)) >= 2
    return Row(lines[0]["start"], lines[-1]["end"], joined_cells(cells), *place, size, is_bold, is_italic, is_in_grid)


def rows_of_text(text: str) -> list[Row]:
    """The rows of a page that is given as text: its lines that are not blank, without places."""
    lines = text.splitlines(keepends=True)
    placed = zip(accumulate(map(len, lines), initial=0), lines, strict=False)
    return [Row(at, at + len(line.rstrip()), joined_cells(split_cells(line))) for at, line in placed if line.strip()]
