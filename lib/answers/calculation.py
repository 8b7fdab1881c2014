"""Answers by calculation: what is read from tables of a context's pages, with its derivation; else what was written.

The pages are those of the first chunks of a context's run, in their order; where a question names a company that has
filings, only its pages. Settings were made on silver questions and on made-up ones, none on a question that is scored.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import lib.data
from lib.answers.answers import answers, asked, context_params
from lib.answers.asked import asked_for
from lib.answers.pages_read import identities, pages_read, sheet_of
from lib.answers.prompt_context import NONE, Context
from lib.answers.reading import read
from lib.evaluation import METRIC_COLUMNS
from lib.files import digest_of_file
from lib.frames import remembered
from lib.metrics.right import right_metrics
from lib.retrievers.identity import company_match
from lib.retrievers.names import core_words
from lib.study import Study

VERSION = 2
DATA = (Path(__file__).with_name("formulas.yaml"), Path(lib.data.__file__).with_name("items.yaml"))
CALCULATED_STAGE, WITHOUT_STAGE = "answers/calculated", "answers/calculated-without"
CALCULATED = ["question_id", "text", "why_not", "formula", "title", "source", "cells"]


class Way(NamedTuple):
    """A way to calculate: the whole, or without one of its parts."""

    title: str
    has_fallback: bool = True  # what was written where nothing was calculated
    has_formulas: bool = True  # else single cells alone are answers
    has_columns: bool = True  # else a row's first value is of every period
    from_layout: bool = True  # else rows are those of the page's text, as without PDFs


WAYS = {
    "calculation": Way("Calculation, else as written"),
    "calculation-only": Way("Without what was written", has_fallback=False),
    "calculation-text-rows": Way("Rows of the text, not of the layout", from_layout=False),
    "calculation-no-formulas": Way("Without formulas", has_formulas=False),
    "calculation-no-columns": Way("Without columns: a row's first value", has_columns=False),
}


@remembered
def named_filings(study: Study) -> dict[str, dict[str, tuple[str, ...]]]:
    """The filings of the company that each question names, with the company's names; none where it names none."""
    study.need_filings("reading tables for a question")
    match, questions = company_match(study.questions["question"].tolist(), identities(study)), study.questions
    found = {}
    for question_id, row in zip(questions["question_id"], match, strict=True):
        best = row.max(initial=0)
        named = [identities(study)[n] for n in np.flatnonzero((row == best) & (best > 0))]
        found[question_id] = {
            one.doc_name: (*one.names, *(" ".join(core_words(name)) for name in one.names)) for one in named
        }
    return found


def calculated(study: Study, wanted: Context, name: str = "calculation-only") -> pd.DataFrame:
    """What is calculated from a context's pages by one of WAYS, its fallback aside: CALCULATED, ``cells`` as JSON.

    It contains labels of filings' rows and is not published.
    """
    way = WAYS[name]._replace(title="", has_fallback=False)

    def make() -> pd.DataFrame:
        pages = dict(list(pages_read(study, wanted).groupby("question_id")))
        rows = [_calculated(study, one, pages.get(one.question_id), way) for one in asked(study).itertuples()]
        return pd.DataFrame(rows, columns=CALCULATED)

    params = params_of(study, wanted) | {"way": way[1:]}
    stage = CALCULATED_STAGE if all(way[2:]) else WITHOUT_STAGE
    return study.store.frame(f"{stage}/{wanted.name}", params, make, VERSION)


def derivation(text: str, formula: str, cells: str) -> str:
    """An answer with its formula and its cells, a line each; ``cells`` as in CALCULATED."""
    rows = [
        f"{cell['name']} {cell['year']} = {cell['shown']:,g} {cell['unit']}: row “{cell['label']}”, "
        f"{cell['doc_name']}, page {cell['page'] + 1}"
        for cell in json.loads(cells)
    ]
    return "\n".join([f"{text} = {formula}", *rows])


def params_of(study: Study, wanted: Context) -> dict:
    """All that calculation from a context depends on."""
    files = {path.name: digest_of_file(path) for path in DATA}
    return context_params(study, wanted) | {"chunks": study.digest("chunks"), "data": files}


def _calculated(study: Study, question, pages: pd.DataFrame | None, way: Way) -> tuple:
    named = named_filings(study)[question.question_id]
    places = [(one.doc_name, one.page) for one in pages.itertuples()] if pages is not None else []
    places = [place for place in places if place[0] in named] or places
    names = {name for of_filing in named.values() for name in of_filing}
    wanted = asked_for(question.question, sorted(names))
    sheets = [sheet_of(study, *place, way.from_layout) for place in places]
    found = read(wanted, sheets, way.has_formulas, way.has_columns)
    cells = json.dumps([cell._asdict() for cell in found.cells])
    return question.question_id, found.text, found.why_not, found.formula, wanted.title, wanted.source, cells


def texts(study: Study, wanted: Context, name: str) -> dict[str, str]:
    """The answers of one of WAYS by question id; what was written before stands in where nothing was calculated."""
    found = calculated(study, wanted, name)
    given = found.loc[found["text"] != ""].set_index("question_id")["text"].to_dict()
    return (answers(study, wanted).texts if WAYS[name].has_fallback else {}) | given


def right(study: Study, wanted: Context, name: str) -> pd.DataFrame:
    """``answer_right`` of one of WAYS as METRIC_COLUMNS; a question without an answer scores 0."""

    def make() -> pd.DataFrame:
        questions = asked(study)[["question_id", "question", "answer"]]
        given = questions["question_id"].map(texts(study, wanted, name)).fillna("")
        table = right_metrics(questions.assign(prediction=given))
        return table.assign(method=wanted.method, condition=wanted.condition)[METRIC_COLUMNS]

    way = WAYS[name]
    params = params_of(study, wanted) | {"way": way[1:], "questions": study.digest("questions")}
    params |= study.settings_of(("answers", *(["generator"] if way.has_fallback else [])))
    stage = f"answers/right-by-calculation/{wanted.name}"
    return study.store.frame(stage, params, make, VERSION, public=True)


def right_by_way(study: Study, wanted: Sequence[Context], names: Sequence[str] = tuple(WAYS)) -> pd.DataFrame:
    """``answer_right`` of several contexts by several of WAYS: METRIC_COLUMNS and ``prompt``, the way's name."""
    study.need_answers("scoring what is calculated")
    searched = [one for one in wanted if one.method != NONE]
    parts = [right(study, one, name).assign(prompt=name) for name in names for one in searched]
    return pd.concat(parts, ignore_index=True)
