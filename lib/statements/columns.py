"""The columns of a table: the years and dates above its figures, the length of the periods, and where they stand."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from lib.statements.figures import NUMBERED
from lib.statements.grid import Cell, GridRow
from lib.statements.labels import LABELS_KEPT, MONTH, MONTHS, YEAR
from lib.statements.money import money_of

MOST_COLUMNS, MOST_ROWS = 12, 12  # of a head
#: A month's name in full or by its first letters, and no other word that begins so.
MONTH_WORD = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTH.split("|")) + "|sept"
#: Words beside the years of a column's head.
_HEAD_WORDS = re.compile(
    r"\b(?:fiscal|fy|years?|quarters?|months?|weeks?|periods?|ended|ending|as|of|at|the|for|and|in|except|per|share|data|"
    r"unaudited|audited|three|six|nine|twelve|\d\d[ -]weeks?|amounts?|dollars|thousands|millions|billions|u\.?s\.?|"
    r"restated|notes?|q[1-4]|[1-4]q|h[12]|first|second|third|fourth|31|30|29|28|million|euros?|eur|gbp|usd)\b",
    re.I,
)
_SPAN = re.compile(
    r"\b(?:(three|six|nine|twelve)\s+months|(\d\d|(?:twenty|thirty|fifty)-\w+|twelve|thirteen|sixteen)[\s-]+weeks|"
    r"(?:fiscal )?(quarter|year)s?\s+end|(?<!\w)(?:q([1-4])|([1-4])q)\b|\bh[12]\b)", re.I
)  # fmt: skip
_LENGTHS = {"three": 3, "six": 6, "nine": 9, "twelve": 12, "quarter": 3, "year": 12}
_WEEKS = {"twelve": 12, "thirteen": 13, "sixteen": 16, "twenty-four": 24, "twenty-six": 26, "thirty-six": 36}
_WEEKS |= {"thirty-nine": 39, "fifty-two": 52, "fifty-three": 53}
_DATE = re.compile(
    rf"(?:\b(\d{{1,2}})(?:st|nd|rd|th)?\s+)?(?:\b({MONTH_WORD})\b\.?\s+(?:(\d{{1,2}}),?\s+)?)?"
    r"(?<![\d,.])((?:19|20)\d\d)(?!\d|,\d|\s?%)", re.I
)  # fmt: skip
_MONTH_ALONE = re.compile(rf"\b({MONTH_WORD})\b\.?(?:\s+(\d{{1,2}})\b)?", re.I)
_FISCAL = re.compile(r"(?<!\w)(?:FY|Q[1-4]|[1-4]Q|H[12])\s?['’]?(\d\d|20\d\d)\b", re.I)
_COMPARES = re.compile(r"\b(?:vs?\.?|versus|compared|change[sd]?|over|to)\b|[/–-]\s*(?:19|20)\d\d", re.I)
#: Titles of columns that are no values of a period.
_BESIDE = re.compile(
    r"\bnotes?\b|%|\bper ?cent|\bchange|\bvar(?:iance|\.)?\b|\bincrease|\bdecrease|\bgrowth|\brefs?\b|\bvs?\b|"
    r"\bof (?:total|net )?(?:sales|revenues?)\b|\bmargin\b|\bbasis points\b|\bbps\b|\bpage\b", re.I
)  # fmt: skip
_RESTATED = re.compile(r"\b(?:previously|originally|adjust\w*|restatement|impacts?|effect of|eliminations?)\b", re.I)
EDGE, LOOSE_EDGE = 0.75, 2.0  # heights between right edges of a stack; of figures of different rows
NEAR = 6.0  # points between the right edges of a title and of the figures below it
SPARSE = 0.2  # of the figures of a column's fullest stack
MOST_PARTS = 6  # columns below a period
TOTAL = re.compile(r"(?:grand )?total|consolidated", re.I)
LONGEST_TITLE = 60  # characters of a column's title or a date
_SMALL = re.compile(r"\d{1,2}(?:\.\d)?")  # as the number of a note


class Column(NamedTuple):
    """What a column is of; where it is, if that is known."""

    year: int
    months: int | None = None  # of its period
    month: int | None = None  # that it ends in
    day: int | None = None
    place: Cell | None = None


class Head(NamedTuple):
    """The head of a table: columns by period from left to right, whether a column of notes or per cents stands beside
    them, and whether restated or adjusted ones do."""

    columns: tuple[Column, ...]
    has_notes: bool = False
    n_beside: int = 0
    is_adjusted: bool = False
    is_mixed: bool = False  # whether per cents stand among the periods, and not behind them
    beside: tuple[Cell, ...] = ()  # titles of columns that are no values of a period
    parts: tuple[str, ...] = ()  # titles of the columns that stand below each period
    below: tuple[Cell, ...] = ()  # cells between the periods and the figures


def is_head(row: GridRow) -> bool:
    """Whether a row may be of a table's head: years or dates alone, or the length of the periods."""
    if row.figures:
        texts = [cell.text for cell in row.figures]
        if not all(map(YEAR.fullmatch, texts)):
            return False
        years = list(map(int, texts))
        is_run = all(abs(a - b) <= 1 for a, b in pairwise(sorted(set(years))))
        return is_run and (len(set(years)) > 1 or len(years) == 1 or _rest(row.label) <= 3)
    return _rest(row.label) <= 3 and bool(
        YEAR.search(row.label) or _SPAN.search(row.label) or _FISCAL.search(row.label)
    )


