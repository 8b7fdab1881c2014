"""How sure a reading of tables is: a logistic regression over how its cells were found, and from where on it answers.

``sure.json`` has the coefficients and the least share, fitted by ``extras.sure`` on the numeric questions of both
question sets, each set weighing the same, and what was measured of them in folds by company.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from lib.filings.identity import Identity
from lib.statements.asked import Wanted, asked_for
from lib.statements.formulas import items, names_in
from lib.statements.reading import Cell, Reader, Result, read
from lib.statements.rows import Line, Sheet
from lib.statements.vetoes import explained, vetoes

FILE = Path(__file__).with_name("sure.json")
READ, BESIDE = 5, 10  # pages that an answer is read from, and that it is compared with
NEAR, SAME_VALUE = 0.15, 0.005  # of scores; of values


class Reading(NamedTuple):
    """What was read for a question, its features, and the chance that it is right by the fitted model."""

    wanted: Wanted
    result: Result
    features: dict[str, float]
    sure: float
    vetoes: tuple[str, ...] = ()  # why no answer is given, however likely it is

    @property
    def is_sure(self) -> bool:
        """Whether it is given as an answer."""
        return bool(self.result.text) and self.sure >= fitted()["least"] and not self.vetoes


@cache
def fitted() -> dict:
    """``sure.json``: coefficients by feature, intercept, ``least`` and what was measured."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def reading(
    question: str, named: Mapping[str, Sequence[str]], sheets: Sequence[Sheet], filings: Sequence[Identity] = ()
) -> Reading:
    """What is read from pages, best first: of the filings that a question names, with their names, else of all;
    ``filings`` are those of the archive."""
    sheets = [sheet for sheet in sheets if sheet.doc_name in named] or [*sheets]
    names = sorted(set(chain(*named.values())))
    wanted = asked_for(question, names)
    result = read(wanted, sheets[:READ])
    if not result.cells:
        return Reading(wanted, result, {}, 0.0)
    by_name = features(wanted, sheets[:BESIDE], result)
    found = vetoes_of(question, names, wanted, result, sheets, filings)
    return Reading(wanted, result, by_name, chance(by_name), found)


def vetoes_of(
    question: str,
    names: Sequence[str],
    wanted: Wanted,
    result: Result,
    sheets: Sequence[Sheet],
    filings: Sequence[Identity],
) -> tuple[str, ...]:
    """Why a reading is no answer: by what the question says, and by what is in doubt in its cells."""
    places = {(sheet.doc_name, sheet.page): sheet for sheet in sheets}
    lines = [line_of(cell, places[cell.doc_name, cell.page]) for cell in result.cells]
    shown = [text for line in lines for text in (line.label, line.section)]
    found = vetoes(question, explained(wanted, shown), names, filings)
    found += [f"{cell.label}: {doubt}" for cell in result.cells for doubt in cell.doubts]
    currencies = {cell.currency for cell in result.cells if cell.currency}
    if len(currencies) > 1 or (wanted.currency and currencies and currencies != {wanted.currency}):
        found.append(f"the table is in {' and '.join(sorted(currencies))}")
    amounts = [cell.unit for cell in result.cells if not (cell.is_share or items().get(cell.name, {}).get("per_share"))]
    if len(amounts) > 1 and "" in amounts and any(amounts):
        found.append("one of the tables does not say in which unit its amounts are")
    if wanted.unit and any(not cell.unit and not cell.is_share for cell in result.cells) and not wanted.form:
        found.append("the table does not say in which unit its amounts are")
    return tuple(dict.fromkeys(found))


def chance(by_name: Mapping[str, float]) -> float:
    """The fitted chance that a reading with these features is right."""
    model = fitted()
    score = model["intercept"] + sum(slope * by_name[name] for name, slope in model["coefficients"].items())
    return 1 / (1 + math.exp(-score))


def features(wanted: Wanted, sheets: Sequence[Sheet], result: Result) -> dict[str, float]:
    """What a reading with cells is judged by: how its rows fit, where they are from, and what else was found. Nothing
    depends on how a question is worded beside its formula."""
    reader, places = Reader(sheets, wanted), {(sheet.doc_name, sheet.page): n for n, sheet in enumerate(sheets)}
    ranks = [places[cell.doc_name, cell.page] for cell in result.cells]
    lines = [line_of(cell, sheets[rank]) for cell, rank in zip(result.cells, ranks, strict=True)]
    agreeing, rivals, gaps = zip(*(rivalry(cell, reader) for cell in result.cells), strict=True)
    alike = [
        sum(column.year == cell.year for column in line.columns) for cell, line in zip(result.cells, lines, strict=True)
    ]
    of_kind = [
        sheets[rank].kind == items().get(cell.name, {}).get("kind")
        for cell, rank in zip(result.cells, ranks, strict=True)
    ]
    return {
        "year asked": float(wanted.year is not None),
        "row by words": float(any(cell.name.startswith("row_") for cell in result.cells)),
        "cells": math.log1p(len(lines)),
        "fit of row": min(cell.score for cell in result.cells),
        "own statement": sum(of_kind) / len(of_kind),
        "rank of page": math.log1p(max(ranks)),
        "pages that agree": math.log1p(min(agreeing)),
        "rivals": math.log1p(max(rivals)),
        "gap to rival": min(gaps),
        "columns alike": math.log(max(1, *alike)),
        "substitutes": float(len({cell.name for cell in result.cells} - set(names_in(result.formula)))),
    }


def line_of(cell: Cell, sheet: Sheet) -> Line:
    """The row that a cell is of; the first of those with its label and its figure."""
    of_label = [line for line in sheet.lines if line.label == cell.label]
    return next(
        (line for line in of_label if abs(cell.shown) in {abs(v) for v in line.values if v is not None}), of_label[0]
    )


def rivalry(cell: Cell, reader: Reader) -> tuple[int, int, float]:
    """How many other pages have a cell's value; how many other values fit nearly as well; how much worse the best."""
    agreeing, apart = set(), []
    for one in reader.cells(cell.name, cell.year):
        if abs(one.value - cell.value) <= SAME_VALUE * abs(cell.value):
            agreeing.add((one.doc_name, one.page))
        else:
            apart.append(one)
    near = {one.value for one in apart if one.score >= cell.score - NEAR}
    gap = cell.score - max((one.score for one in apart), default=-math.inf)
    return len(agreeing - {(cell.doc_name, cell.page)}), len(near), min(gap, 1.0)
