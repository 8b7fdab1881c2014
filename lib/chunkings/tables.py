"""Which rows of a page are tables, and a table as a grid: labels, columns and their heads, from where the cells stand.

A table is a run of rows that hold figures beside a label (or lie in a drawn grid); it goes on over rows of labels only,
and takes the heads of its columns in. Columns are clusters of the figures' right edges; a head belongs to those that it
stands over. A table that goes on below a gap has its columns again, as the liabilities below the assets.
"""

import json
import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.chunkings.layout import Cell, Row

MIN_NUMBERS = 3
MAX_LABEL = 60  # characters
SAME_COLUMN, SAME_EDGE, SLACK = 4.0, 9.0, 4.0  # points: between edges of one column, and from a head to its column
MARKER = re.compile(r"[^\w\s]{1,2}|\(?(?:[a-zA-Z]|\d{1,2}|[ivxIVX]{1,4})[.)]|\(\d{1,2}\)|[o§]")
UNIT = re.compile(r"\b(?:millions?|thousands?|billions?|except|unaudited|dollars)\b", re.I)
SENTENCE_END = re.compile(r"[.;:]['\"”’)]*$")
YEAR = re.compile(r"(?:19|20)\d\d")


def tables_of(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """The tables of a page: the first row and the row behind the last one of each, in order, without overlap."""
    tables, behind, free_from = [], 0, 0
    for row in range(len(rows)):
        if row < behind or not is_table_row(rows[row]):
            continue
        end = behind = _end_of_run(rows, row)
        if end == len(rows) and rows[-1].is_placed and len(rows[-1].cells) == 1:  # the page's number
            end = max([n + 1 for n in range(row, end - 1) if is_table_row(rows[n])], default=end)
        first = _first_head(rows, row, end, free_from)
        if _is_table(rows[row:end], has_head=first < row):
            goes_on = tables and free_from == first and not rows[row].is_placed
            tables.append((tables.pop()[0] if goes_on else first, end))
            free_from = end
    return tables


def is_table_row(row: Row) -> bool:
    """Whether a row could be a table's: a figure beside a label, figures only, or cells in a drawn grid."""
    numbers = [cell.is_number for cell in _unmarked(row)]
    return bool(numbers) and (all(numbers) or any(numbers[1:]) or (row.is_in_grid and len(numbers) > 1))


def _unmarked(row: Row) -> list[Cell]:
    """A row's cells without the mark of a list before them."""
    return row.cells[1:] if row.cells and MARKER.fullmatch(row.cells[0].text) else row.cells


def _end_of_run(rows: Sequence[Row], first: int) -> int:
    """The row behind the last table row that is reached over labels only."""
    end = first + 1
    for row in range(first + 1, len(rows)):
        if row - end >= 4 or not _follows(rows[row - 1], rows[row]):
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
        return len(row.text) <= 2 * MAX_LABEL and not is_sentence
    return row.size <= size * 1.4 and (len(row.text) <= MAX_LABEL or row.right <= edge + 10)


def _is_table(rows: Sequence[Row], has_head: bool) -> bool:
    """Whether a run has rows and figures enough, in columns; under a head one row of figures is enough."""
    table_rows = [*filter(is_table_row, rows)]
    if not rows[0].is_placed:
        return len(table_rows) > 1 and sum(row.n_numbers for row in table_rows) >= 2 * MIN_NUMBERS
    if has_head and sum(row.n_numbers for row in rows) >= MIN_NUMBERS:
        return True
    if len(table_rows) < 2:
        return False
    if sum(row.is_in_grid for row in table_rows) >= max(3, len(table_rows) // 2):
        return True
    edges = [(n, cell.right) for n, row in enumerate(table_rows) for cell in row.cells if cell.is_number]
    aligned = [any(m != n and abs(edge - other) <= SAME_COLUMN for m, other in edges) for n, edge in edges]
    is_one_row = len({n for n, _ in edges}) == 1
    return len(edges) >= MIN_NUMBERS and (is_one_row or 2 * sum(aligned) >= len(edges))


def _first_head(rows: Sequence[Row], first: int, end: int, free_from: int) -> int:
    """The first row of the heads above a run; of a page given as text, of the labels whose figures the run is."""
    run = rows[first:end]
    if not run[0].is_placed and 2 * sum(len(row.cells) == row.n_numbers for row in run) < len(run):
        return first
    while first > free_from and _is_head(rows[first - 1], rows[first], _number_edge(run)):
        first -= 1
    return first


def _is_head(row: Row, below: Row, edge: float) -> bool:
    """Whether a row close above another is the head of columns: cells side by side, over the figures, or a unit."""
    if not row.is_placed:
        return _is_label(row, edge, 0.0)
    is_near = -2 <= below.top - row.bottom <= 1.2 * (row.bottom - row.top)
    if not is_near or len(row.text) > 2 * MAX_LABEL or SENTENCE_END.search(row.text):
        return False
    is_unit = len(row.text) <= MAX_LABEL and UNIT.search(row.text) is not None
    return len(_unmarked(row)) > 1 or row.left >= edge - 30 or is_unit


class Grid(NamedTuple):
    heads: list[str]  # of each column; empty where none stands over it
    rows: list[tuple[str, list[str]]]  # label and one text a column, which is empty where a row has no cell
    before: list[str]  # a line of the heads and units that belong to no column, or none


def grid_of(rows: Sequence[Sequence[Sequence]]) -> Grid | None:
    """The grid of a table's rows, lists of ``[text, left, right]``; None where no columns of figures are found."""
    cells = _cells(rows)
    edges = columns_of(cells)
    first = next((number for number, row in enumerate(cells) if is_body(row)), None)
    if not edges or first is None:
        return None
    while first and len(cells[first - 1]) == 1 and cells[first - 1][0].right < edges[0] - SAME_EDGE:
        first -= 1
    before, heads = [], [[] for _ in edges]
    begins = [edges[0] - 60, *(edge + SLACK for edge in edges[:-1])]
    for cell in chain(*cells[:first]):
        over = [
            texts
            for texts, begin, end in zip(heads, begins, edges, strict=True)
            if begin <= (cell.left + cell.right) / 2 <= end + SLACK
            or cell.left - SLACK <= (begin + end) / 2 <= cell.right + SLACK
        ]
        for texts in over or [before]:
            texts.append(cell.text)
    over_all = [" ".join(before)] if before else []
    return Grid([*map(" ".join, heads)], [_placed(row, edges) for row in cells[first:]], over_all)


def _cells(rows: Sequence[Sequence[Sequence]]) -> list[list[Cell]]:
    return [[Cell(*cell) for cell in row] for row in rows]


def columns_of(rows: Sequence[Sequence[Cell]]) -> list[float]:
    """The right edges of the columns of figures, from left to right."""
    edges = sorted(cell.right for row in rows for cell in row[_n_labels(row) :] if cell.is_number)
    clusters = np.split(edges, np.flatnonzero(np.diff(edges) > SAME_EDGE) + 1)
    needed = min(2, max(map(len, clusters)))
    return [cluster[-1] for cluster in clusters if len(cluster) >= needed > 0]


def _n_labels(row: Sequence[Cell]) -> int:
    """Cells before the first figure of a row."""
    return next((number for number, cell in enumerate(row) if cell.is_number), len(row))


def is_body(row: Sequence[Cell]) -> bool:
    """Whether a row has a label and figures that are not all years."""
    figures = [cell.text for cell in row[1:] if cell.is_number]
    return not all(map(YEAR.fullmatch, figures)) and not row[0].is_number


def _placed(row: Sequence[Cell], edges: Sequence[float]) -> tuple[str, list[str]]:
    """A row's label and its text in each column, the nearest by right edge."""
    n_labels, texts = _n_labels(row), [""] * len(edges)
    for cell in row[n_labels:]:
        column = int(np.argmin(np.abs(np.subtract(edges, cell.right))))
        texts[column] = f"{texts[column]} {cell.text}".strip()
    return " ".join(cell.text for cell in row[:n_labels]), texts


def joined_tables(frame: pd.DataFrame) -> pd.DataFrame:
    """Elements (ELEMENT_COLUMNS) in which a placed table and its continuation are one with the labels between."""
    rows, above = [], 0  # and the row of the last table
    for element in frame.to_dict("records"):
        rows.append(element)
        if element["kind"] != "table":
            continue
        is_near = all(rows[above][name] == element[name] for name in ("kind", "doc_name", "page"))
        if is_near and element["is_placed"] and len(rows) - above > 1 and (whole := _whole(rows[above:])):
            rows[above:] = [whole]
        else:
            above = len(rows) - 1
    return pd.DataFrame(rows, columns=frame.columns).astype(frame.dtypes)


def _whole(parts: Sequence[dict]) -> dict | None:
    """Elements as one table, if the last continues the first: no heads of its own, and its columns are shared."""
    lines = [line for part in parts[1:-1] for line in part["text"].splitlines()]
    labels = [" ".join(line.split()) for line in lines if line.strip()]
    are_labels = all(len(one) <= MAX_LABEL and not SENTENCE_END.search(one.rstrip(":")) for one in labels)
    upper, lower = json.loads(parts[0]["rows"]), json.loads(parts[-1]["rows"])
    others, edges = columns_of(_cells(upper)), columns_of(_cells(lower))
    are_shared = all(any(abs(edge - other) <= SAME_COLUMN for other in others) for edge in edges)
    is_more = are_labels and len(labels) <= 3 and are_shared and len(edges) > 1
    if not is_more or not is_body(_cells(lower)[0]):
        return None
    rows = json.dumps([*upper, *([[label, 0.0, 0.0]] for label in labels), *lower], ensure_ascii=False)
    return parts[0] | {"text": "".join(part["text"] for part in parts), "end": parts[-1]["end"], "rows": rows}