@lru_cache(maxsize=LABELS_KEPT)
def _rest(label: str) -> int:
    """How many letters a label has beside the words of a head."""
    rest = re.sub(r"\([^()]*\)|\bchange\b|\bvs?\b|%", " ", label, flags=re.I)
    rest = _FISCAL.sub(" ", _SPAN.sub(" ", _DATE.sub(" ", rest)))
    rest = re.sub(rf"\b(?:{MONTH_WORD}|[a-z]{{3}}\.)\b", " ", _HEAD_WORDS.sub(" ", rest), flags=re.I)
    return len(re.sub(r"[^a-z]", "", rest, flags=re.I))


def dates_of(text: str) -> list[tuple[int, int | None, int | None]]:
    """The years of a head's text, each with the month and the day that stand before it."""
    dated = []
    for match in _DATE.finditer(text):
        before, month, day, year = match.groups()
        number = MONTHS[month.lower()[:3]] if month else None
        dated.append((int(year), number, int(day or before) if number and (day or before) else None))
    if not dated:
        years = [int(year) for year in _FISCAL.findall(text)]
        dated = [(year if year > 100 else 2000 + year, None, None) for year in years]
    return dated


def spans_of(text: str) -> list[int]:
    """The lengths in months that a head's text names, each once."""
    found = []
    for match in _SPAN.finditer(text):
        months, weeks, named, *quarters = (group and group.lower() for group in match.groups())
        if weeks:
            found.append(months_of_weeks(int(weeks) if weeks.isdigit() else _WEEKS.get(weeks, 0)))
        else:
            found.append(_LENGTHS.get(months or named, 3 if any(quarters) else 6))
    return list(dict.fromkeys(filter(None, found)))


def months_of_weeks(weeks: int) -> int:
    """A length of weeks in months: 13 weeks are three."""
    return round(weeks * 12 / 52)


