"""The rows of a page's tables: a label, and a value a period, with unit, currency and sign, and what is in doubt.

A year above a column says what its figures are of. With the words of a PDF the year's place does; from text alone the
order of the cells, where there are as many figures as years. Columns of notes, per cents, changes and footnotes are no
values. A row whose figures do not fit its head keeps what is read first, with a doubt: no sure answer is from it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise, takewhile
from statistics import median
from typing import NamedTuple

from lib.data.pdf import Word
from lib.statements.blocks import OFF, last_digit, unfolded
from lib.statements.columns import (
    MONTH_WORD,
    TOTAL,
    Alignment,
    Column,
    Head,
    aligned,
    anchors_of,
    head_of_places,
    head_of_text,
    is_head,
    stacks_of,
)
from lib.statements.figures import NUMBERED, is_ambiguous, number, style_of
from lib.statements.grid import Cell, GridRow, printed_lines, rows_of_text, rows_of_words
from lib.statements.labels import HEAD_CHARACTERS, MARKS, OTHER_STATEMENTS, YEAR, item_of, kind_of, kinds, plain
from lib.statements.money import Money, currency_of, money_of
from lib.statements.sentences import SENTENCE, stated_in

_ENDS_IN_MONTH = re.compile(rf"\b(?:{MONTH_WORD})\.?$", re.I)
_LEVEL, NUMBERS = re.compile(r"\b(level|stage|tier) ([1-3])\b", re.I), ("one", "two", "three")
PER = re.compile(r"\bper\b(?! ?cent)|percent|\bratio\b|%|\bshares\b(?! (?:issued|repurchased))", re.I)
LINE_HEIGHT = 8.0  # points of a line, where it is not known
MIDDLE, GUTTER, LEAST_LINES = (
    (0.4, 0.6),
    8.0,
    6,
)  # of a page in two columns: where, points between, lines that begin there
INDENT = 4  # points
EDGES = MARKS + "$€£"  # around a label
#: What stands in the head of a primary statement whose title is broken, and of no table of an affiliate or a part.
_CONSOLIDATED = re.compile(
    rf"\A(?!.*(?:{OTHER_STATEMENTS.pattern}|\bnotes? \d|summari[sz]ed|selected|segment|affiliate|investee))"
    r".*\bconsolidated\b",
    re.I | re.S,
)
LEAST_ITEMS = 6  # of a statement without a title
MOST_TITLES, LONGEST_TEXT = 10, 200  # lines of words that a head has; characters of prose that ends a table
LONGEST_LABEL = 100  # characters of a row; prose is longer
MORE, ADJUSTED, BLANK = "more figures than columns", "a restated or adjusted column", "fewer figures than columns"
AMBIGUOUS = "a figure that is thousands or has three decimals"
UNTITLED, APART = "a column without a year above it", "labels that stand apart from their figures"


class Line(NamedTuple):
    """A row with its columns."""

    label: str
    section: str  # the heading that it stands under
    columns: tuple[Column, ...]
    values: tuple[float | None, ...]  # one a column, None for a blank
    is_share: bool = False
    money: Money = Money()
    doubts: tuple[str, ...] = ()
    is_sentence: bool = False


class Sheet(NamedTuple):
    """A page's tables."""

    doc_name: str
    page: int
    kind: str | None  # of statement
    year: int | None  # fiscal, of the filing
    lines: tuple[Line, ...]
    fiscal: Mapping[date, int] = {}  # the fiscal year that ends on a date, as the filing says
    quarter: int | None = None  # fiscal, of the filing

    @property
    def tables(self) -> list[Line]:
        """The rows of tables."""
        return [line for line in self.lines if not line.is_sentence]

    def is_quarter(self, column: Column, quarter: int) -> bool:
        """Whether a column ends with a quarter: the filing's own, or one as many months apart; the last one of a year
        that the filing names."""
        if column.month is None:
            return False
        newest = max(
            (one for line in self.tables for one in line.columns if one.month), key=lambda one: (one.year, one.month)
        )
        apart = (newest.month - column.month) % 12
        if self.quarter:
            return apart % 3 == 0 and (self.quarter - apart // 3 - quarter) % 4 == 0
        ends = {end.month for end in self.fiscal} or {12}
        return len(ends) == 1 and (column.month - next(iter(ends)) - 3 * quarter) % 12 == 0


def sheet(
    doc_name: str,
    page: int,
    year: int | None,
    text: str,
    words: Sequence[Word] | None = None,
    fiscal: Mapping[date, int] | None = None,
    quarter: int | None = None,
    before: str = "",
) -> Sheet:
    """The tables of a page of this text, in the filing of a fiscal year; by the places of its words where given. The
    head of a table that goes on from the page ``before`` is that page's last one."""
    lines = lines_of_words(words) if words else ()
    lines = lines or lines_of(text, before)
    kind = kind_of(text) or (kind_by_rows(lines) if _CONSOLIDATED.search(text[:HEAD_CHARACTERS]) else None)
    lines = (*lines, *lines_of_sentences(text, year))
    return Sheet(doc_name, page, kind, year, lines, fiscal or {}, quarter)


def lines_of_sentences(text: str, year: int | None) -> Iterator[Line]:
    """The amounts of a page's sentences as rows: the words beside each, in the sentence as their section."""
    for one in stated_in(text, year):
        about = one.is_share, one.money, (SENTENCE,), True
        yield Line(one.label, one.sentence, (one.column,), (one.value,), *about)


def kind_by_rows(lines: Sequence[Line]) -> str | None:
    """The primary statement whose anchor and LEAST_ITEMS line items the rows have, where its title was not read."""
    labels = {plain(line.label) for line in lines if not (line.doubts or line.is_share)}
    found = {kind: {item_of(kind, label) for label in labels} - {None} for kind in kinds()}
    likely = [kind for kind, about in kinds().items() if about["anchor"] in found[kind]]
    best = max(likely, key=lambda kind: len(found[kind]), default=None)
    return best if best and len(found[best]) >= LEAST_ITEMS else None


class _Reader:
    """What holds for the rows that follow, while a page is read from its top."""

    def __init__(self, rows: Sequence[GridRow], summed: frozenset[str] | None = None):
        self.summed = summed  # labels whose figures are sums, of a page that was read column by column
        self.style, self.is_style_sure = style_of(cell.text for row in rows for cell in row.figures)
        self.money, self.section, self.lines = Money(), "", []

    def see(self, text: str) -> None:
        """Take up the unit and currency that a line of words states."""
        found = money_of(text)
        if found.unit:
            self.money = Money(found.unit, found.currency or self.money.currency)

    def is_sum(self, figures: Sequence[str], sums: Sequence[str]) -> bool:
        """Whether figures are, in every column, the sums of a row that follows and of the last rows of its section."""
        above = [line.values for line in self.lines if line.section == self.section and len(line.values) == len(sums)]
        totals, wanted = ([self.value(text) or 0.0 for text in texts] for texts in (figures, sums))
        off = OFF * min(map(last_digit, wanted))
        for values in reversed(above):
            totals = [total + (value or 0.0) for total, value in zip(totals, values, strict=True)]
            if all(abs(total - one) <= off for total, one in zip(totals, wanted, strict=True)):
                return True
        return False

    def value(self, text: str) -> float | None:
        """The value of a printed figure in the page's style."""
        return number(text, self.style)

    def add(
        self, row: GridRow, columns: Sequence[Column], figures: Sequence[str | None], doubts: Sequence[str]
    ) -> None:
        """A row with its figures; its currency is the one printed in it, else the one stated above."""
        is_share = "%" in row.label or any("%" in figure for figure in figures if figure)
        values = [None if figure is None else self.value(figure) for figure in figures]
        if not self.is_style_sure and any(is_ambiguous(figure) for figure in figures if figure):
            doubts = [*doubts, AMBIGUOUS]
        label = row.label.strip(EDGES)
        if self.summed is not None and row.label not in self.summed:
            doubts = [*doubts, APART]
        own = currency_of(" ".join(cell.text for cell in row.cells[1:]) if len(row.cells) > 1 else "")
        if own and own != self.money.currency:
            self.money = self.money._replace(currency=own)
        money = Money() if is_share else self.money._replace(unit="") if PER.search(label) else self.money
        self.lines.append(Line(label, self.section, tuple(columns), tuple(values), is_share, money, tuple(doubts)))


def lines_of(text: str, before: str = "") -> tuple[Line, ...]:
    """The rows of a page's tables from its text of one cell a line; rows without a year above them are left out."""
    arranged, summed = unfolded(text)
    rows = years_apart([*map(_as_date, rows_of_text(arranged))])
    reader, block = _Reader(rows, summed), []
    head, is_first = head_below(rows), True
    for row in rows:
        if is_head(row) and not _is_item_of_years(row, head):
            reader.see(row.label)
            block.append(row)
        elif not row.figures:
            reader.see(row.label)
            block.append(row)
            reader.section = row.label.strip(EDGES) or reader.section
        else:
            found = head_for(row, near(block))
            has_prose = any(len(one.label) > LONGEST_TEXT for one in block)
            if is_first and before and not (found.columns or head.columns or has_prose):
                head, of_table = last_head(before)
                reader.money = reader.money if reader.money.unit else of_table
            head = found if found.columns else Head(()) if has_prose else head
            block, is_first = [], False
            of_parts = by_parts(row, head)
            for label, values in of_parts:
                reader.add(row._replace(label=label), head.columns, values, [ADJUSTED] * head.is_adjusted)
            if head.columns and not of_parts:
                values, doubts, rest = fitted(row, head, reader)
                if values:
                    reader.add(row, head.columns, values, doubts if not rest or reader.is_sum(values, rest) else [MORE])
                if rest and not reader.lines[-1].doubts:  # the sum of a block, printed without a label
                    reader.add(row._replace(label=f"Total {reader.section}"), head.columns, rest, doubts)
    return tuple(reader.lines)


def by_parts(row: GridRow, head: Head) -> list[tuple[str, list[str]]]:
    """A row whose periods have columns of parts as a row a part: its label, with the part if that is no total, and its
    figures; none where there are not as many figures as columns."""
    if not head.parts:
        return []
    size, cells = len(head.parts), [cell.text for cell in row.figures]
    n = size * len(head.columns)
    if len(cells) == n + 1 and head.has_notes and re.fullmatch(r"\(?\d{1,2}\)?", cells[0]):
        cells = cells[1:]
    if len(cells) != n:
        return []
    return [(labelled(row.label, part), cells[place::size]) for place, part in enumerate(head.parts)]


def spelt(text: str) -> str:
    """A text with the number of a level or a stage as a word: labels are compared by letters."""
    return _LEVEL.sub(lambda match: f"{match[1]} {NUMBERS[int(match[2]) - 1]}", text)


def near(block: Sequence[GridRow]) -> list[GridRow]:
    """The rows of years of a block, and the last ones of words among them."""
    places = [n for n, row in enumerate(block) if not is_head(row)]
    far = {*places[:-MOST_TITLES]}
    return [row for n, row in enumerate(block) if n not in far]


def head_for(row: GridRow, block: Sequence[GridRow]) -> Head:
    """The head of a table whose first row this is: of all rows of years above it, where another part of them does not
    make as many columns as the row has figures. A date above the title is of no column; one before years may be."""
    whole, n = head_of_text(block), len(row.figures)
    if len(whole.columns) == n:
        return whole
    starts = [place for place, one in enumerate(block) if is_head(one)][1:]
    others = [head_of_text(block, is_joined=True), *(head_of_text(block[start:]) for start in starts)]
    return next((one for one in others if len(one.columns) == n), whole)


def years_apart(rows: list[GridRow]) -> list[GridRow]:
    """The rows of a page; years behind the figures of the last one are a row of their own, a head below the table."""
    places = [n for n, row in enumerate(rows) if len(row.figures) > 1]
    texts = [cell.text for cell in rows[places[-1]].figures] if places else []
    n = len([*takewhile(YEAR.fullmatch, reversed(texts))])
    if not 1 < n < len(texts) or len({*texts[-n:]}) < n:
        return rows
    last, rest = rows[places[-1]], rows[places[-1] + 1 :]
    years = GridRow("", last.figures[-n:], last.figures[-n:])
    return [*rows[: places[-1]], last._replace(figures=last.figures[:-n]), years, *rest]


def head_below(rows: Sequence[GridRow]) -> Head:
    """The head that stands right behind the last row of a page, where its text has it so: years alone, no per cents."""
    block = [*takewhile(lambda row: is_head(row) or len(row.figures) < 2, reversed(rows))][::-1]  # with a page's number
    above = [*takewhile(lambda row: is_head(row) or not row.figures, rows)]
    is_there = len(block) < len(rows) and block and block[0].figures and not block[0].label
    head = head_of_text([*above, block[0]]) if is_there and is_head(block[0]) else Head(())
    return Head(()) if head.n_beside else head


def last_head(text: str) -> tuple[Head, Money]:
    """The head of the last table of a page's text, and what its amounts are in."""
    lines = lines_of(text)
    has_notes = bool(re.search(r"^\s*notes?\s*$", text, re.I | re.M))
    is_sure = lines and not lines[-1].doubts
    return (Head(lines[-1].columns, has_notes), lines[-1].money) if is_sure else (Head(()), Money())


def _as_date(row: GridRow) -> GridRow:
    """A row whose figures are the day and the year of a date is one of words."""
    if row.figures and _ENDS_IN_MONTH.search(row.label) and re.fullmatch(r"\d{1,2},?", row.figures[0].text):
        return GridRow(f"{row.label} {' '.join(cell.text for cell in row.figures)}", (), row.cells)
    return row


def _is_item_of_years(row: GridRow, head: Head) -> bool:
    """Whether a row of figures that look like years stands under years of its own: they are values."""
    texts = [cell.text for cell in row.figures]
    return len(texts) == len(head.columns) > 1 and len(set(texts)) == 1


def fitted(row: GridRow, head: Head, reader: _Reader) -> tuple[list[str], list[str], list[str]]:
    """The figures of a row for the columns of its head, by their number, and what is in doubt; none where too few. As
    many figures again, without a label, are the sum of its block: the third value."""
    n, cells = len(head.columns), [*row.figures]
    doubts = [ADJUSTED] * head.is_adjusted + [MORE] * bool(head.parts)
    if len(cells) > n:
        without = [cell for cell in cells if not NUMBERED.fullmatch(cell.text)]
        marks = [cell for cell in cells if NUMBERED.fullmatch(cell.text)]
        if len(without) == n and marks:
            cells = without
    if len(cells) > n and head.has_notes and re.fullmatch(r"\d{1,2}(?:\.\d{1,2})?", cells[0].text):
        cells = cells[1:]
    if len(cells) == 2 * n and n > 1 and _is_alternating(cells, head, reader):
        cells = cells[::2]
    if len(cells) < n:
        return [], [], []
    values = [cell.text for cell in cells]
    if len(cells) == 2 * n and not head.n_beside and reader.section and n > 1:
        return values[:n], doubts, values[n:]
    if len(cells) > n and (head.is_mixed or len(cells) - n > head.n_beside):
        doubts.append(MORE)
    elif len(cells) == n and head.has_notes and re.fullmatch(r"\d{1,2}", cells[0].text) and n > 1:
        doubts.append(MORE)  # a note and a blank may be there
    return values[:n], doubts, []


def _is_alternating(cells: Sequence, head: Head, reader: _Reader) -> bool:
    """Whether every second figure is a per cent: the head says so, or they have the sign."""
    seconds = [cell.text for cell in cells[1::2]]
    values = [abs(reader.value(text) or 0) for text in seconds]
    return (head.n_beside >= len(head.columns) or all("%" in text for text in seconds)) and max(values) <= 1000


def lines_of_words(words: Sequence[Word]) -> tuple[Line, ...]:
    """The rows of a page's tables by the places of its words; rows without a year above them are left out."""
    return tuple(line for part in parts_of(words) for line in _lines_of_part(part))


class _Row(NamedTuple):
    row: GridRow
    section: str
    money: Money


def _lines_of_part(words: Sequence[Word]) -> list[Line]:
    rows, height = rows_of_words(words), height_of(words)
    reader, block, table, head, section, money = _Reader(rows), [], [], Head(()), "", Money()
    for row in map(_as_date, rows):
        if not row.figures or (is_head(row) and anchors_of(row) and not _is_item_of_years(row, head)):
            block.append(row)
            found = money_of(row.label)
            money = Money(found.unit, found.currency or money.currency) if found.unit else money
            section = row.label.strip(EDGES) or section if not (row.figures or is_head(row)) else section
            continue
        if block:
            found = head_of_places(block)
            if found.columns or any(map(_ends_table, block)):
                _read_table(table, head, height, reader)
                head, table = found, []
            block = []
        table.append(_Row(row, section, money))
    _read_table(table, head, height, reader)
    return reader.lines


def _ends_table(row: GridRow) -> bool:
    """Whether a row is of prose, or titles of other columns; a heading may go over two lines."""
    words = [cell for cell in row.cells if re.search(r"[a-z]{2}", cell.text, re.I)]
    is_side_by_side = any(after.left > before.right for before, after in pairwise(words))
    is_sentence = len(row.label) > LONGEST_LABEL and row.label.endswith(".")
    return is_side_by_side or is_sentence or len(row.label) > LONGEST_TEXT


def _read_table(table: Sequence[_Row], head: Head, height: float, reader: _Reader) -> None:
    """Add a table's rows, now that its stacks of figures are known."""
    if not (table and head.columns):
        return
    stacks = stacks_of([one.row for one in table], height)
    figures = [[] for _ in stacks]
    for one in table:
        for cell in one.row.figures:
            figures[stack_of(cell, stacks)].append(cell.text)
    for alignment in aligned(head, stacks, figures):
        for row, section, money in table:
            reader.section, reader.money = section, money
            _read_row(row, head, stacks, alignment, reader)


def _read_row(row: GridRow, head: Head, stacks: Sequence[Cell], alignment: Alignment, reader: _Reader) -> None:
    texts = [[] for _ in stacks]
    for cell in row.figures:
        texts[stack_of(cell, stacks)].append(cell.text)
    found = [texts[n] if n is not None else [] for n in alignment.stacks]
    values = [one[0] if one else None for one in found]
    doubts = [ADJUSTED] * head.is_adjusted + [UNTITLED] * alignment.is_chosen
    doubts += [MORE] * any(len(one) > 1 for one in found)
    if any(value is not None for value in values):
        label = row.label or f"Total {reader.section}"
        reader.add(row._replace(label=labelled(label, alignment.part)), head.columns, values, doubts)


def labelled(label: str, part: str) -> str:
    """A row's label with the title of a column below its periods, if that is no total."""
    return f"{label}, {spelt(part)}" if part and not TOTAL.fullmatch(part) else label


def stack_of(cell: Cell, stacks: Sequence[Cell]) -> int:
    """The stack that a figure stands in."""
    return min(range(len(stacks)), key=lambda n: abs(stacks[n].right - cell.right) + (not _is_within(cell, stacks[n])))


def _is_within(cell: Cell, stack: Cell) -> bool:
    return stack.left <= cell.left and cell.right <= stack.right


def height_of(words: Sequence[Word]) -> float:
    """The height of most words in points."""
    return median(word[3] - word[1] for word in words) if words else LINE_HEIGHT


def parts_of(words: Sequence[Word]) -> list[list[Word]]:
    """The words of a page, or of each half of one that is set in two columns of text."""
    if not words:
        return []
    left, right = min(word[0] for word in words), max(word[2] for word in words)
    starts = Counter()
    for line in printed_lines(words):
        for before, word in zip([None, *line[:-1]], line, strict=True):
            is_middle = MIDDLE[0] <= (word[0] - left) / (right - left or 1) <= MIDDLE[1]
            is_apart = before is None or word[0] - before[2] > GUTTER
            if is_middle and is_apart and re.match(r"[A-Za-z(][a-z]", word[4]):
                starts[round(word[0])] += 1
    for edge in sorted(starts):
        n = sum(starts[edge + more] for more in range(INDENT))
        crossing = sum(word[0] < edge - 2 and word[2] > edge for word in words)
        if n >= LEAST_LINES and crossing <= n / 4:
            sides = [word for word in words if word[2] <= edge], [word for word in words if word[2] > edge]
            return list(map(list, sides))
    return [list(words)]
