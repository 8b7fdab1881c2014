"""The rows of a page's tables, from its text: a label, and values with their period, unit and sign.

The text of a page has one cell a line: a row is a label and the values that follow it. Columns are known by the years
and dates above them.
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
YEAR_LINE = re.compile(r"(?:(?:\w+\.? \d{1,2}, *)?(?:19|20)\d\d\W*)+")
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
NOTES = re.compile(r"\([^()]*\)|\bnotes? \d+[a-z]?|\bsee note.*", re.I)
UNFINISHED = re.compile(rf"(?:^|\b(?:{_MONTH}|of|and|at|as of|to))$", re.I)  # a date or amount within a label
OTHER_STATEMENTS = re.compile(r"parenthetical|schedule i|pro forma|condensed (financial|consolidating)", re.I)
HEAD_CHARACTERS, HEAD_LINES = 500, 40
UNIT = re.compile(r"\b(?:in|dollars|usd|[$€£])\W{0,3}(thousand|million|billion)s?\b|\b(thousand|million|billion)s of\b|"
                  r"[$(]\s?(000)(?:['’]?s)?\b", re.I)  # fmt: skip
#: Words beside the years of a column's head.
_HEAD_WORDS = re.compile(
    r"\b(?:fiscal|fy|years?|quarters?|months?|weeks?|periods?|ended|ending|as|of|at|the|for|and|in|except|per|share|data|"
    r"unaudited|audited|three|six|nine|twelve|\d\d[ -]weeks?|amounts?|dollars|thousands|millions|billions|u\.?s\.?)\b",
    re.I,
)
_SPAN = re.compile(
    r"\b(?:(three|six|nine|twelve)\s+months|(13|26|39|5[23])[\s-]+weeks|(?:fiscal )?(quarter|year)s?\s+end)", re.I
)
_MONTHS_OF = {"three": 3, "six": 6, "nine": 9, "twelve": 12, "13": 3, "26": 6, "39": 9, "52": 12, "53": 12}
_MONTHS_OF |= {"quarter": 3, "year": 12}
_SHORT_MONTHS = [month[:3] for month in _MONTH.split("|")]
_DATE = re.compile(
    rf"(?:\b({'|'.join(_SHORT_MONTHS)})[a-z]*\.?\s+\d{{1,2}},?\s+)?(?<![\d,.])((?:19|20)\d\d)(?!\d|,\d|%)", re.I
)
MAX_COLUMNS = 12


class Row(NamedTuple):
    """A row of a table: its label and its values from left to right, None for a dash."""

    label: str
    values: tuple[float | None, ...]


class Entry(NamedTuple):
    """A line of a page as it is read: its label, its figures as printed, and whether any has a ``%``."""

    label: str
    figures: tuple[str, ...] = ()
    is_share: bool = False


class Column(NamedTuple):
    """What a column is of: the year, the months of its period, and the month it ends in."""

    year: int
    months: int | None = None
    month: int | None = None


class Line(NamedTuple):
    """A row with its columns: the heading it stands under, and a value, None for a dash, for each column."""

    label: str
    section: str
    columns: tuple[Column, ...]
    values: tuple[float | None, ...]
    is_share: bool
    unit: str  # thousand, million, billion or none


class Sheet(NamedTuple):
    """A page's tables: where it stands, which statement it is, the fiscal year of its filing, and its rows."""

    doc_name: str
    page: int
    kind: str | None
    year: int | None
    lines: tuple[Line, ...]


@cache
def accounting() -> dict[str, dict]:
    """The line items of each statement and the measures over them, of ``items.yaml``."""
    return yaml.safe_load(Path(__file__).with_name("items.yaml").read_text())


@cache
def kinds() -> dict[str, dict]:
    """Title, anchor and items of each primary statement: income, balance, cash_flow."""
    return {kind: about for kind, about in accounting().items() if kind != "measures"}


@cache
def item_of(kind: str, label: str) -> str | None:
    """The line item that a row's label names on a statement of this kind."""
    items = kinds()[kind]["items"].items()
    return next((name for name, item in items if re.fullmatch(item["labels"], label)), None)


def kind_of(text: str) -> str | None:
    """The primary statement whose title a page's head has first; none on other pages."""
    head = " ".join(text.split())[:HEAD_CHARACTERS]
    if OTHER_STATEMENTS.search(head):
        return None
    titles = {kind: re.search(about["title"], head, re.I) for kind, about in kinds().items()}
    return min(((title.start(), kind) for kind, title in titles.items() if title), default=(0, None))[1]


def plain(label: str) -> str:
    """A label in lower case without notes, parentheses and signs: ``Inventories, net (Note 3)``."""
    words = label.lower().replace("&", " and ")
    words = re.sub(r"\((loss|benefit|deficit|used \w+|provision)\)", r"\1", words)
    return " ".join(re.sub(r"[^a-z ]", " ", re.sub(r"['’]", "", NOTES.sub(" ", words))).split())


