"""The rows of a page's tables, from its text of one cell a line: a label, and values with period, unit and sign.

Columns are known by the years and dates above them.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lib.files import read_yaml

_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_MONTHS = {name[:3]: number for number, name in enumerate(_MONTH.split("|"), 1)}
#: Possessive, as a long number could be taken apart in exponentially many ways.
VALUE = re.compile(r"\(\s*+\d[\d,]*+(?:\.\d++)?+\s*+\)?+|\d[\d,]*+(?:\.\d++)?+|[—–-]")
VALUES = re.compile(rf"(?:{VALUE.pattern}|\s|\))++")
INLINE_VALUES = range(2, 6)  # on a label's own line: one number alone may belong to the label
MARKS = " :.·"  # around a label
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
NOTES = re.compile(r"\([^()]*\)|\bnotes? \d+[a-z]?|\bsee note.*", re.I)
UNFINISHED = re.compile(rf"(?:^|\b(?:{_MONTH}|of|and|at|as of|to))$", re.I)  # a date or amount within a label
OTHER_STATEMENTS = re.compile(r"parenthetical|schedule i|pro forma|condensed (financial|consolidating)", re.I)
HEAD_CHARACTERS = 500
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
_LENGTHS = {"three": 3, "six": 6, "nine": 9, "twelve": 12, "13": 3, "26": 6, "39": 9, "52": 12, "53": 12}
_LENGTHS |= {"quarter": 3, "year": 12}
_DATE = re.compile(
    rf"(?:\b({'|'.join(_MONTHS)})[a-z]*\.?\s+\d{{1,2}},?\s+)?(?<![\d,.])((?:19|20)\d\d)(?!\d|,\d|%)", re.I
)
_ENDS_IN_MONTH = re.compile(rf"\b(?:{'|'.join(_MONTHS)})[a-z]*\.?$", re.I)
MAX_COLUMNS = 12


class Entry(NamedTuple):
    """A line of a page as it is read."""

    label: str
    figures: tuple[str, ...] = ()  # as printed
    is_share: bool = False  # whether any has a ``%``


class Column(NamedTuple):
    """What a column is of."""

    year: int
    months: int | None  # of its period
    month: int | None  # that it ends in


class Line(NamedTuple):
    """A row with its columns."""

    label: str
    section: str  # the heading that it stands under
    columns: tuple[Column, ...]
    values: tuple[float | None, ...]  # one a column, None for a dash
    is_share: bool
    unit: str  # thousand, million, billion or none


class Sheet(NamedTuple):
    """A page's tables."""

    doc_name: str
    page: int
    kind: str | None  # of statement
    year: int | None  # fiscal, of the filing
    lines: tuple[Line, ...]


def sheet(doc_name: str, page: int, year: int | None, text: str) -> Sheet:
    """The tables of a page of this text, in the filing of a fiscal year."""
    return Sheet(doc_name, page, kind_of(text), year, lines_of(text))


@cache
def accounting() -> dict[str, dict]:
    """The line items of each statement and the measures over them, of ``items.yaml``."""
    return read_yaml(Path(__file__).with_name("items.yaml"))


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
    titles = {kind: re.search(about["title"], head, re.I) for kind, about in kinds().items()}
    places = [(title.start(), kind) for kind, title in titles.items() if title]
    return min(places)[1] if places and not OTHER_STATEMENTS.search(head) else None


def plain(label: str) -> str:
    """A label in lower case without notes, parentheses and signs: ``Inventories, net (Note 3)``."""
    words = label.lower().replace("&", " and ")
    words = re.sub(r"\((loss|benefit|deficit|used \w+|provision)\)", r"\1", words)
    return " ".join(re.sub(r"[^a-z ]", " ", re.sub(r"['’]", "", NOTES.sub(" ", words))).split())


def entries_of(text: str) -> list[Entry]:
    """The lines of a page's text: labels, on one or more lines, with the figures on their line or the next ones."""
    entries: list[Entry] = []
    label, figures, is_share = "", [], False
    for raw in text.splitlines():
        line = " ".join(raw.replace("$", " ").replace("%", " ").split())
        if VALUES.fullmatch(line):
            figures += VALUE.findall(line)
            is_share |= "%" in raw
        elif line in ("", "."):
            is_share |= "%" in raw and bool(figures)
        else:
            words, inline = split_values(line)
            if label and not figures and label[-1] not in ":." and (words[0].islower() or words[0] == "("):
                words = f"{label} {words}"
            else:
                entries.append(Entry(label, tuple(figures), is_share))
            label, figures, is_share = words, inline, "%" in raw
    return [*entries, Entry(label, tuple(figures), is_share)]


