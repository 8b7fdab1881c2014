"""The rows of a page: what stands on one height, with its font, its cells and what is drawn around it.

The lines of ``Page.get_text("dict")`` are those of ``Page.get_text()`` in the same order, so every row is a span of the
page's text. A page that is given as text has rows without places. A row's cells are figures and labels; the signs of a
figure belong to it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pymupdf


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
MIN_SHARE = 0.5


class Cell(NamedTuple):
    """One cell of a row: its text and its left and right edge, in points (0 where places are unknown)."""

    text: str
    left: float = 0.0
    right: float = 0.0

    @property
    def is_number(self) -> bool:
        """Whether the cell is a figure (``$1,577.0``, ``(4.2)%``, ``2018``), or a dash or note in its place."""
        text = " ".join(self.text.split())
        if text.lower() in NOTHING:
            return True
        return any(map(str.isdigit, text)) and NUMBER.fullmatch(text) is not None


def split_cells(text: str, left: float = 0.0, right: float = 0.0) -> list[Cell]:
    """The cells of one line: parted by wide gaps and leaders, and before figures that end the line in a row."""
    edges = [0, *(edge for gap in GAP.finditer(text) for edge in gap.span()), len(text)]
    spans = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        sign = NEXT_SIGN.search(text, start, end)  # ``12,614 $``: the sign is the next figure's
        cut = sign.start() if sign else end
        spans += _without_trailing_numbers(text, start, cut) + [(cut, end)] * bool(sign)
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
    """What stands on one height of a page; places are in points from the page's upper left corner."""

    start: int  # characters of the page's text; only blanks stand between rows
    end: int
    cells: list[Cell]  # from left to right
    is_placed: bool = False  # whether the places are known
    top: float = 0.0
    bottom: float = 0.0
    left: float = 0.0
    right: float = 0.0
    size: float = 0.0  # of the font
    is_bold: bool = False  # all of its letters are
    is_italic: bool = False
    n_backgrounds: int = 0  # cells drawn behind it
    n_rules: int = 0  # horizontal rules drawn right above or below it

    @property
    def text(self) -> str:
        """The cells' text, with a space between cells."""
        return " ".join(cell.text for cell in self.cells)

    @property
    def n_numbers(self) -> int:
        """How many cells are figures."""
        return sum(cell.is_number for cell in self.cells)


def rows_of_page(page: "pymupdf.Page", text: str) -> list[Row] | None:
    """The rows of a PDF's page that have letters, in order; None when the layout's lines are not the text's.

    Blank lines, and blanks at a line's ends, may differ from those of the text, what the study has of the page.
    """
    import pymupdf

    rows: list[list[dict]] = []
    end = 0
    blocks = page.get_text("dict", flags=pymupdf.TEXTFLAGS_TEXT)["blocks"]
    for line in (line for block in blocks for line in block["lines"]):
        content = "".join(span["text"] for span in line["spans"]).replace("\x00", "")
        if not content.strip():
            continue
        start = text.find(content.strip(), end)
        if start < 0 or text[end:start].strip():
            return None
        end = start + len(content.strip())
        if not rows or not _is_beside(line["bbox"], rows[-1][-1]["bbox"]):
            rows.append([])
        rows[-1].append(line | {"start": start, "end": end, "text": content})
    if text[end:].strip():
        return None
    boxes = [drawing["rect"] for drawing in page.get_cdrawings() if drawing.get("rect")]
    rules = [box for box in boxes if box[3] - box[1] <= 2 and box[2] - box[0] >= 12]
    cells = [box for box in boxes if 5 <= box[3] - box[1] <= 60 and box[2] - box[0] >= 4]
    return [_row(lines, rules, cells) for lines in rows]


def _is_beside(box: Sequence[float], last: Sequence[float]) -> bool:
    """Whether a line stands on the height of the last one, to its right."""
    overlap = min(box[3], last[3]) - max(box[1], last[1])
    return overlap > MIN_SHARE * min(box[3] - box[1], last[3] - last[1]) and box[0] >= last[2] - 3


def _row(lines: list[dict], rules: Sequence[Sequence[float]], cells: Sequence[Sequence[float]]) -> Row:
    lefts, tops, rights, bottoms = zip(*(line["bbox"] for line in lines), strict=True)
    top, bottom = min(tops), max(bottoms)
    spans = [span for line in lines for span in line["spans"] if span["text"].strip()]
    letters = [span for span in spans if any(map(str.isalpha, span["text"]))] or spans
    near = (box for box in rules if min(abs(box[1] - bottom), abs(box[3] - top)) <= 3)
    split = [cell for line in lines for cell in split_cells(line["text"], *line["bbox"][::2])]
    return Row(
        start=lines[0]["start"],
        end=lines[-1]["end"],
        cells=joined_cells(split),
        is_placed=True,
        top=top,
        bottom=bottom,
        left=min(lefts),
        right=max(rights),
        size=max(letters, key=lambda span: len(span["text"]))["size"],
        is_bold=all(span["flags"] & BOLD or IS_BOLD.search(span["font"]) for span in letters),
        is_italic=all(span["flags"] & ITALIC or IS_ITALIC.search(span["font"]) for span in letters),
        n_backgrounds=len({round(box[0]) for box in cells if box[1] <= (top + bottom) / 2 <= box[3]}),
        n_rules=len({round(box[0]) for box in near}),
    )


def rows_of_text(text: str) -> list[Row]:
    """The rows of a page that is given as text: its lines that are not blank, without places."""
    rows, start = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            rows.append(Row(start, start + len(line.rstrip()), joined_cells(split_cells(line))))
        start += len(line)
    return rows