def entries_of(text: str) -> list[Entry]:
    """The lines of a page's text: labels, on one or more lines, with the figures on their line or the next ones."""
    found: list[Entry] = []
    label, figures, is_share = "", [], False
    for raw in text.splitlines():
        line = " ".join(raw.replace("$", " ").replace("%", " ").split())
        if VALUES.fullmatch(line):
            figures += VALUE.findall(line)
            is_share |= "%" in raw
        elif line not in ("", "."):
            words, inline = split_values(line)
            goes_on = not figures and label and label[-1] not in ":."
            goes_on = goes_on and (words[0].islower() or words[0] == "(")
            if not goes_on:
                found.append(Entry(label, tuple(figures), is_share))
            label, figures, is_share = f"{label} {words}" if goes_on else words, inline, "%" in raw
        else:
            is_share |= "%" in raw and bool(figures)
    return [*found, Entry(label, tuple(figures), is_share)]


def rows_of(text: str) -> list[Row]:
    """The rows of a page: a label, on one or more lines, and the values that follow it on its line or the next ones."""
    rows = [Row(_label(one.label), tuple(map(number, one.figures))) for one in entries_of(text)]
    return [row for row in rows if row.values and not UNFINISHED.search(row.label)]


def split_values(line: str) -> tuple[str, list[str]]:
    """A line's words, and the values at its end: ``Goodwill 5 6`` is ``Goodwill`` and two values."""
    tokens, n = re.sub(r"\s+\)", ")", re.sub(r"\(\s+", "(", line)).split(), 0
    while n < len(tokens) - 1 and VALUE.fullmatch(tokens[-1 - n]):
        n += 1
    return (" ".join(tokens[:-n]), tokens[-n:]) if n in INLINE_VALUES else (line, [])


def _label(text: str) -> str:
    return text.strip(" :.·")


def number(text: str) -> float | None:
    """A printed figure, negative in parentheses; None for a dash."""
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


def lines_of(text: str) -> tuple[Line, ...]:
    """The rows of a page's tables with their columns; rows without a period above them are left out."""
    unit, section = unit_of(text), ""
    found: list[Line] = []
    heads: list[Entry] = []
    columns: tuple[Column, ...] = ()
    for entry in map(_with_date, entries_of(text)):
        label = _label(entry.label)
        if is_head(entry):
            heads.append(entry)
        elif not entry.figures:
            section = label or section
        else:
            columns, heads = columns_of(heads) or columns, []
            if columns and len(entry.figures) >= len(columns):
                values = tuple(map(number, entry.figures[: len(columns)]))
                has_no_unit = entry.is_share or re.search(r"\bper\b|percent|\bratio\b", label, re.I)
                line_unit = "" if has_no_unit else unit
                found.append(Line(label, section, columns, values, entry.is_share, line_unit))
    return tuple(found)


def _with_date(entry: Entry) -> Entry:
    """An entry whose figures are the day and the year of a date, as one label."""
    is_date = re.search(rf"\b(?:{'|'.join(_SHORT_MONTHS)})[a-z]*\.?$", entry.label, re.I)
    is_date = is_date and entry.figures and re.fullmatch(r"\d{1,2},", entry.figures[0])
    return Entry(f"{entry.label} {' '.join(entry.figures)}") if is_date else entry


def unit_of(text: str) -> str:
    """The unit that a page names first: thousand, million, billion, or none."""
    match = UNIT.search(text)
    return (match[1] or match[2] or "thousand").lower() if match else ""


def is_head(entry: Entry) -> bool:
    """Whether a line is of a table's head: years or dates alone, or the length of the periods."""
    if entry.figures:
        return all(re.fullmatch(r"(?:19|20)\d\d", figure) for figure in entry.figures)
    rest = re.sub(r"\([^()]*\)|\bchange\b|\bvs?\b", " ", entry.label, flags=re.I)
    bare = _HEAD_WORDS.sub(" ", _DATE.sub(" ", rest))
    bare = re.sub(rf"\b(?:{_MONTH}|[a-z]{{3}}\.)|[^a-z]", " ", bare, flags=re.I).strip()
    return len(bare) <= 3 and bool(YEAR.search(rest) or _SPAN.search(entry.label))


def columns_of(heads: Sequence[Entry]) -> tuple[Column, ...]:
    """The columns that the lines of a head name, from left to right; none where they name no year."""
    spans, dated = [], []
    for head in heads:
        spans += [_MONTHS_OF[(m[1] or m[2] or m[3]).lower()] for m in _SPAN.finditer(head.label)]
        if head.figures:
            ends = [_month(name) for name in re.findall(rf"\b({_MONTH})\b", head.label, re.I)]
            if len(ends) != len(head.figures):
                ends = (ends[-1:] or [None]) * len(head.figures)
            dated += zip(map(int, head.figures), ends, strict=True)
        else:
            dated += [(int(m[2]), m[1] and _month(m[1])) for m in _DATE.finditer(head.label)]
    spans, half, years = list(dict.fromkeys(spans)), len(dated) // 2, [year for year, _ in dated]
    if half and len(spans) < 2 and years[:half] == years[half:]:
        dated = dated[half:]  # a title that names the same years
    if len(dated) > MAX_COLUMNS:
        return ()
    each = len(dated) // len(spans) if spans and len(dated) % len(spans) == 0 else 0
    months = [spans[place // each] if each else None for place in range(len(dated))]
    return tuple(Column(year, length, month) for (year, month), length in zip(dated, months, strict=True))


def _month(name: str) -> int:
    return _SHORT_MONTHS.index(name[:3].lower()) + 1