def head_of_text(block: Sequence[GridRow], is_joined: bool = False) -> Head:
    """The head that a block of rows makes, in the order of their cells: rows of years, and the other titles of columns.

    A date before the years of a row is of a column where ``is_joined``, else of the table's title.
    """
    heads = [row for row in block if is_head(row)]
    titles = [row.label for row in block if not is_head(row) and len(row.label) <= LONGEST_TITLE]
    of_rows = [dated_in(row, is_joined) for row in heads]
    dated = [one for of_row in of_rows for one in of_row]
    ends = [of_row[0] for row, of_row in zip(heads, of_rows, strict=True) if not row.figures and len(of_row) == 1]
    spans = dict.fromkeys(length for row in heads for length in spans_of(row.label))
    n_shares = sum("%" in cell.text for row in heads if row.figures for cell in row.cells)
    dated = without_title(dated, ends, len(spans))
    if len(dated) > MOST_COLUMNS:
        return Head(())
    each = len(dated) // len(spans) if spans and len(dated) % len(spans) == 0 else 0
    months = [length for length in spans for _ in range(each)] or [None] * len(dated)
    columns = tuple(Column(year, n, month, day) for (year, month, day), n in zip(dated, months, strict=True))
    text = " ".join([*titles, *(head.label for head in heads)])
    n_shares += sum(map(is_of_shares, titles))
    places = [n for n, row in enumerate(block) if is_head(row)]
    among = block[places[0] : places[-1] + 1] if places else []
    is_mixed = any(is_of_shares(row.label) for row in among if len(row.label) <= LONGEST_TITLE)
    has_notes = bool(re.search(r"\bnotes?\b(?! to)", text, re.I))
    below = [row.label for row in block[places[0] :] if not row.figures] if places else []
    parts = parts_in([one for one in below if not is_head(GridRow(one))], len(columns))
    return Head(columns, has_notes, n_shares, bool(_RESTATED.search(text)), is_mixed, parts=parts)


def parts_in(titles: Sequence[str], n: int) -> tuple[str, ...]:
    """The titles of the columns below each of ``n`` periods, as *Revenue, Capital, Total*, where they are the same ones
    below each; below one period the last one is the total."""
    titles = [one for one in titles if len(one) <= LONGEST_TITLE and not (money_of(one).unit or _BESIDE.search(one))]
    for size in range(MOST_PARTS, 1, -1):
        for start in range(len(titles) - size * n + 1):
            parts = titles[start : start + size]
            is_again = titles[start : start + size * n] == parts * n and len({*parts}) == size
            if is_again and (n > 1 or TOTAL.fullmatch(parts[-1])):
                return tuple(parts)
    return ()


def is_of_shares(title: str) -> bool:
    """Whether a title is of a column of per cents or changes."""
    return bool(_BESIDE.search(title)) and "note" not in title.lower()


Dated = tuple[int, int | None, int | None]  # year, month, day


def dated_in(head: GridRow, is_joined: bool) -> list[Dated]:
    """The dates of a row of a head; that of its label before years alone only where ``is_joined``."""
    named = dates_of(head.label)
    if not head.figures:
        return [] if _COMPARES.search(_MONTH_ALONE.sub(" ", head.label)) and len(named) == 2 else named
    years = [int(cell.text) for cell in head.figures]
    if is_joined and len(named) == 1 and named[0][0] not in years:
        years = [named[0][0], *years]
    months = [(MONTHS[one[1].lower()[:3]], one[2] and int(one[2])) for one in _MONTH_ALONE.finditer(head.label)]
    months = months if len(months) == len(years) else (months[-1:] or [(None, None)]) * len(years)
    return [(year, *month) for year, month in zip(years, months, strict=True)]


def without_title(dated: Sequence[Dated], ends: Sequence[Dated], n_spans: int) -> list[Dated]:
    """The dates of columns, without those of a title that has the same years; ``ends`` stand on lines of their own."""
    half = len(dated) // 2
    first, second = dated[:half], dated[half:]
    is_title = [year for year, *_ in first] == [year for year, *_ in second]
    is_title &= all(one[1] in (None, other[1]) or other[1] is None for one, other in zip(first, second, strict=False))
    if half and n_spans < 2 and is_title:
        return list(second)
    (year, month, day), rest = (dated[0], dated[1:]) if dated else ((0, None, None), [])
    again = [one for one in rest if one[0] == year and one[1] in (None, month)]
    if again and n_spans < 2 and [*dated[:1]] == [*ends[:1]] and len({one[0] for one in rest}) == len(rest):
        return [one if one[1] else (one[0], month, day) for one in rest]
    return list(dated)


