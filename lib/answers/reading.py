"""An extractive reader: a question's formula, its line items as cells of the pages' tables, and the answer from them.

It is rules alone. Where an item or a period is not found, no answer is given: it says what is missing.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from lib.answers.asked import FILLER, Wanted
from lib.answers.formulas import Unknown, calculate, is_row_of, items, library, spoken
from lib.data.rows import Line, Sheet, plain

Choose = Callable[[str, Sequence["Cell"]], "Cell | None"]
UNITS = {"": 1.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}
LEAST_SHARED = 0.6  # of a row's label and of the words that are asked for, by weight
SAME, LIKELY = (
    0.9,
    0.8,
)  # so much is shared by a label that is the item's in other words; a label of the item's patterns
STATEMENT, RANK, NEWEST = (
    0.3,
    0.04,
    0.05,
)  # a primary statement's row; each page further down; the filing's own year
MAX_SUBSTITUTES = 2


class Cell(NamedTuple):
    """A value of a table and where it is from; ``value`` is in ones."""

    name: str
    year: int
    value: float
    shown: float
    unit: str
    label: str
    doc_name: str
    page: int
    is_share: bool
    score: float


class Result(NamedTuple):
    """An answer and its derivation, or why there is none."""

    text: str
    why_not: str
    value: float | None
    formula: str
    cells: tuple[Cell, ...]


def stems(words: str) -> set[str]:
    """The words of a text without plural endings."""
    return {re.sub(r"(?<=[a-z]{2}[^s])s$", "", word) for word in words.split()}


class Reader:
    """Cells of some pages' tables by line item and year.

    Args:
        sheets: the pages, best first.
        wanted: what is asked for.
        has_formulas: whether substitutes for missing rows are tried.
        has_columns: whether a value is of its column's period; else a row's first value is of every period.
        choose: chooses among the likeliest cells, best first, where rules find none; it may find none either.
    """

    def __init__(
        self,
        sheets: Sequence[Sheet],
        wanted: Wanted,
        has_formulas: bool = True,
        has_columns: bool = True,
        choose: Choose | None = None,
    ):
        self.sheets, self.wanted, self.has_formulas = sheets, wanted, has_formulas
        self.has_columns, self.choose = has_columns, choose
        self.used: dict[tuple[str, int], Cell] = {}

    @cached_property
    def weights(self) -> Counter:
        """How much a label's word says, log(1 + n / df) over the rows."""
        labels = [stems(plain(line.label)) for sheet in self.sheets for line in sheet.lines]
        frequency = Counter(word for words in labels for word in words)
        return Counter({word: math.log(1 + len(labels) / n) for word, n in frequency.items()})

    def bind(self, name: str, year: int, depth: int = 0) -> float:
        """The value of a name in a year, from its best cell or, where no row has it, by a substitute.

        Raises:
            Unknown: there is none.
        """
        if (name, year) in self.used:
            return self.used[name, year].value
        cells = self.cells(name, year) or self.cells(name, year, "others")
        if best := max(cells, key=lambda cell: cell.score, default=None):
            self.used[name, year] = best
            return best.value
        instead = library()["instead"].get(name)
        if instead and self.has_formulas and depth < MAX_SUBSTITUTES:
            return calculate(instead, lambda other, at: self.bind(other, at, depth + 1), year)
        words = self.words(name)
        if self.choose and (chosen := self.choose(words, self.likely(name, year))):
            self.used[name, year] = chosen
            return chosen.value
        raise Unknown(f"no row of {words} in {year or 'the latest period'}")

    def words(self, name: str) -> str:
        """What a name of a formula stands for, in words."""
        return self.wanted.rows.get(name, name.replace("_", " "))

    def likely(self, name: str, year: int) -> list[Cell]:
        """The cells of a year whose row shares a word with a name, most first; a row that stands twice counts once."""
        asked = stems(self.words(name))
        found = self.cells(name, year, fit=lambda _, line, sheet: sum(self.common(asked, line)))
        ordered = sorted(found, key=lambda cell: -cell.score)
        return list({(cell.label, cell.value): cell for cell in reversed(ordered)}.values())[::-1]

    def cells(
        self,
        name: str,
        year: int,
        part: str = "lines",
        fit: Callable[[str, Line, Sheet], float] | None = None,
    ) -> list[Cell]:
        """The cells that may be a name's value in a year, of the ``lines`` or the ``others`` of the sheets."""
        found, fit = [], fit or self.fit
        for rank, sheet in enumerate(self.sheets):
            for line in getattr(sheet, part):
                if score := fit(name, line, sheet):
                    column = column_of(line, year, self.wanted.months, sheet) if self.has_columns else 0
                    if column is None or (shown := line.values[column]) is None:
                        continue
                    item = items().get(name, {})
                    shown = abs(shown) if item.get("is_outflow") else shown
                    shown *= sign_of_tax(line, column, sheet) if name == "income_tax" else 1
                    unit = "" if item.get("per_share") else line.unit
                    score += NEWEST * (sheet.year == year) - RANK * rank
                    place = sheet.doc_name, sheet.page, line.is_share, score
                    found.append(
                        Cell(
                            name,
                            line.columns[column].year,
                            shown * UNITS[unit],
                            shown,
                            unit,
                            line.label,
                            *place,
                        )
                    )
        return found

    def fit(self, name: str, line: Line, sheet: Sheet) -> float:
        """How well a row fits a name, 0 where it does not."""
        words, item = self.wanted.rows.get(name), items().get(name)
        shared = self.shared(words, line) + STATEMENT * bool(sheet.kind) if words else 0.0
        if item is None:
            return shared if shared >= LEAST_SHARED + STATEMENT * bool(sheet.kind) else 0.0
        if line.is_share or not is_row_of(name, line.label):
            return shared if shared >= SAME + STATEMENT * bool(sheet.kind) else 0.0
        return max(shared, LIKELY + STATEMENT * (sheet.kind == item["kind"]))

    def shared(self, words: str, line: Line) -> float:
        """The mean of the shares that a row's label and the words asked for have in common, 0 below LEAST_SHARED."""
        of_label, of_asked = self.common(stems(words), line)
        score = (of_label + of_asked) / 2
        return score if score >= LEAST_SHARED and of_label >= LEAST_SHARED / 2 else 0.0

    def common(self, asked: set[str], line: Line) -> tuple[float, float]:
        """The shares, by weight, of a row's label and of the words asked for that the other has too."""
        label = stems(" ".join(FILLER.sub(" ", spoken(plain(line.label))).split()))
        whole = label | stems(plain(line.section))
        if not label or not asked:
            return 0.0, 0.0
        weigh = lambda some: sum(self.weights[word] or 1.0 for word in some)  # noqa: E731
        return weigh(label & asked) / weigh(label), weigh(whole & asked) / weigh(asked)


