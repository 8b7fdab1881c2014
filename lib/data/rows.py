"""The rows of a page's tables: a label, and values with their period, unit and sign, from layout or from text.

A PDF's words give rows by height and columns by place. The text that PyMuPDF gives of a page, or that a dataset has in
place of PDFs, has one cell a line: a row is a label and the values that follow it. Columns are known by the years and
dates above them.
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
    r"\b(?:(three|six|nine|twelve)\s+months|(13|26|39|5[23])[\s-]+weeks|(?:fiscal )?(quarter|year)s?\s+end)",
    re.I,
)
_MONTHS_OF = {"three": 3, "six": 6, "nine": 9, "twelve": 12, "13": 3, "26": 6, "39": 9, "52": 12, "53": 12}
_MONTHS_OF |= {"quarter": 3, "year": 12}
_SHORT_MONTHS = [month[:3] for month in _MONTH.split("|")]
_DATE = re.compile(
    rf"(?:\b({'|'.join(_SHORT_MONTHS)})[a-z]*\.?\s+\d{{1,2}},?\s+)?(?<![\d,.])((?:19|20)\d\d)(?!\d|,\d|%)",
    re.I,
)
MAX_COLUMNS, MAX_LABEL = 12, 220
WIDE = 0.45  # of a word's height: a gap that parts two cells
EDGE = 0.75  # of the space between columns: how far beside the outer ones a value may stand


class Row(NamedTuple):
    """A row of a table: its label and its values from left to right, None for a dash."""

    label: str
    values: tuple[float | None, ...]


class Entry(NamedTuple):
    """A line of a page as it is read: its label, its figures as printed, their places where known, and any ``%``."""

    label: str
    figures: tuple[str, ...] = ()
    places: tuple[float, ...] = ()
    is_share: bool = False


class Column(NamedTuple):
    """What a column is of: the year, the months of its period, the month it ends in, and where it stands."""

    year: int
    months: int | None = None
    month: int | None = None
    place: float | None = None


class Line(NamedTuple):
    """A row with its columns: the heading it stands under, and a value, None for a dash or none, for each column."""

    label: str
    section: str
    columns: tuple[Column, ...]
    values: tuple[float | None, ...]
    is_share: bool
    unit: str  # thousand, million, billion or none


class Sheet(NamedTuple):
    """A page's tables: where it stands, which statement it is, the fiscal year of its filing, and its rows; ``others``
    are read another way and looked at where these have nothing."""

    doc_name: str
    page: int
    kind: str | None
    year: int | None
    lines: tuple[Line, ...]
    others: tuple[Line, ...] = ()


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
    return next(
        (name for name, item in kinds()[kind]["items"].items() if re.fullmatch(item["labels"], label)), None
    )


def kind_of(text: str) -> str | None:
    """The primary statement whose title a page's head has first; none on other pages."""
    head = " ".join(text.split())[:HEAD_CHARACTERS]
    titles = [(re.search(about["title"], head, re.I), kind) for kind, about in kinds().items()]
    found = [(title.start(), kind) for title, kind in titles if title]
    return min(found)[1] if found and not OTHER_STATEMENTS.search(head) else None


def plain(label: str) -> str:
    """A label in lower case without notes, parentheses and signs: ``Inventories, net (Note 3)``."""
    words = re.sub(
        r"\((loss|benefit|deficit|used \w+|provision)\)", r"\1", label.lower().replace("&", " and ")
    )
    return " ".join(re.sub(r"[^a-z ]", " ", re.sub(r"['’]", "", NOTES.sub(" ", words))).split())


