"""An extractive reader, by rules: a question's line items as cells of the pages' tables, and the answer from them.

Where an item or a period is not found, no answer is given: it says what is missing.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from lib.statements.asked import FILLER, Wanted
from lib.statements.columns import Column
from lib.statements.formulas import Unknown, calculate, is_row_of, items, library, spoken
from lib.statements.labels import plain
from lib.statements.money import ones, signs
from lib.statements.rows import PER, Line, Sheet, spelt
from lib.text.tokens import word_weights

LEAST_SHARED = 0.6  # of a row's label and of the words that are asked for, by weight
SAME = 0.9  # so much is shared by a label that is the item's in other words
LIKELY = 0.8  # the score of a label of the item's patterns
STATEMENT, RANK, NEWEST = (0.3, 0.04, 0.05)  # a primary statement's row; each page further down; the filing's own year
OF_SENTENCE, LEAST_OF_SENTENCE = 0.8, 0.65  # how much the words of a question count that a sentence has, not its own
IN_SENTENCE = 0.1  # what a sentence is less than a table
MAX_SUBSTITUTES = 2


class Cell(NamedTuple):
    """A value of a table and where it is from."""

    name: str
    year: int
    value: float  # in ones
    shown: float
    unit: str
    label: str
    doc_name: str
    page: int
    is_share: bool
    score: float
    fit: float = 0.0  # of the row alone
    currency: str = ""  # ISO 4217
    doubts: tuple[str, ...] = ()  # why the value is not sure


class Result(NamedTuple):
    """An answer and its derivation, or why there is none."""

    text: str
    why_not: str
    formula: str
    cells: tuple[Cell, ...] = ()


def stems(words: str) -> set[str]:
    """The words of a text without plural endings."""
    return {re.sub(r"(?<=[a-z]{2}[^s])s$", "", word) for word in words.split()}


def only_of_filings(printed: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What a filing prints, by doc_name, where it prints one thing alone."""
    of_filings: dict[str, set[str]] = {}
    for name, one in printed:
        of_filings.setdefault(name, set()).update(filter(None, [one]))
    return {name: next(iter(found)) for name, found in of_filings.items() if len(found) == 1}


