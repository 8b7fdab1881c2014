"""The rows of a page as printed: cells of words and of figures, by their places on the page or, from text alone, by
their order.

The text of a page has one cell a line. With the words of a PDF, which have boxes, rows are what stands on one line of
the page, and a gap separates cells.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from lib.data.pdf import Word
from lib.statements.figures import MARK, NUMBERED, SPACES, is_figure, readable
from lib.statements.labels import YEAR
from lib.statements.money import signs

MARK_GAP = 2.5  # from a figure to its bracket or per cent, in heights of a line
GAP = 0.7  # between cells, in heights of a line; between words it is about 0.3
SAME_LINE, NEXT_LINE = 0.5, 1.9  # of heights between the middles of lines
INLINE = range(2, 9)  # figures at a line's end; one number alone may belong to the label
ENDS_LABEL = ":."
_UNFINISHED = re.compile(
    r"(?:\b(?:of|and|the|to|for|in|at|from|by|with|or|on|per)|&)$", re.I
)  # words that end no label
LEADERS = re.compile(r"\.{4,}|…{2,}|_{4,}")  # dots from a label to its figures
GROUPED, INNER = re.compile(r"\d[,.]\d{3}(?!\d)"), re.compile(r"\d\s+\d")  # thousands with signs; a space within
_SIGNS = {one.strip() for one in (*signs().values(), "US$", "EUR", "GBP", "USD")}
_CURRENCY = re.compile("|".join(map(re.escape, sorted(_SIGNS, key=len, reverse=True))))


class Cell(NamedTuple):
    """A cell: its text, and its left and right edges in points where they are known."""

    text: str
    left: float | None = None
    right: float | None = None


class GridRow(NamedTuple):
    """A row: the words before its figures, and the figures from left to right; ``cells`` are all as printed."""

    label: str
    figures: tuple[Cell, ...] = ()
    cells: tuple[Cell, ...] = ()
    n_marks: int = 0  # marks of footnotes that were left out


def rows_of_text(text: str) -> list[GridRow]:
    """The rows of a page's text, a cell a line; a label goes on in the next line where that begins in lower case."""
    rows: list[GridRow] = []
    label, cells, figures, n_marks = "", [], [], 0
    inline: list[Cell] = []  # figures that a line ends with; part of the label where figures stand below it

    def close() -> None:
        if label or figures:
            rows.append(GridRow(label, tuple(figures), tuple(cells), n_marks))

    text = LEADERS.sub(" ", readable(text))
    joins = not GROUPED.search(text)
    for raw in text.splitlines():
        line = " ".join(raw.split())
        found, marks = figures_in(line, joins)
        if found or marks or not without_signs(line):
            if found and inline:
                label, figures, inline = " ".join(cell.text for cell in cells), [], []
            figures += found
            n_marks += marks * bool(figures)
            if "%" in line and not found and figures and not re.fullmatch(r".*%|(?:19|20)\d\d", figures[-1].text):
                figures[-1] = Cell(f"{figures[-1].text}%")
            cells.append(Cell(line))
            continue
        words, inline = split_figures(line)
        if label and not figures and goes_on(label, words):
            label, cells = f"{label} {words}", [*cells, Cell(line)]
        else:
            close()
            label, cells = words, [Cell(line)]
        figures, n_marks = [*inline], 0
    close()
    return rows


def goes_on(label: str, words: str) -> bool:
    """Whether a label goes on in the words of the next line: those begin in lower case, or it breaks off."""
    is_open = words[:1].islower() or words[:1] == "(" or _UNFINISHED.search(label)
    return bool(label and words and label[-1] not in ENDS_LABEL and is_open)


def without_signs(line: str) -> str:
    """A cell without currencies, per cents and what is left of brackets: empty where it has nothing else."""
    return re.sub(r"\s+", " ", _CURRENCY.sub(" ", line)).strip(f"% ).{SPACES}")


def figures_in(line: str, joins: bool = False) -> tuple[list[Cell], int]:
    """The figures of a cell that has nothing else, and how many letters of footnotes; none of a cell of words. Where
    spaces ``joins`` thousands, ``4 210`` is one figure."""
    plain = re.sub(r"\(\s+", "(", re.sub(r"\s+([)%])", r"\1", _CURRENCY.sub(" ", line))).strip()
    if not plain:
        return [], 0
    if is_figure(plain) and (joins or not INNER.search(plain)):
        return [Cell(plain)], 0
    tokens = plain.split()
    is_year = [False, *(bool(YEAR.fullmatch(token)) for token in tokens)]
    marks = [
        token for token, of_year in zip(tokens, is_year, strict=False)
        if MARK.fullmatch(token) and (of_year or not NUMBERED.fullmatch(token))
    ]  # fmt: skip
    rest = [token for token in tokens if token not in marks and token not in (")", "%")]
    if not all(map(is_figure, rest)) or re.fullmatch(r"[()%\s]*", plain):
        return [], len(marks) if marks and not rest else 0
    return [Cell(token) for token in rest], len(marks)