def entries_of_text(text: str) -> list[Entry]:
    """The lines of a page's text: labels, on one or more lines, with the figures on their line or the next ones."""
    found: list[Entry] = []
    label, figures, is_share = "", [], False
    for raw in text.splitlines():
        line = " ".join(raw.replace("$", " ").replace("%", " ").split())
        if VALUES.fullmatch(line):
            figures += VALUE.findall(line)
            is_share |= "%" in raw
        elif line and line not in ".":
            words, inline = split_values(line)
            goes_on = (
                not figures and label and label[-1] not in ":." and (words[0].islower() or words[0] == "(")
            )
            if not goes_on:
                found.append(Entry(label, tuple(figures), (), is_share))
            label, figures, is_share = f"{label} {words}" if goes_on else words, inline, "%" in raw
        else:
            is_share |= "%" in raw and bool(figures)
    return [*found, Entry(label, tuple(figures), (), is_share)]


def rows_of(text: str) -> list[Row]:
    """The rows of a page: a label, on one or more lines, and the values that follow it on its line or the next ones."""
    rows = [Row(_label(one.label), tuple(map(number, one.figures))) for one in entries_of_text(text)]
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


def entries_of_words(words: Sequence[Sequence]) -> list[Entry]:
    """The lines of a page from its words as PyMuPDF gives them, ``(x0, y0, x1, y1, word, ...)``, by height."""
    kept = [word for word in words if word[4].strip("._$€£¥ ")]
    rows: list[list[Sequence]] = []
    for word in sorted(kept, key=lambda one: (one[1] + one[3], one[0])):
        middle = (word[1] + word[3]) / 2
        if rows and rows[-1][0][1] <= middle <= rows[-1][0][3]:
            rows[-1].append(word)
        else:
            rows.append([word])
    found: list[Entry] = []
    for row in rows:
        entry = _entry(sorted(row, key=lambda one: one[0]))
        last = found[-1] if found else Entry("")
        goes_on = entry.label and last.label and not last.figures and last.label[-1] not in ":."
        if goes_on and (entry.label[0].islower() or entry.label[0] == "("):
            found[-1] = entry._replace(label=f"{last.label} {entry.label}"[-MAX_LABEL:])
        else:
            found.append(entry)
    return found


def _entry(row: Sequence[Sequence]) -> Entry:
    """The words of one height, from left to right: text up to the first figure is the label, text behind it too."""
    cells: list[list] = []  # text, left, right, is a figure
    for word in row:
        x0, _, x1, _, text, *_ = word
        text, is_sign = re.sub(r"[$€£¥]", "", text), text in (")", "%", ")%", "%)")
        figure = VALUE.fullmatch(text.replace("%", "")) is not None
        if cells and (is_sign or not (figure or cells[-1][3])):
            space = "" if is_sign else " " if is_near(cells[-1][2], word) else "  "
            cells[-1] = [f"{cells[-1][0]}{space}{text}", cells[-1][1], x1, cells[-1][3]]
        elif figure and cells and not cells[-1][3] and is_near(cells[-1][2], word):
            cells[-1] = [f"{cells[-1][0]} {text}", cells[-1][1], x1, False]  # a number within words
        else:
            cells.append([text, x0, x1, figure])
    label = "  ".join(text for text, *_, figure in cells if not figure)
    figures = [(text, left, right) for text, left, right, figure in cells if figure]
    places = tuple((left + right) / 2 for _, left, right in figures)
    values = tuple(text.replace("%", "") for text, *_ in figures)
    return Entry(label, values, places, any("%" in text for text, *_ in figures))


def is_near(right: float, word: Sequence) -> bool:
    """Whether a word begins where a cell ends, with no more than a space between."""
    return word[0] - right <= WIDE * (word[3] - word[1])


