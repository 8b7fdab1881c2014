"""Whether a reading of tables is given as an answer: reasons against it, and how often readings of its kind are right.

A reason against an answer is a veto, whatever else speaks for it: words that were not read, a figure in doubt, rows of
the same name with other values. What is left is of one of KINDS; ``sure.json`` has how many readings of each were right
on the numeric questions of three sets, counted by ``extras.sure``.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from lib.filings.identity import Identity
from lib.statements.asked import Wanted, asked_for
from lib.statements.formulas import items
from lib.statements.reading import PRINTED, Cell, Reader, Result, read
from lib.statements.rows import Line, Sheet
from lib.statements.sentences import SENTENCE
from lib.statements.several import both, questions_in
from lib.statements.vetoes import explained, vetoes

FILE = Path(__file__).with_name("sure.json")
READ, BESIDE = 5, 10  # pages that an answer is read from, and that it is compared with
NEAR, SAME_VALUE = 0.15, 0.005  # of scores; of values
#: Line items that another statement has as well.
ALSO = {("net_income", "cash_flow"), ("cash", "cash_flow")}
#: Kinds of readings: what speaks against one; a row by the question's own words; line items on one page; on several.
KINDS = ("vetoed", "row by words", "item", "item on several pages")


class Reading(NamedTuple):
    """What was read for a question, of which kind it is, why it is no answer, and how often its kind is right."""

    wanted: Wanted
    result: Result
    kind: str = KINDS[0]
    vetoes: tuple[str, ...] = ()
    sure: float = 0.0
    agreeing: tuple[tuple[str, int], ...] = ()  # other pages, by doc_name and page, that have the value of a cell

    @property
    def is_sure(self) -> bool:
        """Whether it is given as an answer."""
        return bool(self.result.text) and not self.vetoes and self.sure >= fitted()["least"]


@cache
def fitted() -> dict:
    """``sure.json``: ``least``, the share of right readings from which a kind gives answers; ``kinds``, the share of
    each, of ``n`` readings; and what was ``measured``."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def reading(
    question: str, named: Mapping[str, Sequence[str]], sheets: Sequence[Sheet], filings: Sequence[Identity] = ()
) -> Reading:
    """What is read from pages, best first: of the filings that a question names, with their names, else of all;
    ``filings`` are those of the archive. Of two questions in one, both."""
    sheets = [sheet for sheet in sheets if sheet.doc_name in named] or [*sheets]
    names = sorted(set(chain(*named.values())))
    parts = [reading_of_one(one, names, sheets, filings) for one in questions_in(question, names)]
    return parts[0] if len(parts) == 1 else joined(parts)


def joined(parts: Sequence[Reading]) -> Reading:
    """The readings of the parts of a question as one, which is as sure as the least sure of them."""
    found = [*chain(*(one.vetoes for one in parts))]
    found += ["a part of the question was not read"] * any(not one.result.text for one in parts)
    least = min(parts, key=lambda one: (not one.vetoes and bool(one.result.text), one.sure))
    kind, result = KINDS[0] if found else least.kind, both([one.result for one in parts])
    agreeing = tuple(sorted({*chain(*(one.agreeing for one in parts))}))
    return Reading(
        parts[0].wanted, result, kind, tuple(dict.fromkeys(found)), fitted()["kinds"].get(kind, 0.0), agreeing
    )


def reading_of_one(
    question: str, names: Sequence[str], sheets: Sequence[Sheet], filings: Sequence[Identity]
) -> Reading:
    """What is read for one question about a company with these names."""
    wanted = asked_for(question, names)
    result = read(wanted, sheets[:READ])
    if not result.cells:
        return Reading(wanted, result)
    reader = Reader(sheets[:BESIDE], wanted)
    of_cells = [rivalry(cell, reader) for cell in result.cells]
    shown = [text for cell in result.cells for text in labels_of(cell, sheets)]
    found = vetoes(question, explained(wanted, shown), names, filings)
    found += [*of_result(wanted, result), *of_rows(result.cells, of_cells, sheets)]
    kind = kind_of(result.cells, of_cells) if not found else KINDS[0]
    agreeing = tuple(sorted(set().union(*(one.agreeing for one in of_cells))))
    return Reading(wanted, result, kind, tuple(dict.fromkeys(found)), fitted()["kinds"].get(kind, 0.0), agreeing)