def head_of_places(block: Sequence[GridRow]) -> Head:
    """The head that a block of rows makes by where its cells stand; no columns where none names a year."""
    lines = [(row, anchors_of(row)) for row in block[-MOST_ROWS:]]
    most = max((len(anchors) for _, anchors in lines), default=0)
    if not most or most > MOST_COLUMNS:
        return Head(())
    at = max(n for n, (_, found) in enumerate(lines) if len(found) == most)
    anchors = [*lines[at][1]]
    for _, found in [*lines[at + 1 : at + 2], *lines[max(0, at - 1) : at]]:  # a date on two lines
        anchors += [one for one in found if all(_is_apart(one[-1], other[-1]) for other in anchors)]
    places = {place for *_, place in anchors}
    around = [cell for row, _ in lines for cell in row.cells if cell not in places and len(cell.text) <= LONGEST_TITLE]
    spans = [(cell, length) for cell in around if _rest(cell.text) <= 3 for length in spans_of(cell.text)[:1]]
    ends = [end for cell in around if _rest(cell.text) <= 3 for end in months_in(cell)]
    columns = []
    for year, month, day, place in anchors:
        own, end = spans_of(place.text), _nearest(place, ends) if month is None else None
        month, day = end[1:] if end else (month, day)
        span = _nearest(place, spans)
        columns.append(Column(year, own[0] if own else span and span[1], month, day, place))
    beside = tuple(cell for cell in around if _BESIDE.search(cell.text))
    text = " ".join(cell.text for cell in around)
    has_notes = any(re.search(r"\bnotes?\b(?! to)", cell.text, re.I) for cell in beside)
    columns.sort(key=lambda column: column.place.left)
    below = tuple(cell for row, _ in lines[at + 1 :] for cell in row.cells if cell not in places and cell in around)
    is_adjusted = bool(_RESTATED.search(text))
    return Head(tuple(columns), has_notes, len(beside), is_adjusted, beside=beside, below=below)


def _is_apart(one: Cell, other: Cell) -> bool:
    return one.left > other.right or other.left > one.right


def months_in(cell: Cell) -> list[tuple[Cell, int, int | None]]:
    """The months that a cell of a head names, each with its day and a place, which are shared out by letters."""
    width, found = (cell.right - cell.left) / max(1, len(cell.text)), []
    for match in _MONTH_ALONE.finditer(cell.text):
        part = Cell(match[0], cell.left + match.start() * width, cell.left + match.end() * width)
        found.append((part, MONTHS[match[1].lower()[:3]], match[2] and int(match[2])))
    return found


def anchors_of(row: GridRow) -> list[tuple[int, int | None, int | None, Cell]]:
    """The cells of a row that are one year or date each: year, month, day and place."""
    if row.figures and not all(YEAR.fullmatch(cell.text) for cell in row.figures):
        return []
    cells = [*row.cells] if not row.figures else [cell for cell in row.cells if cell.text not in ("", "$")]
    found = []
    for cell in cells:
        parts = _split_years(cell)
        for part in parts:
            dated = dates_of(part.text)
            if (
                len(dated) == 1
                and is_head(GridRow(part.text))
                and not _COMPARES.search(_MONTH_ALONE.sub(" ", part.text))
            ):
                found.append((*dated[0], part))
    return found


def _split_years(cell: Cell) -> list[Cell]:
    """A cell of years alone as a cell each, their places shared out by their letters."""
    if len(years := cell.text.split()) < 2 or not all(map(YEAR.fullmatch, years)):
        return [cell]
    width = (cell.right - cell.left) / len(years)
    return [Cell(year, cell.left + n * width, cell.left + (n + 1) * width) for n, year in enumerate(years)]


def middle(cell: Cell) -> float:
    """The middle of a cell in points."""
    return (cell.left + cell.right) / 2


def _nearest(place: Cell, cells: Sequence[tuple]) -> tuple | None:
    return min(cells, key=lambda one: abs(middle(one[0]) - middle(place)), default=None)


class _Stack(NamedTuple):
    left: float
    right: float
    rows: frozenset[int]


