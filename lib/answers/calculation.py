"""Answers by calculation: what is read from tables of a context's pages, with its derivation; else what was written.

Where a question names a company that has filings, only its pages are read. Settings were made on silver questions and
on made-up ones, none on a question that is scored.
"""

import json
from collections.abc import Sequence
from itertools import chain

import pandas as pd

from lib.answers.answers import Answers, answers, asked, context_params, score
from lib.answers.prompt_context import NONE, Context, pages_read
from lib.files import digest_of_file
from lib.filings.identity import filings_named
from lib.keys import data_file_digests
from lib.method import memoized
from lib.metrics.right import right_metrics
from lib.retrievers.matched import identities
from lib.retrievers.tables import sheet_of
from lib.statements.formulas import data_files
from lib.statements.several import answer_to
from lib.study import Study

VERSION = 5
CALCULATED_STAGE = "answers/calculated"
CALCULATED = ["question_id", "text", "why_not", "formula", "source", "cells"]


#: Ways to calculate, the whole or without a part: whether what was written stands where nothing was calculated, and
#: whether there are formulas; else single cells alone are answers.
WAYS = {"calculation": (True, True), "calculation-only": (False, True), "calculation-no-formulas": (True, False)}


@memoized
def named_filings(study: Study) -> dict[str, dict[str, tuple[str, ...]]]:
    """The filings of the company that each question names, with the company's names; none where it names none."""
    study.need_filings("reading tables for a question")
    questions, filings = study.questions, identities(study, False)
    by_question = filings_named(questions["question"].tolist(), filings)
    return dict(zip(questions["question_id"], by_question, strict=True))


def calculated(study: Study, wanted: Context, has_formulas: bool = True) -> pd.DataFrame:
    """What is calculated from a context's pages: CALCULATED, ``cells`` as JSON; not published, it quotes filings."""

    def make() -> pd.DataFrame:
        rows, pages = [], pages_read(study, wanted).set_index("question_id")
        for question in asked(study).itertuples():
            named = named_filings(study)[question.question_id]
            places = [*pages[pages.index == question.question_id].itertuples(index=False, name=None)]
            places = [place for place in places if place[0] in named] or places
            sheets, names = [sheet_of(study, *place) for place in places], sorted(set(chain(*named.values())))
            asks, result = answer_to(question.question, names, sheets, has_formulas)
            cells = json.dumps([cell._asdict() for cell in result.cells])
            rows.append((question.question_id, result.text, result.why_not, result.formula, asks.source, cells))
        return pd.DataFrame(rows, columns=CALCULATED)

    stage = CALCULATED_STAGE if has_formulas else f"{CALCULATED_STAGE}-without"
    return study.store.frame(f"{stage}/{wanted.name}", params_of(study, wanted, False, has_formulas), make, VERSION)


def derivation(text: str, formula: str, cells: str) -> str:
    """An answer with its formula and its cells, a line each, pages from 1; ``cells`` as in CALCULATED."""
    rows = [
        f"{cell['name']} {cell['year']} = {cell['shown']:,g} {cell['unit']}: row “{cell['label']}”, "
        f"{cell['doc_name']}, page {cell['page'] + 1}"
        for cell in json.loads(cells)
    ]
    return "\n".join([f"{text} = {formula}", *rows])


def params_of(study: Study, wanted: Context, has_fallback: bool, has_formulas: bool) -> dict:
    """All that calculation from a context depends on."""
    params = context_params(study, wanted) | {"chunks": study.digest("chunks")} | data_file_digests("answers")
    params |= {"data": {path.name: digest_of_file(path) for path in data_files()}}
    return params | {"way": (has_fallback, has_formulas, True, False)}  # columns by period, no rows of a PDF's layout


def right(study: Study, wanted: Context, name: str) -> pd.DataFrame:
    """``answer_right`` of one of WAYS as METRIC_COLUMNS; a question without an answer scores 0."""
    has_fallback, has_formulas = WAYS[name]

    def make() -> pd.DataFrame:
        readings = calculated(study, wanted, has_formulas).query("text != ''")
        texts = dict(zip(readings["question_id"], readings["text"], strict=True))
        texts = (answers(study, wanted).texts if has_fallback else {}) | texts
        return score(study, Answers(wanted, texts), right_metrics)

    params = params_of(study, wanted, has_fallback, has_formulas) | {"questions": study.digest("questions")}
    params |= study.settings_of(("answers", "generator") if has_fallback else ("answers",))
    stage = f"answers/right-by-calculation/{wanted.name}"
    return study.store.frame(stage, params, make, VERSION, public=True)


def right_by_way(study: Study, wanted: Sequence[Context], names: Sequence[str] = tuple(WAYS)) -> pd.DataFrame:
    """``answer_right`` of the contexts with pages by several of WAYS: METRIC_COLUMNS and ``prompt``, the way's name."""
    study.need_answers("scoring what is calculated")
    read = [one for one in wanted if one.method != NONE]
    parts = [right(study, one, name).assign(prompt=name) for name in names for one in read]
    return pd.concat(parts, ignore_index=True)