class Reader:
    """Cells of some pages' tables, best page first, by line item and year, and substitutes where it has formulas."""

    def __init__(self, sheets: Sequence[Sheet], wanted: Wanted, has_formulas: bool = True):
        self.sheets, self.wanted, self.has_formulas = sheets, wanted, has_formulas
        self.used: dict[tuple[str, int], Cell] = {}
        self.currencies = only_of_filings((one.doc_name, line.money.currency) for one in sheets for line in one.tables)
        self.units = only_of_filings(
            (one.doc_name, line.money.unit) for one in sheets for line in one.tables if one.kind and not line.is_share
        )
        self.newest = newest_of(sheets)
        labels = [stems(plain(line.label)) for sheet in sheets for line in sheet.tables]
        self.weights = word_weights(labels)

    def bind(self, name: str, year: int, depth: int = 0) -> float:
        """The value of a name in a year, from its best cell or, where no row has it, by a substitute; else Unknown."""
        if (name, year) not in self.used:
            best = max(self.cells(name, year), key=lambda cell: cell.score, default=None)
            if best is None:
                instead = library()["instead"].get(name)
                if instead and self.has_formulas and depth < MAX_SUBSTITUTES:
                    return calculate(instead, lambda other, at: self.bind(other, at, depth + 1), year)
                words = self.wanted.rows.get(name, name.replace("_", " "))
                raise Unknown(f"no row of {words} in {year or 'the latest period'}")
            self.used[name, year] = best
        return self.used[name, year].value

    def cells(self, name: str, year: int) -> list[Cell]:
        """The cells that may be a name's value in a year."""
        item, cells = items().get(name, {}), []
        for rank, sheet in enumerate(self.sheets):
            for line, score in self.rows(name, sheet):
                column, doubts = column_of(line, year, self.wanted, sheet, self.newest.get(sheet.doc_name))
                if column is None or line.values[column] is None:
                    continue
                shown, more = signed(name, line, column, sheet)
                unit = "" if item.get("per_share") else line.money.unit
                if not unit and sheet.kind and self.units.get(sheet.doc_name) and self.is_amount(name, line):
                    unit = self.units[sheet.doc_name]
                    doubts = [*doubts, "its table does not say in which unit amounts are, other statements do"]
                fit = score
                score += NEWEST * (sheet.year == year) - RANK * rank - IN_SENTENCE * line.is_sentence
                value = line.columns[column].year, shown * ones()[unit], shown, unit, line.label
                currency = line.money.currency or ("" if line.is_share else self.currencies.get(sheet.doc_name, ""))
                place = sheet.doc_name, sheet.page, line.is_share, score, fit, currency
                cells.append(Cell(name, *value, *place, (*line.doubts, *doubts, *more)))
        return cells

    def latest(self, formula: str) -> int:
        """The year to calculate a formula in where none is asked for: the newest one, if it has years before it; else
        0, so that each row's newest column counts."""
        return max((one.year for one in self.newest.values()), default=0) if re.search(r"prev|avg", formula) else 0

    def is_amount(self, name: str, line: Line) -> bool:
        """Whether a row is an amount of a line item, which a statement prints in its unit."""
        return (
            name in items() and not items()[name].get("per_share") and not line.is_share and not PER.search(line.label)
        )

    def rows(self, name: str, sheet: Sheet) -> list[tuple[Line, float]]:
        """The rows of a sheet that fit a name, and how well; of a balance that has a row *net*, not the gross one."""
        found = [(line, fit) for line in sheet.lines if (fit := self.fit(name, line, sheet))]
        if items().get(name, {}).get("kind") != "balance":
            return found
        nets = {without_net(line) for line, _ in found if is_net(line)}
        return [(line, fit) for line, fit in found if is_net(line) or without_net(line) not in nets]

    def fit(self, name: str, line: Line, sheet: Sheet) -> float:
        """How well a row fits a name, 0 where it does not."""
        words, item = self.wanted.rows.get(name), items().get(name)
        if item is not None and (is_of_another(name, line.label) or (item.get("kind"), sheet.kind) == CHANGES):
            return 0.0
        if name in CURRENT and NONCURRENT.search(plain(line.section)):
            return 0.0
        of_statement = STATEMENT * bool(sheet.kind)
        shared = self.shared(words, line) + of_statement if words else 0.0
        if name == PRINTED:
            return shared if line.is_share and shared >= SAME + of_statement else 0.0
        if item is None:
            return shared if shared >= LEAST_SHARED + of_statement else 0.0
        if line.is_sentence or line.is_share or not is_row_of(name, line.label):
            return shared if shared >= SAME + of_statement else 0.0
        return max(shared, LIKELY + STATEMENT * (sheet.kind == item["kind"]))

    def shared(self, words: str, line: Line) -> float:
        """The mean of the shares, by weight, that a row's label and words have in common; 0 below LEAST_SHARED."""
        asked, label = stems(spelt(words)), stems(" ".join(FILLER.sub(" ", spoken(plain(line.label))).split()))
        whole = label | stems(plain(line.section))
        of_asked = self.weigh(whole & asked) / (self.weigh(asked) or 1.0)
        of_label = self.weigh(label & asked) / (self.weigh(label) or 1.0)
        if line.is_sentence:
            return OF_SENTENCE * of_asked + (1 - OF_SENTENCE) * of_label if of_asked >= LEAST_OF_SENTENCE else 0.0
        score = (of_label + of_asked) / 2
        return score if score >= LEAST_SHARED and of_label >= LEAST_SHARED / 2 else 0.0

    def weigh(self, words: set[str]) -> float:
        """The sum of words' weights, 1 for a word of no label."""
        return math.fsum(self.weights.get(word, 1.0) for word in words)  # whatever the order of the set


def is_net(line: Line) -> bool:
    """Whether a row says that its amount is net."""
    return "net" in plain(line.label).split()


PRINTED = "printed"  # the name of a measure that a filing prints itself
#: Line items of the current part of a balance sheet, which may have a row of the same name in the other one.
CURRENT = {"short_investments", "receivables", "trade_receivables", "short_debt", "payables", "deferred_revenue"}
CURRENT |= {"current_long_debt", "other_current_assets", "prepaid", "accrued"}
NONCURRENT = re.compile(r"\b(?:non ?current|long term)\b")


def without_net(line: Line) -> tuple[str, str]:
    """A row's section and label without the word *net*."""
    return line.section, " ".join(word for word in plain(line.label).split() if word != "net")


#: A balance on a statement of cash flows is a change in it.
CHANGES = ("balance", "cash_flow")


