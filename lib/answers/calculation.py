"""Answers by calculation: what is read from tables of a context's pages, with its derivation; else what was written.

The pages are those of the first chunks of a context's run, in their order; where a question names a company that has
filings, only its pages. Settings were made on silver questions and on made-up ones, none on a question that is scored.
"""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import lib.data
from lib.answers.answers import FROM_ROWS, PLAIN, answer_rows, answers, asked, by_larger, context_params
from lib.answers.asked import asked_for
from lib.answers.choosing import Chooser
from lib.answers.pages_read import identities, pages_read, sheet_of
from lib.answers.prompt_context import NONE, Context
from lib.answers.reading import read
from lib.evaluation import METRIC_COLUMNS
from lib.files import digest_of_file
from lib.frames import edited, remembered
from lib.metrics.right import right_metrics
from lib.models.weights import weights_hash
from lib.retrievers.identity import company_match
from lib.retrievers.names import core_words
from lib.study import Study

VERSION = 2
DATA = (Path(__file__).with_name("formulas.yaml"), Path(lib.data.__file__).with_name("items.yaml"))
CALCULATED_STAGE, WITHOUT_STAGE = "answers/calculated", "answers/calculated-without"
CALCULATED = ["question_id", "text", "why_not", "formula", "title", "source", "cells"]


class Way(NamedTuple):
    """A way to answer: calculation, the whole or without one of its parts, or what the larger generator writes."""

    title: str
    has_fallback: bool = True  # what was written where nothing was calculated
    has_formulas: bool = True  # else single cells alone are answers
    has_columns: bool = True  # else a row's first value is of every period
    from_layout: bool = True  # else rows are those of the page's text, as without PDFs
    chooses: bool = False  # whether the model chooses a row where rules find none
    by_larger: str = ""  # the prompt by which the larger generator writes, in place of the generator
    calculates: bool = True

    @property
    def parts(self) -> tuple:
        """What calculation and its scores depend on, beside who writes."""
        return (*self[1:5], *(["chooses"] if self.chooses else []))


WAYS = {
    "larger-plain": Way("As a larger model writes", by_larger=PLAIN, calculates=False),
    "larger-rows": Way("As a larger model writes that copies rows", by_larger=FROM_ROWS, calculates=False),
    "calculation": Way("Calculation, else as written"),
    "calculation-larger": Way("Calculation, else as a larger model writes", by_larger=PLAIN),
    "calculation-chosen": Way("Calculation, missing rows chosen by the model", chooses=True),
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
    way = WAYS[name]._replace(has_fallback=False)

    def make() -> pd.DataFrame:
        pages = dict(list(pages_read(study, wanted).groupby("question_id")))
        chooser = Chooser(study) if way.chooses else None
        while True:
            rows = [
                _calculated(study, one, pages.get(one.question_id), way, chooser)
                for one in asked(study, is_numeric=way.chooses).itertuples()
            ]
            if chooser is None or not chooser.ask():
                return pd.DataFrame(rows, columns=CALCULATED)

    params = params_of(study, wanted) | {"way": way.parts}
    params |= study.settings_of(("generator",)) if way.chooses else {}
    stage = CALCULATED_STAGE if all(way[2:5]) and not way.chooses else WITHOUT_STAGE
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
    return (
        context_params(study, wanted) | {"chunks": study.digest("chunks"), "data": files} | edited("answers")
    )


def _calculated(
    study: Study, question, pages: pd.DataFrame | None, way: Way, chooser: Chooser | None
) -> tuple:
    named = named_filings(study)[question.question_id]
    places = [(one.doc_name, one.page) for one in pages.itertuples()] if pages is not None else []
    places = [place for place in places if place[0] in named] or places
    names = {name for of_filing in named.values() for name in of_filing}
    wanted = asked_for(question.question, sorted(names))
    sheets = [sheet_of(study, *place, way.from_layout) for place in places]
    choose = chooser and partial(chooser, question.question_id, question.question)
    found = read(wanted, sheets, way.has_formulas, way.has_columns, choose)
    cells = json.dumps([cell._asdict() for cell in found.cells])
    return question.question_id, found.text, found.why_not, found.formula, wanted.title, wanted.source, cells


def texts(study: Study, wanted: Context, name: str) -> dict[str, str] | None:
    """The answers of one of WAYS by question id; what was written stands in where nothing was calculated. None where
    the larger generator's are not all stored."""
    way, written = WAYS[name], {}
    if way.by_larger:
        written = by_larger(study, wanted, way.by_larger)
    elif way.has_fallback:
        written = answers(study, wanted).texts
    if written is None or not way.calculates:
        return written
    found = calculated(study, wanted, name)
    return written | found.loc[found["text"] != ""].set_index("question_id")["text"].to_dict()


def right(study: Study, wanted: Context, name: str) -> pd.DataFrame | None:
    """``answer_right`` of one of WAYS as METRIC_COLUMNS; a question without an answer scores 0. None where neither it
    nor the larger generator's answers are stored."""
    way = WAYS[name]
    params = params_of(study, wanted) | {"way": way.parts, "questions": study.digest("questions")}
    sections = ["answers", *(["generator"] if way.has_fallback and not way.by_larger else [])]
    if way.by_larger:
        weights = weights_hash(study.profile.larger_generator.weights)
        params |= {"larger": weights, "prompt": way.by_larger, "calculates": way.calculates}
        sections += ["answers_from_rows"] if way.by_larger == FROM_ROWS else []
    params |= study.settings_of(tuple(sections))
    stage = f"answers/right-by-calculation/{wanted.name}"
    is_stored = study.store.find(stage, params, VERSION) is not None
    has_texts = study.has_text or not way.by_larger
    given = {} if is_stored else texts(study, wanted, name) if has_texts else None
    if given is None:
        return None

    def make() -> pd.DataFrame:
        questions = asked(study)[["question_id", "question", "answer"]]
        table = right_metrics(questions.assign(prediction=questions["question_id"].map(given).fillna("")))
        return table.assign(method=wanted.method, condition=wanted.condition)[METRIC_COLUMNS]

    return study.store.frame(stage, params, make, VERSION, public=True)


def right_by_way(study: Study, wanted: Sequence[Context], names: Sequence[str] = tuple(WAYS)) -> pd.DataFrame:
    """``answer_right`` of several contexts by several of WAYS, those of the larger generator where they are stored:
    METRIC_COLUMNS and ``prompt``, the way's name. Without pages nothing is calculated."""
    study.need_answers("scoring what is calculated")
    parts = []
    for name in names:
        read = [one for one in wanted if one.method != NONE or not WAYS[name].calculates]
        found = (right(study, one, name) for one in read)
        parts += [part.assign(prompt=name) for part in found if part is not None]
    return pd.concat(parts, ignore_index=True)


def way_rows(study: Study, scored: pd.DataFrame, wanted: Sequence[Context], name: str) -> pd.DataFrame:
    """The scores of one of WAYS, of :func:`right_by_way`, as ANSWER_COLUMNS."""
    way = WAYS[name]
    prompt = name if not way.by_larger else "calculation" if way.calculates else way.by_larger
    return answer_rows(study, scored, wanted, prompt, is_larger=bool(way.by_larger))
