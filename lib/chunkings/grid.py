"""A table's rows as a grid: labels, columns and the heads of the columns, from where the cells stand.

Figures of a financial table end at the same place in each column, so columns are clusters of right edges. A head
belongs to the columns that it stands over. A table that goes on below a gap has its columns again: the liabilities of a
balance sheet stand apart from its assets.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from lib.chunkings.layout import Cell
from lib.chunkings.tables import MAX_LABEL, SAME_COLUMN, SENTENCE_END

SAME_EDGE = 9.0
SLACK = 4.0
YEAR = re.compile(r"(?:19|20)\d\d")
MAX_BETWEEN = 3
MIN_SHARED = 2


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


def joined_tables(found: pd.DataFrame) -> pd.DataFrame:
    """Elements in which a table and its continuation are one, with the few short labels in between.

    Args:
        found: ELEMENT_COLUMNS, in order.

    Returns:
        The same columns; together the elements of a page still hold all of its text. Pages without places stay as
        they are.
    """
    rows: list[dict] = []
    for element in found.to_dict("records"):
        rows.append(element)
        begin = _table_above(rows)
        if begin is not None and _goes_on(rows[begin], rows[begin + 1 : -1], element):
            rows[begin:] = [_one(rows[begin:])]
    return pd.DataFrame(rows, columns=found.columns).astype(found.dtypes)


def _table_above(rows: Sequence[dict]) -> int | None:
    """The table before the last element, which is one too, on its page and not far above."""
    last = rows[-1]
    if last["kind"] != "table" or not last["is_placed"]:
        return None
    for number in range(len(rows) - 2, max(len(rows) - 3 - MAX_BETWEEN, -1), -1):
        if (rows[number]["doc_name"], rows[number]["page"]) != (last["doc_name"], last["page"]):
            return None
        if rows[number]["kind"] == "table":
            return number
    return None


def _goes_on(above: dict, between: Sequence[dict], below: dict) -> bool:
    """Whether a table is the continuation of another: no heads of its own, and its columns are the other's."""
    labels = _labels(between)
    if len(labels) > MAX_BETWEEN or any(
        len(one) > MAX_LABEL or SENTENCE_END.search(one.rstrip(":")) for one in labels
    ):
        return False
    upper, lower = _cells(above), _cells(below)
    if not is_body(lower[0]):
        return False
    edges, others = columns_of(lower), columns_of(upper)
    shared = [any(abs(edge - other) <= SAME_COLUMN for other in others) for edge in edges]
    return len(edges) >= MIN_SHARED and all(shared)


def _labels(between: Sequence[dict]) -> list[str]:
    lines = (line for element in between for line in element["text"].splitlines())
    return [" ".join(line.split()) for line in lines if line.strip()]


def _cells(table: dict) -> list[list[Cell]]:
    return [[Cell(*cell) for cell in row] for row in json.loads(table["rows"])]


def _one(parts: Sequence[dict]) -> dict:
    """Elements as one table; the labels in between are rows of one cell."""
    labels = [[[label, 0.0, 0.0]] for label in _labels(parts[1:-1])]
    rows = [*json.loads(parts[0]["rows"]), *labels, *json.loads(parts[-1]["rows"])]
    text = "".join(part["text"] for part in parts)
    return parts[0] | {"text": text, "end": parts[-1]["end"], "rows": json.dumps(rows, ensure_ascii=False)}
