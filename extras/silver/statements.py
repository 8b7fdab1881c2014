"""The primary statements of a filing, found and read by rule: rows, the columns' years and the unit of a page's text.

Weak supervision by rules in place of labels (Ratner et al., VLDB 2017). The rules are strict rather than complete: a
row counts only if it has exactly one value a column, and a page only if title, years, unit and five line items agree.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import yaml

_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
SIGN = r"[—–-]"
#: Possessive, as a long number could be taken apart in exponentially many ways.
VALUE = re.compile(rf"\(\s*+\d[\d,]*+(?:\.\d++)?+\s*+\)?+|\d[\d,]*+(?:\.\d++)?+|{SIGN}")
VALUES = re.compile(rf"(?:{VALUE.pattern}|\s|\))++")
INLINE_VALUES = range(2, 6)  # on a label's own line: one number alone may belong to the label
UNIT = re.compile(r"\b(thousands|millions|billions)\b", re.I)
YEAR_LINE = re.compile(r"(?:(?:\w+\.? \d{1,2}, *)?(?:19|20)\d\d\W*)+")
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
NOTES = re.compile(r"\([^()]*\)|\bnotes? \d+[a-z]?|\bsee note.*", re.I)
OTHER_STATEMENTS = re.compile(r"parenthetical|schedule i|pro forma|condensed (financial|consolidating)", re.I)
UNFINISHED = re.compile(rf"(?:^|\b(?:{_MONTH}|of|and|at|as of|to))$", re.I)  # a date or amount within a label
HEAD_CHARACTERS, HEAD_LINES = 500, 40
LEAST_ITEMS = 5
NEARLY = 0.8  # of the items of the fullest page: the first such page is the registrant's own statement


class Row(NamedTuple):
    """A row of a table: its label and its values from left to right, None for a dash."""

    label: str
    values: tuple[float | None, ...]


class Statement(NamedTuple):
    """A page of a primary statement: its kind, its columns' years as printed, and its rows by line item."""

    kind: str
    page: int
    years: tuple[int, ...]
    unit: str
    items: dict[str, Row]
    rows: tuple[Row, ...]


@cache
def accounting() -> dict[str, dict]:
    """The line items of each statement and the measures over them, of ``items.yaml``."""
    return yaml.safe_load(Path(__file__).with_name("items.yaml").read_text())


@cache
def kinds() -> dict[str, dict]:
    """Title, anchor and items of each primary statement: income, balance, cash_flow."""
    return {kind: about for kind, about in accounting().items() if kind != "measures"}


@cache
def _titles() -> list[tuple[str, re.Pattern]]:
    return [(kind, re.compile(about["title"], re.I)) for kind, about in kinds().items()]


@cache
def item_of(kind: str, label: str) -> str | None:
    """The line item that a row's label names on a statement of this kind."""
    return next(
        (name for name, item in kinds()[kind]["items"].items() if re.fullmatch(item["labels"], label)), None
    )


def plain(label: str) -> str:
    """A label in lower case without notes, parentheses and signs: ``Inventories, net (Note 3)``."""
    words = re.sub(
        r"\((loss|benefit|deficit|used \w+|provision)\)", r"\1", label.lower().replace("&", " and ")
    )
    return " ".join(re.sub(r"[^a-z ]", " ", re.sub(r"['’]", "", NOTES.sub(" ", words))).split())


def rows_of(text: str) -> list[Row]:
    """The rows of a page: a label, on one or more lines, and the values that follow it on its line or the next ones."""
    rows: list[Row] = []
    label, values = "", []
    for line in (" ".join(re.sub(r"[$%]", " ", line).split()) for line in text.splitlines()):
        if VALUES.fullmatch(line):
            values += VALUE.findall(line)
        elif line and line not in ".":
            if values:
                rows.append(_row(label, values))
            words, inline = split_values(line)
            goes_on = (
                not values and label and label[-1] not in ":." and (words[0].islower() or words[0] == "(")
            )
            label, values = f"{label} {words}" if goes_on else words, inline
    return [row for row in [*rows, _row(label, values)] if row.values and not UNFINISHED.search(row.label)]


def split_values(line: str) -> tuple[str, list[str]]:
    """A line's words, and the values at its end: ``Goodwill 5 6`` is ``Goodwill`` and two values."""
    tokens, n = re.sub(r"\s+\)", ")", re.sub(r"\(\s+", "(", line)).split(), 0
    while n < len(tokens) - 1 and VALUE.fullmatch(tokens[-1 - n]):
        n += 1
    return (" ".join(tokens[:-n]), tokens[-n:]) if n in INLINE_VALUES else (line, [])


def _row(label: str, values: Sequence[str]) -> Row:
    return Row(label.strip(" :.·"), tuple(map(_number, values)))


def _number(text: str) -> float | None:
    digits = re.sub(r"[^\d.]", "", text)
    return (-1 if text.startswith("(") else 1) * float(digits) if digits else None


def column_years(text: str) -> tuple[int, ...]:
    """The years above a page's columns, left to right: those that stand on lines of their own, else those of its head.

    Empty unless they are two or three successive years, as a primary statement has.
    """
    lines = [" ".join(line.split()) for line in text.splitlines()][:HEAD_LINES]
    alone = [line for line in lines if YEAR_LINE.fullmatch(line)]
    for given in (alone, lines):
        years = tuple(dict.fromkeys(int(year) for line in given for year in YEAR.findall(line)))
        if 2 <= len(years) <= 3 and {b - a for a, b in pairwise(years)} in ({-1}, {1}):
            return years
    return ()


def read_statement(page: int, text: str) -> Statement | None:
    """A page's primary statement; None where the rules are not met."""
    head = " ".join(text.split())[:HEAD_CHARACTERS]
    titles = [(found.start(), kind) for kind, title in _titles() if (found := title.search(head))]
    if not titles or OTHER_STATEMENTS.search(head):
        return None
    years, unit = column_years(text), UNIT.search(head)
    if not (years and unit):
        return None
    kind, rows, items = min(titles)[1], [row for row in rows_of(text) if len(row.values) == len(years)], {}
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