@cache
def owners(label: str) -> frozenset[str]:
    """The line items whose row a label is."""
    return frozenset(name for name, item in items().items() if "labels" in item and is_row_of(name, label))


def is_of_another(name: str, label: str) -> bool:
    """Whether a label is of other line items than this one."""
    return name not in (of_label := owners(label)) and bool(of_label)


LOSS = re.compile(r"\bloss(?:es)?\b")
_GAIN = re.compile(r"\b(?:income(?! tax)|profits?|earnings|gains?)\b")
BALANCES_OF_ANY_SIGN = ("equity", "retained", "treasury_stock", "working_capital")
SIGNED = ("net_income", "operating_income", "pretax_income", "gross_profit")


def is_loss(label: str) -> bool:
    """Whether a row is of losses alone: ``Net loss``, but not ``Net income (loss)``."""
    words = plain(label)
    return bool(LOSS.search(words)) and not _GAIN.search(words)


def signed(name: str, line: Line, column: int, sheet: Sheet) -> tuple[float, list[str]]:
    """A row's value with the sign of its item, and what is in doubt: outflows are positive, losses negative whether or
    not the statement prints them so, and tax benefits are negative tax."""
    value, item = line.values[column], items().get(name, {})
    if item.get("is_outflow") or (item.get("kind") == "balance" and name not in BALANCES_OF_ANY_SIGN):
        return abs(value), []
    if name == "income_tax":
        return value * sign_of_tax(line, column, sheet), []
    if is_loss(line.label) and (name in SIGNED or item.get("is_signed")):
        is_mixed = len({one > 0 for one in line.values if one}) > 1
        return -abs(value), ["gains and losses in one row of losses"] * is_mixed
    return value, []


def sign_of_tax(line: Line, column: int, sheet: Sheet) -> int:
    """-1 where a statement shows tax expense in parentheses, or a benefit without: pre-tax income less tax is net."""

    def beside(name: str) -> float | None:
        rows = (row for row in sheet.lines if row.columns == line.columns and is_row_of(name, row.label))
        return next((signed(name, row, column, sheet)[0] for row in rows if row.values[column] is not None), None)

    pretax, net, tax = beside("pretax_income"), beside("net_income"), line.values[column]
    if pretax is None or net is None:
        return -1 if plain(line.label).startswith("benefit") else 1
    return 1 if abs(pretax - tax - net) <= abs(pretax + tax - net) else -1


def fiscal_year(column: Column, sheet: Sheet, newest: Column | None) -> int:
    """The fiscal year that a column is of: as the filing names the year that ends then, else counted from its newest
    column, which is of its own period.

    A year that ends in January or February may be named after the year before, so that its last column is a year later
    than the filing's. In a quarterly report the months behind the end of a year are of the next one.
    """
    for end, year in sheet.fiscal.items():
        if (end.year, end.month) == (column.year, column.month):
            return year
    if newest is None or newest.month is None:
        return column.year
    end = (newest.month + 3 * (4 - (sheet.quarter or 4)) - 1) % 12 + 1  # the month in which years end

    def year_of(one: Column) -> int:
        return one.year + bool(sheet.quarter and (one.month or newest.month) > end)

    is_late = end in (1, 2) and sheet.year and year_of(newest) == sheet.year + 1
    return year_of(column) - 1 if is_late else year_of(column)


def newest_of(sheets: Sequence[Sheet]) -> dict[str, Column]:
    """The newest column with a month of each filing's statements, by doc_name: other tables may look ahead."""
    newest: dict[str, Column] = {}
    for sheet in sheets:
        columns = [one for line in sheet.tables for one in line.columns if sheet.kind and one.month]
        columns += filter(None, [newest.get(sheet.doc_name)])
        if columns:
            newest[sheet.doc_name] = max(columns, key=lambda one: (one.year, one.month))
    return newest


def column_of(
    line: Line, year: int, wanted: Wanted, sheet: Sheet, newest: Column | None
) -> tuple[int | None, list[str]]:
    """The column of a fiscal year, 0 for the latest, and what is in doubt; of several the one whose length is asked
    for, else the longest."""
    years = [fiscal_year(column, sheet, newest) for column in line.columns]
    columns = [n for n, one in enumerate(years) if one == (year or max(years))]
    if wanted.months and any(line.columns[n].months for n in columns):
        columns = [n for n in columns if line.columns[n].months in (wanted.months, None)]
    best = max(columns, key=lambda n: (line.columns[n].months or 0, -n), default=None)
    if best is None:
        return None, []
    alike = [n for n in columns if line.columns[n][1:3] == line.columns[best][1:3]]
    is_open = len({line.values[n] for n in alike}) > 1
    doubts = ["several columns of one year and length, with other values"] * is_open
    return best, doubts + doubts_of_period(line.columns[best], wanted, sheet)


