"""The primary statements of a filing, found and read by rule: rows, the columns' years and the unit of a page's text.

Weak supervision by rules in place of labels (Ratner et al., VLDB 2017). The rules are strict rather than complete: a
row counts only if it has exactly one value a column, and a page only if title, years, unit and five line items agree.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from lib.data.rows import HEAD_CHARACTERS, Row, column_years, item_of, kind_of, kinds, plain, rows_of

UNIT = re.compile(r"\b(thousands|millions|billions)\b", re.I)
LEAST_ITEMS = 5
NEARLY = 0.8  # of the items of the fullest page: the first such page is the registrant's own statement


class Statement(NamedTuple):
    """A page of a primary statement: its kind, its columns' years as printed, and its rows by line item."""

    kind: str
    page: int
    years: tuple[int, ...]
    unit: str
    items: dict[str, Row]
    rows: tuple[Row, ...]


def read_statement(page: int, text: str) -> Statement | None:
    """A page's primary statement; None where the rules are not met."""
    kind, years = kind_of(text), column_years(text)
    unit = UNIT.search(" ".join(text.split())[:HEAD_CHARACTERS])
    if not (kind and years and unit):
        return None
    rows, items = [row for row in rows_of(text) if len(row.values) == len(years)], {}
    for row in rows:
        if (name := item_of(kind, plain(row.label))) and row.values[years.index(max(years))] is not None:
            items.setdefault(name, row)
    return Statement(kind, page, years, unit[1].lower(), items, tuple(rows))


def primary_statements(texts: Sequence[str]) -> list[Statement]:
    """The primary statements of a filing, each on one page or on two: page numbers are places in ``texts``."""
    read, found = [read_statement(page, text) for page, text in enumerate(texts)], []
    for kind, about in kinds().items():
        full = [
            s
            for s in read
            if s and s.kind == kind and about["anchor"] in s.items and len(s.items) >= LEAST_ITEMS
        ]
        most = max((len(s.items) for s in full), default=0)
        first = next((s for s in full if len(s.items) >= NEARLY * most), None)
        if first:
            after = read[first.page + 1] if first.page + 1 < len(read) else None
            is_rest = (
                after
                and after.kind == kind
                and after.years == first.years
                and not {*after.items} & {*first.items}
            )
            found += [first, after] if is_rest else [first]
    return found