def split_figures(line: str) -> tuple[str, list[Cell]]:
    """A line's words, and the figures at its end: ``Goodwill 5 6`` is ``Goodwill`` and two figures."""
    tokens = re.sub(r"\(\s+", "(", re.sub(r"\s+([)%])", r"\1", _CURRENCY.sub(" ", line))).split()
    n = 0
    while n < len(tokens) - 1 and is_figure(tokens[-1 - n]):
        n += 1
    return (" ".join(tokens[:-n]), list(map(Cell, tokens[-n:]))) if n in INLINE else (line, [])


def split_amount(text: str) -> tuple[str, list[Cell]]:
    """A cell's words, and the amount at its end behind a currency's sign: ``Capital at December 31 $ 205,078``."""
    match = re.search(rf"({_CURRENCY.pattern})\s*(\S+)$", text)
    found = figures_in(match[2])[0] if match else []
    return (text[: match.start()].strip(), found) if found and match.start() else (text, [])


def rows_of_words(words: Sequence[Word]) -> list[GridRow]:
    """The rows of a page's words by their places, from the top; two tables side by side give two rows a line."""
    words = [(*box, text) for *box, word in words if (text := LEADERS.sub("", readable(word)).strip())]
    rows: list[GridRow] = []
    below, joins = None, not any(GROUPED.search(word[4]) for word in words)
    for line in printed_lines(words):
        height = median(bottom - top for _, top, _, bottom, _ in line)
        middle = sum(top + bottom for _, top, _, bottom, _ in line) / 2 / len(line)
        is_near = below is not None and middle - below <= NEXT_LINE * height
        below = middle
        for row in split_row(cells_of(line, height), joins):
            last = rows[-1] if rows and is_near else None
            if last and not last.figures and goes_on(last.label, row.label):
                rows[-1] = row._replace(label=f"{last.label} {row.label}", cells=last.cells + row.cells)
            else:
                rows.append(row)
    return rows


def printed_lines(words: Sequence[Word]) -> list[list[Word]]:
    """The words of each printed line, from left to right, lines from the top."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word[1] + word[3], word[0])):
        middle, height = (word[1] + word[3]) / 2, word[3] - word[1]
        last = lines[-1][0] if lines else None
        if last and middle - (last[1] + last[3]) / 2 <= SAME_LINE * min(height, last[3] - last[1]):
            lines[-1].append(word)
        else:
            lines.append([word])
    return [sorted(line) for line in lines]


def cells_of(line: Sequence[Word], height: float) -> list[Cell]:
    """The cells of a printed line: a gap, or a currency, separates them; a sign, a bracket and a per cent go to the
    figure beside them."""
    cells = [Cell(line[0][4], line[0][0], line[0][2])]
    for before, word in pairwise(line):
        gap, last = word[0] - before[2], cells[-1]
        is_part = gap <= MARK_GAP * height and word[4] in (")", "%", ")%", "%)") and _is_amount(last.text)
        if gap <= GAP * height or is_part or (last.text in ("(", "-", "−") and gap <= 4 * height):
            cells[-1] = Cell(f"{last.text} {word[4]}", last.left, word[2])
        else:
            cells.append(Cell(word[4], word[0], word[2]))
    return cells


def _is_amount(text: str) -> bool:
    return bool(figures_in(text)[0] or figures_in(f"{text})")[0])


def split_row(cells: Sequence[Cell], joins: bool) -> list[GridRow]:
    """The rows of a printed line: words after figures begin another one."""
    rows, label, figures, mine, n_marks = [], [], [], [], 0

    def close() -> None:
        if mine:
            rows.append(GridRow(" ".join(label), tuple(figures), tuple(mine), n_marks))

    for cell in cells:
        found, marks = figures_in(cell.text, joins)
        is_words = not found and not marks and bool(without_signs(cell.text))
        words, inline = split_amount(cell.text) if is_words else ("", [])
        if is_words and figures:
            close()
            label, figures, mine, n_marks = [], [], [], 0
        mine.append(cell)
        label += [words] if words else []
        figures += _placed(found or inline, cell)
        n_marks += marks
    close()
    return rows


def _placed(figures: Sequence[Cell], cell: Cell) -> list[Cell]:
    """The figures of a cell with their places: those of several are shared out by their letters."""
    if len(figures) == 1 and figures[0].text.strip():
        return [Cell(figures[0].text, cell.left, cell.right)]
    placed, at, width = [], 0, (cell.right - cell.left) / max(1, len(cell.text))
    for one in figures:
        at = max(cell.text.find(one.text, at), at)
        placed.append(Cell(one.text, cell.left + at * width, cell.left + (at + len(one.text)) * width))
        at += len(one.text)
    return placed