def labels_of(text: str) -> list[str]:
    """The labels of a page's rows: of lines with figures, unless a date or an amount breaks off in them."""
    labels = [entry.label.strip(MARKS) for entry in entries_of(text) if entry.figures]
    return [label for label in labels if not UNFINISHED.search(label)]


def split_values(line: str) -> tuple[str, list[str]]:
    """A line's words, and the values at its end: ``Goodwill 5 6`` is ``Goodwill`` and two values."""
    tokens, n = re.sub(r"\s+\)", ")", re.sub(r"\(\s+", "(", line)).split(), 0
    while n < len(tokens) - 1 and VALUE.fullmatch(tokens[-1 - n]):
        n += 1
    return (" ".join(tokens[:-n]), tokens[-n:]) if n in INLINE_VALUES else (line, [])


def number(text: str) -> float | None:
    """A printed figure, negative in parentheses; None for a dash."""
    digits = re.sub(r"[^\d.]", "", text)
    return (-1 if text.startswith("(") else 1) * float(digits) if digits else None


def lines_of(text: str) -> tuple[Line, ...]:
    """The rows of a page's tables with their columns; rows without a period above them are left out."""
    lines: list[Line] = []
    unit, section, heads, columns = unit_of(text), "", [], ()
    for entry in entries_of(text):
        if entry.figures and _ENDS_IN_MONTH.search(entry.label) and re.fullmatch(r"\d{1,2},", entry.figures[0]):
            entry = Entry(f"{entry.label} {' '.join(entry.figures)}")  # its figures are the day and the year of a date
        label = entry.label.strip(MARKS)
        if is_head(entry):
            heads.append(entry)
        elif not entry.figures:
            section = label or section
        else:
            columns, heads = columns_of(heads) or columns, []
            if columns and len(entry.figures) >= len(columns):
                values = tuple(map(number, entry.figures[: len(columns)]))
                has_unit = not entry.is_share and not re.search(r"\bper\b|percent|\bratio\b", label, re.I)
                lines.append(Line(label, section, columns, values, entry.is_share, unit if has_unit else ""))
    return tuple(lines)


def unit_of(text: str) -> str:
    """The unit that a page names first: thousand, million, billion, or none."""
    match = UNIT.search(text)
    return (match[1] or match[2] or "thousand").lower() if match else ""


def is_head(entry: Entry) -> bool:
    """Whether a line is of a table's head: years or dates alone, or the length of the periods."""
    if entry.figures:
        return all(map(YEAR.fullmatch, entry.figures))
    rest = re.sub(r"\([^()]*\)|\bchange\b|\bvs?\b", " ", entry.label, flags=re.I)
    rest_of_words = _HEAD_WORDS.sub(" ", _DATE.sub(" ", rest))
    rest_of_words = re.sub(rf"\b(?:{_MONTH}|[a-z]{{3}}\.)|[^a-z]", " ", rest_of_words, flags=re.I).strip()
    return len(rest_of_words) <= 3 and bool(YEAR.search(rest) or _SPAN.search(entry.label))


def columns_of(heads: Sequence[Entry]) -> tuple[Column, ...]:
    """The columns that the lines of a head name, from left to right; none where they name no year."""
    spans, dated = {}, []  # lengths of periods; years with the months that they end in
    for head in heads:
        spans |= {_LENGTHS[(m[1] or m[2] or m[3]).lower()]: None for m in _SPAN.finditer(head.label)}
        if head.figures:
            ends = [_MONTHS[name[:3].lower()] for name in re.findall(rf"\b({_MONTH})\b", head.label, re.I)]
            if len(ends) != len(head.figures):
                ends = (ends[-1:] or [None]) * len(head.figures)
            dated += zip(map(int, head.figures), ends, strict=True)
        else:
            dated += [(int(m[2]), m[1] and _MONTHS[m[1].lower()]) for m in _DATE.finditer(head.label)]
    half, years = len(dated) // 2, [year for year, _ in dated]
    if half and len(spans) < 2 and years[:half] == years[half:]:
        dated = dated[half:]  # a title that names the same years
    if len(dated) > MAX_COLUMNS:
        return ()
    each = len(dated) // len(spans) if spans and len(dated) % len(spans) == 0 else 0
    months = [length for length in spans for _ in range(each)] or [None] * len(dated)
    return tuple(Column(year, length, month) for (year, month), length in zip(dated, months, strict=True))