class Rivalry(NamedTuple):
    """What else the pages have for a cell."""

    agreeing: frozenset[tuple[str, int]]  # other pages with its value, by doc_name and page
    rivals: tuple[float, ...]  # other values of its filing, in rows that fit nearly as well


def rivalry(cell: Cell, reader: Reader) -> Rivalry:
    """The pages that have a cell's value, and the other values of rows that fit, whatever the rank of their page; a row
    in doubt is none, nor one of a dash, nor one with the same figure in a table without a unit."""
    agreeing, apart = set(), set()
    for one in reader.cells(cell.name, cell.year):
        if abs(one.value - cell.value) <= SAME_VALUE * abs(cell.value):
            agreeing.add((one.doc_name, one.page))
        elif one.doc_name != cell.doc_name or one.fit < cell.fit - NEAR or one.doubts or not one.value:
            continue
        elif one.shown != cell.shown or (one.unit and cell.unit):
            apart.add(one.shown)
    return Rivalry(frozenset(agreeing - {(cell.doc_name, cell.page)}), tuple(sorted(apart)))


def kind_of(cells: Sequence[Cell], of_cells: Sequence[Rivalry]) -> str:
    """The kind of a reading that nothing speaks against."""
    if any(cell.name.startswith("row_") or cell.name == PRINTED for cell in cells):
        return KINDS[1]
    return KINDS[3] if all(one.agreeing for one in of_cells) else KINDS[2]


def of_result(wanted: Wanted, result: Result) -> list[str]:
    """Vetoes by what the cells of a reading are in, and what is in doubt in each."""
    found = [in_doubt(cell, doubt) for cell in result.cells for doubt in cell.doubts]
    currencies = {cell.currency for cell in result.cells if cell.currency}
    if len(currencies) > 1 or (wanted.currency and currencies and currencies != {wanted.currency}):
        found.append(f"the table is in {' and '.join(sorted(currencies))}")
    units = [cell.unit for cell in result.cells if not (cell.is_share or items().get(cell.name, {}).get("per_share"))]
    if len(units) > 1 and "" in units and any(units):
        found.append("one of the tables does not say in which unit its amounts are")
    if wanted.unit and "" in units and not wanted.form:
        found.append("the table does not say in which unit its amounts are")
    return found


def in_doubt(cell: Cell, doubt: str) -> str:
    """A doubt about a cell, as a person reads it: of a sentence, whose label lacks the amount, with the amount."""
    if doubt != SENTENCE:
        return f"{cell.label}: {doubt}"
    amount = f"{cell.shown:,.12g}{'%' * cell.is_share} {cell.unit}".strip()
    words = re.sub(r"\s{2,}", f" {amount} ", cell.label)
    return f"{amount} was read in a sentence, “{words}”, and a figure is sure only where a table has it"


def of_rows(cells: Sequence[Cell], of_cells: Sequence[Rivalry], sheets: Sequence[Sheet]) -> list[str]:
    """Vetoes by what else the pages have: other values, or a line item that stands on its statement nowhere."""
    kinds, found = {(sheet.doc_name, sheet.page): sheet.kind for sheet in sheets}, []
    for cell, (agreeing, rivals) in zip(cells, of_cells, strict=True):
        kind = items().get(cell.name, {}).get("kind")
        if rivals:
            others = ", ".join(f"{one:,.12g}" for one in rivals[:3])
            found.append(f"other rows of {cell.name.replace('_', ' ')} have {others}")
        is_there = kinds[cell.doc_name, cell.page] == kind or (cell.name, kinds[cell.doc_name, cell.page]) in ALSO
        if kind and not is_there and not agreeing:
            found.append(f"{cell.label} was read beside its statement only")
    return found


def labels_of(cell: Cell, sheets: Sequence[Sheet]) -> tuple[str, str]:
    """The label and the section of the row that a cell is of."""
    (sheet,) = [sheet for sheet in sheets if (sheet.doc_name, sheet.page) == (cell.doc_name, cell.page)]
    line = line_of(cell, sheet)
    return line.label, line.section


def line_of(cell: Cell, sheet: Sheet) -> Line:
    """The row that a cell is of; the first of those with its label and its figure."""
    of_label = [line for line in sheet.lines if line.label == cell.label]
    return next(
        (line for line in of_label if abs(cell.shown) in {abs(v) for v in line.values if v is not None}), of_label[0]
    )