def sign_of_tax(line: Line, column: int, sheet: Sheet) -> int:
    """-1 where a statement shows tax expense in parentheses, or a benefit without: pre-tax income less tax is net."""
    rows, names = [row for row in sheet.lines if row.columns == line.columns], ("pretax_income", "net_income")
    near = {name: [row.values[column] for row in rows if is_row_of(name, row.label)] for name in names}
    pretax, net = (next((value for value in values if value is not None), None) for values in near.values())
    tax = line.values[column]
    if pretax is None or net is None:
        return -1 if plain(line.label).startswith("benefit") else 1
    return 1 if abs(pretax - tax - net) <= abs(pretax + tax - net) else -1


def column_of(line: Line, year: int, months: int | None, sheet: Sheet) -> int | None:
    """The column of a fiscal year, 0 for the latest; of several the one whose length is asked for, else the longest.

    A fiscal year that ends in January or February may be named after the year before: where the newest column is a year
    later than the filing's, columns are.
    """
    newest = max(column.year for column in line.columns)
    ends = {column.month for column in line.columns if column.year == newest}
    late = 1 if sheet.year and newest == sheet.year + 1 and ends & {1, 2} else 0
    wanted = year + late if year else newest
    found = [n for n, column in enumerate(line.columns) if column.year == wanted]
    if months and any(line.columns[n].months for n in found):
        found = [n for n in found if line.columns[n].months in (months, None)]
    return max(found, key=lambda n: (line.columns[n].months or 0, -n), default=None)


def read(
    wanted: Wanted,
    sheets: Sequence[Sheet],
    has_formulas: bool = True,
    has_columns: bool = True,
    choose: Choose | None = None,
) -> Result:
    """The answer to a question from pages' tables: of the filings whose pages have all cells, the one with the best;
    where none has all, from the pages of all.

    Args:
        wanted: see :func:`lib.answers.asked.asked_for`.
        sheets: the pages, best first.
        has_formulas: without, only single cells are answers.
        has_columns: see :class:`Reader`.
        choose: see :class:`Reader`; it is asked where rules alone give no answer, over the pages of all filings.
    """
    if not has_formulas and wanted.source not in ("item", "row"):
        return Result("", "a formula is needed", None, wanted.formula, ())
    docs = dict.fromkeys(sheet.doc_name for sheet in sheets)
    parts = [[sheet for sheet in sheets if sheet.doc_name == doc] for doc in docs]
    found, why_not = [], "no page has a table"
    tries = [(part, None) for part in ([*parts, list(sheets)] if len(parts) > 1 else parts)]
    for rank, (part, asks) in enumerate([*tries, (list(sheets), choose)] if choose else tries):
        if found and rank >= len(parts):
            break  # no mixture of filings where one has all
        reader = Reader(part, wanted, has_formulas, has_columns, asks)
        try:
            value = calculate(wanted.formula, reader.bind, wanted.year or 0)
        except (Unknown, OverflowError) as error:
            why_not = str(error)
            continue
        cells = tuple(reader.used.values())
        found.append((min((cell.score for cell in cells), default=0) - RANK * rank, -rank, value, cells))
    if not found:
        return Result("", why_not, None, wanted.formula, ())
    *_, value, cells = max(found)
    if not cells:
        return Result("", "the formula has no rows", None, wanted.formula, ())
    return Result(written(wanted, value, cells), "", value, wanted.formula, cells)


def written(wanted: Wanted, value: float, cells: Sequence[Cell]) -> str:
    """A value as an answer: in the form and unit that are asked for, else in the statement's."""
    sign = "-" if value < 0 else ""
    if wanted.form == "percent":
        digits = 2 if wanted.digits is None else wanted.digits
        return f"{100 * value:.{digits}f}%"
    if wanted.form in ("ratio", "days"):
        return f"{value:.{2 if wanted.digits is None else wanted.digits}f}"
    if all(cell.is_share for cell in cells):
        return f"{value:g}%"
    if not any(cell.unit for cell in cells):
        return f"{value:,.2f}".removesuffix(".00") if wanted.digits is None else f"{value:,.{wanted.digits}f}"
    if wanted.unit:
        name = next(name for name, size in UNITS.items() if size >= wanted.unit)
        size = abs(value) / wanted.unit
        digits = wanted.digits if wanted.digits is not None else 0 if size == int(size) else 2
        return f"{sign}${size:,.{digits}f} {name}"
    unit = next(cell.unit for cell in cells if cell.unit)
    size = abs(value) / UNITS[unit]
    digits = wanted.digits if wanted.digits is not None else 0 if abs(size - round(size)) < 1e-6 else 2
    return f"{sign}${size:,.{digits}f} (in {unit}s)"
