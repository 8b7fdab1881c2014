"""The cells of a row of text: figures, labels, and the signs that belong to figures."""

import re
from dataclasses import dataclass

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
