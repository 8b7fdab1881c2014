"""Tables that go on below a gap: a balance sheet's liabilities stand apart from its assets, in the same columns."""

import json
from collections.abc import Sequence

import pandas as pd

from lib.chunkings.cells import Cell
from lib.chunkings.grid import columns_of, is_body
from lib.chunkings.tables import MAX_LABEL, SAME_COLUMN, SENTENCE_END

MAX_BETWEEN = 3
MIN_SHARED = 2


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
