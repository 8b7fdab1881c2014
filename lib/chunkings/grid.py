"""A table's rows as a grid: labels, columns and the heads of the columns, from where the cells stand.

Figures of a financial table end at the same place in each column, so columns are clusters of right edges. A head
belongs to the columns that it stands over.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lib.chunkings.cells import Cell

SAME_EDGE = 9.0
SLACK = 4.0
YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes:
        heads: the head of each column; empty where none stands over it.
        rows: label and one text a column, which is empty where a row has no cell.
        before: heads and units that belong to no column, in order.
    """

    heads: list[str]
    rows: list[tuple[str, list[str]]]
    before: list[str]


def grid_of(rows: Sequence[Sequence[Sequence]]) -> Grid | None:
    """The grid of a table's rows, or None where no columns of figures are found.

    Args:
        rows: each a list of ``[text, left, right]``, with places.
    """
    cells = [[Cell(*cell) for cell in row] for row in rows]
    edges = columns_of(cells)
    if not edges:
        return None
    first = next((number for number, row in enumerate(cells) if is_body(row)), None)
    if first is None:
        return None
    while first and len(cells[first - 1]) == 1 and cells[first - 1][0].right < edges[0] - SAME_EDGE:
        first -= 1
    heads, before = _heads(cells[:first], edges)
    return Grid(heads, [_placed(row, edges) for row in cells[first:]], before)


def columns_of(rows: Sequence[Sequence[Cell]]) -> list[float]:
    """The right edges of the columns of figures, from left to right."""
    found = sorted(cell.right for row in rows for cell in row[_n_labels(row) :] if cell.is_number)
    clusters: list[list[float]] = []
    for edge in found:
        if clusters and edge - clusters[-1][-1] <= SAME_EDGE:
            clusters[-1].append(edge)
        else:
            clusters.append([edge])
    needed = 2 if max(map(len, clusters), default=0) > 1 else 1
    return [cluster[-1] for cluster in clusters if len(cluster) >= needed]


def _n_labels(row: Sequence[Cell]) -> int:
    """Cells before the first figure of a row."""
    return next((number for number, cell in enumerate(row) if cell.is_number), len(row))


def is_body(row: Sequence[Cell]) -> bool:
    """Whether a row has a label and figures that are not all years."""
    figures = [cell.text for cell in row[1:] if cell.is_number]
    return bool(figures) and not row[0].is_number and not all(YEAR.fullmatch(text) for text in figures)


def _column(cell: Cell, edges: Sequence[float]) -> int:
    """The column whose right edge is nearest to a cell's."""
    return min(range(len(edges)), key=lambda column: abs(edges[column] - cell.right))


def _placed(row: Sequence[Cell], edges: Sequence[float]) -> tuple[str, list[str]]:
    """A row's label and its text in each column."""
    n_labels = _n_labels(row)
    texts = [""] * len(edges)
    for cell in row[n_labels:]:
        column = _column(cell, edges)
        texts[column] = f"{texts[column]} {cell.text}".strip()
    return " ".join(cell.text for cell in row[:n_labels]), texts


def _heads(rows: Sequence[Sequence[Cell]], edges: Sequence[float]) -> tuple[list[str], list[str]]:
    """The head of each column, and what stands beside or above all columns."""
    heads: list[list[str]] = [[] for _ in edges]
    before = []
    begins = [edges[0] - 60, *(edge + SLACK for edge in edges[:-1])]
    for row in rows:
        for cell in row:
            over = [
                column
                for column, (begin, end) in enumerate(zip(begins, edges, strict=True))
                if begin <= (cell.left + cell.right) / 2 <= end + SLACK
                or (cell.left - SLACK <= (begin + end) / 2 <= cell.right + SLACK and cell.right > begins[0])
            ]
            if not over:
                before.append(cell.text)
            for column in over:
                heads[column].append(cell.text)
    return [" ".join(texts) for texts in heads], before
