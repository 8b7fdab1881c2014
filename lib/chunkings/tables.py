"""Which rows of a page are tables: figures in aligned columns, or a drawn grid, with the labels and heads in between.

No model looks at the page. A table is a run of rows that hold figures beside a label (or lie in a drawn grid); it goes
on over rows of labels only, and takes the heads of its columns in.
"""

import re
from collections.abc import Sequence

from lib.chunkings.layout import Cell, Row

MIN_ROWS = 2
MIN_NUMBERS = 3
MAX_BRIDGE = 4
MAX_LABEL = 60
MAX_LINE = 120
SAME_COLUMN = 4.0
MIN_ALIGNED = 0.5
LARGER = 1.4
MARKER = re.compile(r"[^\w\s]{1,2}|\(?(?:[a-zA-Z]|\d{1,2}|[ivxIVX]{1,4})[.)]|\(\d{1,2}\)|[o§]")
UNIT = re.compile(r"\b(?:millions?|thousands?|billions?|except|unaudited|dollars)\b", re.I)
SENTENCE_END = re.compile(r"[.;:]['\"”’)]*$")


def tables_of(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """The tables of a page: the first row and the row behind the last one of each, in order, without overlap."""
    found, row, free_from = [], 0, 0
    while row < len(rows):
        if not is_table_row(rows[row]):
            row += 1
            continue
        end = behind = _end_of_run(rows, row)
        if end == len(rows) and rows[-1].is_placed and len(rows[-1].cells) == 1:  # the page's number
            end = max([n + 1 for n in range(row, end - 1) if is_table_row(rows[n])], default=end)
        first = _first_head(rows, row, end, free_from)
        if _is_table(rows[row:end], has_head=first < row):
            goes_on = found and found[-1][1] == first and not rows[row].is_placed
            found.append((found.pop()[0] if goes_on else first, end))
            free_from = end
        row = behind
    return found


def is_table_row(row: Row) -> bool:
    """Whether a row could be a table's: a figure beside a label, figures only, or cells in a drawn grid."""
    cells = _unmarked(row)
    if len(cells) > 1 and (_is_in_grid(row) or any(cell.is_number for cell in cells[1:])):
        return True
    return bool(cells) and all(cell.is_number for cell in cells)


def _unmarked(row: Row) -> list[Cell]:
    """A row's cells without the mark of a list before them."""
    return row.cells[1:] if row.cells and MARKER.fullmatch(row.cells[0].text) else row.cells


def _is_in_grid(row: Row) -> bool:
    return row.n_backgrounds >= 2 or row.n_rules >= 2


def _end_of_run(rows: Sequence[Row], first: int) -> int:
    """The row behind the last table row that is reached over labels only."""
    end = first + 1
    for row in range(first + 1, len(rows)):
        if row - end >= MAX_BRIDGE or not _follows(rows[row - 1], rows[row]):
            break
        if is_table_row(rows[row]):
            end = row + 1
        elif not _is_label(rows[row], _number_edge(rows[first:end]), rows[first].size):
            break
    return end


def _number_edge(rows: Sequence[Row]) -> float:
    """Where the columns of figures begin, in points."""
    return min((cell.left for row in rows for cell in row.cells[1:] if cell.is_number), default=float("inf"))


def _follows(above: Row, below: Row) -> bool:
    """Whether a row stands close under another; figures may also go on at the top of the next column."""
    gap, height = below.top - above.bottom, above.bottom - above.top
    if below.is_placed and gap < -2 * height:
        return below.n_numbers == len(below.cells)
    return not below.is_placed or gap <= (3.0 if is_table_row(below) else 2.2) * height


def _is_label(row: Row, edge: float, size: float) -> bool:
    """Whether a row without figures can stand inside a table."""
    if not row.is_placed:
        is_sentence = len(row.text) > MAX_LABEL + 10 and SENTENCE_END.search(row.text.rstrip(":"))
        return len(row.text) <= MAX_LINE and not is_sentence
    return row.size <= size * LARGER and (len(row.text) <= MAX_LABEL or row.right <= edge + 10)


def _is_table(rows: Sequence[Row], has_head: bool) -> bool:
    """Whether a run has rows and figures enough, in columns; under a head one row of figures is enough."""
    table_rows = [row for row in rows if is_table_row(row)]
    is_placed = rows[0].is_placed
    if is_placed and has_head and sum(row.n_numbers for row in rows) >= MIN_NUMBERS:
        return True
    if len(table_rows) < MIN_ROWS:
        return False
    if not is_placed:
        return sum(row.n_numbers for row in table_rows) >= 2 * MIN_NUMBERS
    if sum(map(_is_in_grid, table_rows)) >= max(3, len(table_rows) // 2):
        return True
    edges = [(n, cell.right) for n, row in enumerate(table_rows) for cell in row.cells if cell.is_number]
    aligned = [any(m != n and abs(edge - other) <= SAME_COLUMN for m, other in edges) for n, edge in edges]
    is_one_row = len({n for n, _ in edges}) == 1
    return len(edges) >= MIN_NUMBERS and (is_one_row or sum(aligned) >= MIN_ALIGNED * len(edges))


def _first_head(rows: Sequence[Row], first: int, end: int, free_from: int) -> int:
    """The first row of the heads above a run; of a page given as text, of the labels whose figures the run is."""
    if not rows[first].is_placed:
        n_figures = sum(len(row.cells) == row.n_numbers for row in rows[first:end])
        are_figures = n_figures * 2 >= end - first
        while are_figures and first > free_from and _is_label(rows[first - 1], 0.0, 0.0):
            first -= 1
        return first
    edge = _number_edge(rows[first:end])
    while first > free_from:
        above, below = rows[first - 1], rows[first]
        is_near = -2 <= below.top - above.bottom <= 1.2 * (above.bottom - above.top)
        if not is_near or not _is_head(above, edge):
            break
        first -= 1
    return first


def _is_head(row: Row, edge: float) -> bool:
    """Whether a row reads as the head of columns: cells side by side, over the figures, or a unit."""
    if len(row.text) > 2 * MAX_LABEL or SENTENCE_END.search(row.text):
        return False
    is_unit = len(row.text) <= MAX_LABEL and UNIT.search(row.text) is not None
    return len(_unmarked(row)) > 1 or row.left >= edge - 30 or is_unit