def doubts_of_period(column: Column, wanted: Wanted, sheet: Sheet) -> list[str]:
    """What does not confirm that a column is of the date or quarter that is asked for."""
    doubts = []
    if wanted.end and column.month and wanted.end.month != column.month:
        doubts.append("the period ends in another month")
    if wanted.months and column.months and column.months != wanted.months:
        doubts.append("the period has another length")
    if wanted.quarter and not sheet.is_quarter(column, wanted.quarter):
        doubts.append("the quarter is not confirmed")
    return doubts


def read(wanted: Wanted, sheets: Sequence[Sheet], has_formulas: bool = True) -> Result:
    """The answer to a question from pages' tables, best page first: of the filings whose pages have all cells, from the
    one with the best; where none has all, from the pages of all. Without formulas only single cells are answers."""
    if not has_formulas and wanted.source not in ("item", "row"):
        return Result("", "a formula is needed", wanted.formula)
    result = _read(wanted, sheets, has_formulas)
    if result.text or not (wanted.named or wanted.formula in items()):
        return result
    found = _read(by_words(wanted), sheets, has_formulas)
    return found if found.text else result


def by_words(wanted: Wanted) -> Wanted:
    """What is asked for as the row that has its words and those that were not read, where no row is a line item's own:
    a filing may print a measure that would be calculated, such as its effective tax rate."""
    if wanted.named:
        return replace(wanted, formula=PRINTED, rows={PRINTED: FILLER.sub(" ", wanted.named)}, source="row", form="")
    words = " ".join([wanted.rows.get(wanted.formula, wanted.formula.replace("_", " ")), *wanted.unread])
    return replace(wanted, formula="row_0", rows={"row_0": words}, source="row")


def _read(wanted: Wanted, sheets: Sequence[Sheet], has_formulas: bool) -> Result:
    filings = dict.fromkeys(sheet.doc_name for sheet in sheets)
    parts = [[sheet for sheet in sheets if sheet.doc_name == filing] for filing in filings]
    results, why_not = [], "no page has a table"
    for rank, part in enumerate([*parts, sheets] if len(parts) > 1 else parts):
        if results and rank == len(parts):
            break  # no mixture of filings where one has all
        reader = Reader(part, wanted, has_formulas)
        try:
            value = calculate(wanted.formula, reader.bind, wanted.year or reader.latest(wanted.formula))
        except (Unknown, OverflowError, ValueError) as error:
            why_not = str(error)
            continue
        cells = tuple(reader.used.values())
        results.append((min((cell.score for cell in cells), default=0) - RANK * rank, -rank, value, cells))
    *_, value, cells = max(results, default=(0.0, ()))
    if not cells:
        return Result("", "the formula has no rows" if results else why_not, wanted.formula)
    return Result(written(wanted, value, cells), "", wanted.formula, cells)


def written(wanted: Wanted, value: float, cells: Sequence[Cell]) -> str:
    """A value as an answer: in the form and unit asked for, else in the statement's, with its currency as printed."""

    def digits(otherwise: int) -> int:
        return otherwise if wanted.digits is None else wanted.digits

    if wanted.form == "percent":
        return f"{100 * value:.{digits(2)}f}%"
    if wanted.form in ("ratio", "days"):
        return f"{value:.{digits(2)}f}"
    if all(cell.is_share for cell in cells):
        return f"{value:g}%"
    unit = next((cell.unit for cell in cells if cell.unit), None)
    currencies = {cell.currency for cell in cells if cell.currency}
    sign = ("-" if value < 0 else "") + (signs()[currencies.pop()] if len(currencies) == 1 else "")
    if unit is None:
        text = f"{sign}{abs(value):,.{digits(2)}f}"
        return text.removesuffix(".00") if wanted.digits is None else text
    size = abs(value) / (wanted.unit or ones()[unit])
    amount = f"{sign}{size:,.{digits(0 if abs(size - round(size)) < 1e-6 else 2)}f}"
    if wanted.unit:
        return f"{amount} {next(name for name, one in ones().items() if one >= wanted.unit)}"
    return f"{amount} (in {unit}s)"