def lines_of(entries: Sequence[Entry], text: str) -> list[Line]:
    """The rows of a page's tables with their columns; rows without a period above them are left out.

    Args:
        entries: see :func:`entries_of_words` and :func:`entries_of_text`.
        text: of the page, for its unit.
    """
    unit = unit_of(text)
    found: list[Line] = []
    heads: list[Entry] = []
    columns: tuple[Column, ...] = ()
    section, is_new = "", True
    for entry in map(_with_date, entries):
        if is_head(entry):
            heads = [entry] if is_new else [*heads, entry]
            is_new = False
            continue
        if not entry.figures:
            section = _label(entry.label) or section
            continue
        if heads and not is_new:
            columns = columns_of(heads) or columns
            is_new = True
        if values := _aligned(entry, columns):
            label = _label(entry.label)
            is_of_unit = not (entry.is_share or re.search(r"\bper\b|percent|\bratio\b", label, re.I))
            found.append(Line(label, section, columns, values, entry.is_share, unit if is_of_unit else ""))
    return found


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
    has_year, bare = bool(YEAR.search(rest)), _HEAD_WORDS.sub(" ", _DATE.sub(" ", rest))
    bare = re.sub(rf"\b(?:{_MONTH}|[a-z]{{3}}\.)|[^a-z]", " ", bare, flags=re.I).strip()
    is_bare = len(bare) <= 3
    return is_bare and (has_year or bool(_SPAN.search(entry.label)))


def columns_of(heads: Sequence[Entry]) -> tuple[Column, ...]:
    """The columns that the lines of a head name, from left to right; none where they name no year."""
    spans, dated, places = [], [], []
    for head in heads:
        spans += [_MONTHS_OF[(m[1] or m[2] or m[3]).lower()] for m in _SPAN.finditer(head.label)]
        dates = [(int(m[2]), _month(m[1])) for m in _DATE.finditer(head.label)]
        of_label = [_month(name) for name in re.findall(rf"\b({_MONTH})\b", head.label, re.I)]
        ends = of_label if len(of_label) == len(head.figures) else of_label[-1:] * len(head.figures)
        ends = ends or [None] * len(head.figures)
        dates = [] if head.figures else dates
        dated += [*dates, *((int(year), end) for year, end in zip(head.figures, ends, strict=True))]
        places += [*([None] * len(dates)), *(head.places or [None] * len(head.figures))]
    spans, half = list(dict.fromkeys(spans)), len(dated) // 2
    if half and len(dated) % 2 == 0 and len(spans) < 2 and _years(dated[:half]) == _years(dated[half:]):
        dated, places = dated[half:], places[half:]  # a title that names the same years
    if not dated or len(dated) > MAX_COLUMNS:
        return ()
    each = len(dated) // len(spans) if spans and len(dated) % len(spans) == 0 else 0
    months = [spans[place // each] if each else None for place in range(len(dated))]
    parts = zip(dated, months, places, strict=True)
    return tuple(Column(year, length, month, place) for (year, month), length, place in parts)


def _years(dated: Sequence[tuple[int, int | None]]) -> list[int]:
    return [year for year, _ in dated]


def _month(name: str | None) -> int | None:
    return _SHORT_MONTHS.index(name[:3].lower()) + 1 if name else None


def _aligned(entry: Entry, columns: Sequence[Column]) -> tuple[float | None, ...]:
    """A row's values by column; none where it cannot be known which is which."""
    figures = [number(figure) for figure in entry.figures]
    places = [column.place for column in columns]
    if len(columns) > 1 and entry.places and None not in places:
        space = min(abs(b - a) for a, b in pairwise(places))
        values: list[float | None] = [None] * len(columns)
        for figure, place in zip(figures, entry.places, strict=True):
            gaps = [abs(place - other) for other in places]
            if min(gaps) <= EDGE * space and values[nearest := gaps.index(min(gaps))] is None:
                values[nearest] = figure
        return tuple(values) if any(value is not None for value in values) else ()
    return tuple(figures[: len(columns)]) if len(figures) >= len(columns) else ()


def lines_of_page(source: Path, page: int, text: str, from_layout: bool = True) -> list[Line]:
    """The rows of the tables of a filing's page, from its PDF's layout, else from the page's text.

    Args:
        source: the filing's file, see :meth:`lib.data.layout.Dataset.source`.
        page: its number, from 0.
        text: of the page.
        from_layout: whether layout is used where there is any.
    """
    if from_layout and source.suffix == ".pdf":
        import pymupdf

        with pymupdf.open(source) as pdf:
            return lines_of(entries_of_words(pdf[page].get_text("words")), text)
    return lines_of(entries_of_text(text), text)