def stacks_of(rows: Sequence[GridRow], height: float) -> list[Cell]:
    """The stacks of figures that stand below each other, by their right edges, from left to right; as text, how many
    rows each has a figure of."""
    edges = sorted((cell.right, cell.left, n) for n, row in enumerate(rows) for cell in row.figures)
    stacks: list[_Stack] = []
    for right, left, n in edges:
        last, apart = (stacks[-1], right - stacks[-1].right) if stacks else (None, 0.0)
        if last and (apart <= EDGE * height or (apart <= LOOSE_EDGE * height and n not in last.rows)):
            stacks[-1] = _Stack(min(last.left, left), right, last.rows | {n})
        else:
            stacks.append(_Stack(left, right, frozenset([n])))
    return [Cell(str(len(stack.rows)), stack.left, stack.right) for stack in stacks]


class Alignment(NamedTuple):
    """Which stack of figures stands below each column's year, None where none does."""

    stacks: tuple[int | None, ...]
    is_chosen: bool = False  # whether several do, and one was chosen
    part: str = ""  # the title of these stacks, of several below each year


def aligned(head: Head, stacks: Sequence[Cell], figures: Sequence[Sequence[str]]) -> list[Alignment]:
    """The stacks below the columns' years, of each part where every year has the same ones; ``figures`` are those of
    each stack. Stacks of notes, footnotes and per cents are left out, and those of a few rows beside a full one, which
    are figures at the end of a label."""
    owned, n = owned_stacks(head, stacks, figures), len(head.columns)
    amounts = {one for of_year in owned for one in of_year if not all("%" in text for text in figures[one])}
    for kept in (sorted(one for of_year in owned for one in of_year), sorted(amounts)):
        if len(kept) == n:
            return [Alignment(tuple(kept))]
    if parts := parts_of(head, stacks, owned):
        return parts
    found, is_chosen = [], False
    for column, of_year in zip(head.columns, owned, strict=True):
        mine = [one for one in of_year if one in amounts] or of_year
        below = [one for one in mine if abs(column.place.right - stacks[one].right) <= NEAR] if len(mine) > 1 else mine
        is_chosen |= len(mine) > 1
        found.append(next(iter(below or mine), None))
    return [Alignment(tuple(found), is_chosen)]


def owned_stacks(head: Head, stacks: Sequence[Cell], figures: Sequence[Sequence[str]]) -> list[list[int]]:
    """The stacks of values below the year of each column, from left to right."""
    titles = [*(column.place for column in head.columns), *head.beside]
    owners = [min(range(len(titles)), key=lambda n: _apart(titles[n], stack)) for stack in stacks]
    wide = [n for n, texts in enumerate(figures) if not all(map(_SMALL.fullmatch, texts))]
    kept = [
        n for n, texts in enumerate(figures)
        if owners[n] < len(head.columns) and not all(map(NUMBERED.fullmatch, texts))
        and not (n not in wide and wide and n < wide[0])
    ]  # fmt: skip
    of_years = [[n for n in kept if owners[n] == year] for year in range(len(head.columns))]
    most = [max((len(figures[n]) for n in of_year), default=0) for of_year in of_years]
    return [[n for n in of_year if len(figures[n]) > SPARSE * of] for of_year, of in zip(of_years, most, strict=True)]


def parts_of(head: Head, stacks: Sequence[Cell], owned: Sequence[Sequence[int]]) -> list[Alignment]:
    """The stacks below each year by their titles, where all years have the same ones, as *Revenue, Capital, Total*."""
    titles = [[title_of(stacks[one], head.below) for one in of_year] for of_year in owned]
    parts = titles[0]
    is_same = all(of_year == parts for of_year in titles) and len({*parts} - {""}) == len(parts) > 1
    if not is_same or (len(titles) == 1 and not any(map(TOTAL.fullmatch, parts))):
        return []
    return [Alignment(tuple(of_part), False, part) for part, *of_part in zip(parts, *owned, strict=True)]


def title_of(stack: Cell, cells: Sequence[Cell]) -> str:
    """The words above a stack of figures, from top to bottom."""
    return " ".join(cell.text for cell in cells if cell.left <= stack.right and stack.left <= cell.right)


def _apart(title: Cell, stack: Cell) -> float:
    """How far a title is from the figures below it, by their middles or right edges."""
    return min(abs(middle(title) - middle(stack)), abs(title.right - stack.right))
