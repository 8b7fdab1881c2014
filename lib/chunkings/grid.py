"""A table's rows as a grid: labels, columns and the heads of the columns, from where the cells stand.

Figures of a financial table end at the same place in each column, so columns are clusters of right edges. A head
belongs to the columns that it stands over. A table that goes on below a gap has its columns again: the liabilities of a
balance sheet stand apart from its assets.
"""

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from lib.chunkings.layout import Cell
from lib.chunkings.tables import MAX_LABEL, SAME_COLUMN, SENTENCE_END

SAME_EDGE = 9.0
SLACK = 4.0
YEAR = re.compile(r"(?:19|20)\d\d")
MAX_BETWEEN = 3
MIN_SHARED = 2


class Grid(NamedTuple):
    """A table."""

    heads: list[str]  # of each column; empty where none stands over it
    rows: list[tuple[str, list[str]]]  # label and one text a column, which is empty where a row has no cell
    before: list[str]  # heads and units that belong to no column, in order


def grid_of(rows: Sequence[Sequence[Sequence]]) -> Grid | None:
    """The grid of a table's rows, lists of ``[text, left, right]``; None where no columns of figures are found."""
    cells = [[Cell(*cell) for cell in row] for row in rows]
    edges = columns_of(cells)
    first = next((number for number, row in enumerate(cells) if is_body(row)), None)
    if not edges or first is None:
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
        if not clusters or edge - clusters[-1][-1] > SAME_EDGE:
            clusters.append([])
        clusters[-1].append(edge)
    needed = 2 if max(map(len, clusters), default=0) > 1 else 1
    return [cluster[-1] for cluster in clusters if len(cluster) >= needed]


def _n_labels(row: Sequence[Cell]) -> int:
    """Cells before the first figure of a row."""
    return next((number for number, cell in enumerate(row) if cell.is_number), len(row))


def is_body(row: Sequence[Cell]) -> bool:
    """Whether a row has a label and figures that are not all years."""
    figures = [cell.text for cell in row[1:] if cell.is_number]
    return bool(figures) and not row[0].is_number and not all(map(YEAR.fullmatch, figures))


def _placed(row: Sequence[Cell], edges: Sequence[float]) -> tuple[str, list[str]]:
    """A row's label and its text in each column, the one whose right edge is nearest."""
    n_labels = _n_labels(row)
    texts = [""] * len(edges)
    for cell in row[n_labels:]:
        gaps = [abs(edge - cell.right) for edge in edges]
        column = gaps.index(min(gaps))
        texts[column] = f"{texts[column]} {cell.text}".strip()
    return " ".join(cell.text for cell in row[:n_labels]), texts


def _heads(rows: Sequence[Sequence[Cell]], edges: Sequence[float]) -> tuple[list[str], list[str]]:
    """The head of each column, and what stands beside or above all columns."""
    heads: list[list[str]] = [[] for _ in edges]
    before = []
    begins = [edges[0] - 60, *(edge + SLACK for edge in edges[:-1])]
    for cell in (cell for row in rows for cell in row):
        over = [
            texts
            for texts, begin, end in zip(heads, begins, edges, strict=True)
            if begin <= (cell.left + cell.right) / 2 <= end + SLACK
            or cell.left - SLACK <= (begin + end) / 2 <= cell.right + SLACK
        ]
        for texts in over or [before]:
            texts.append(cell.text)
    return [" ".join(texts) for texts in heads], before


def joined_tables(found: pd.DataFrame) -> pd.DataFrame:
    """Elements (ELEMENT_COLUMNS) in which a table and its continuation are one, with the few labels in between.

    Together the elements of a page still hold all of its text. Pages without places stay as they are.
    """
    rows: list[dict] = []
    above = 0  # the row of the last table
    for element in found.to_dict("records"):
        rows.append(element)
        if element["kind"] != "table":
            continue
        is_near = all(rows[above][name] == element[name] for name in ("kind", "doc_name", "page"))
        if is_near and element["is_placed"] and len(rows) - above > 1 and (whole := _whole(rows[above:])):
            rows[above:] = [whole]
        else:
            above = len(rows) - 1
    return pd.DataFrame(rows, columns=found.columns).astype(found.dtypes)


def _whole(parts: Sequence[dict]) -> dict | None:
    """Elements as one table, if the last is the first's continuation: no heads of its own, and its columns are shared.

    The labels in between are rows of one cell.
    """
    lines = [" ".join(line.split()) for part in parts[1:-1] for line in part["text"].splitlines()]
    labels = [line for line in lines if line]
    is_label = [len(one) <= MAX_LABEL and not SENTENCE_END.search(one.rstrip(":")) for one in labels]
    upper, lower = (json.loads(part["rows"]) for part in (parts[0], parts[-1]))
    above, below = ([[Cell(*cell) for cell in row] for row in rows] for rows in (upper, lower))
    if len(labels) > MAX_BETWEEN or not all(is_label) or not is_body(below[0]):
        return None
    edges, others = columns_of(below), columns_of(above)
    shared = [any(abs(edge - other) <= SAME_COLUMN for other in others) for edge in edges]
    if len(edges) < MIN_SHARED or not all(shared):
        return None
    rows = json.dumps([*upper, *([[label, 0.0, 0.0]] for label in labels), *lower], ensure_ascii=False)
    return parts[0] | {"text": "".join(part["text"] for part in parts), "end": parts[-1]["end"], "rows": rows}
