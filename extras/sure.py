"""How often readings of tables are right, by kind: ``make sure`` writes ``lib/statements/sure.json``.

A kind gives answers where LEAST of its readings or more are right, those of all sets together; no coefficient is
fitted. What is measured of a set uses the shares of other companies and templates alone. The reasons that speak against
a reading were chosen by people who had seen readings of these sets.
"""

import json
from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.ahead.sets import SETS
from lib.answers.calculation import named_filings
from lib.data.locate import UNSEEN
from lib.filings.templates import twins
from lib.metrics.answers import NUMERIC_QUESTION_TYPES, first_quantity
from lib.metrics.right import answer_right, figure
from lib.retrievers.matched import identities
from lib.retrievers.tables import sheet_of
from lib.statements import sure
from lib.studies import open_study
from lib.study import Study

METHOD, LEAST = "ahead", 0.95


def readings(study: Study) -> pd.DataFrame:
    """The reading of each question that asks for a figure, from the pages of METHOD: question_id, set, company, kind,
    is_read and right."""
    run = study.run(METHOD)[["question_id", "doc_name", "page"]].drop_duplicates()
    places, rows = {name: part.iloc[:, 1:] for name, part in run.groupby("question_id")}, []
    filings = identities(study, False)
    for one in study.questions.itertuples():
        is_numeric = one.question_type in NUMERIC_QUESTION_TYPES and study.dataset.name == UNSEEN
        answer = first_quantity(one.answer) if is_numeric else one.answer
        if not figure(answer, one.question):
            continue
        near = [*places[one.question_id].itertuples(index=False, name=None)][: sure.BESIDE]
        named = named_filings(study)[one.question_id]
        read = sure.reading(one.question, named, [sheet_of(study, *place) for place in near], filings)
        is_right = bool(read.result.text) and all_right(read.result.text, answer, one.answer, one.question)
        about = {"question_id": one.question_id, "question": one.question, "doc_name": one.doc_name, "kind": read.kind}
        about |= {"set": study.dataset.name, "company": one.company, "is_read": bool(read.result.text)}
        rows.append(about | {"right": is_right})
    return pd.DataFrame(rows)


def all_right(text: str, first: str, answer: str, question: str) -> bool:
    """Whether a text's figure is the gold one, and each further figure one of the gold answer's: these without their
    signs, as people write a decrease in words."""
    mine, *more = text.split(" and ")
    gold = [unsigned(one) for one in quantities_of(answer)]
    return answer_right(mine, first, question) and all(
        any(answer_right(unsigned(part), one, question) for one in gold) for part in more
    )


def quantities_of(answer: str) -> list[str]:
    """The quantities of an answer, as they are written."""
    found = []
    while (one := first_quantity(answer)) != answer:
        found.append(one)
        answer = answer.partition(one)[2]
    return found


def unsigned(text: str) -> str:
    """A figure without its minus."""
    return text.strip().removeprefix("-")


def shares(read: pd.DataFrame) -> dict[str, float]:
    """The share of right readings of each kind, 0 for a kind without one."""
    found = read.groupby("kind")["right"].mean()
    return {kind: round(float(found.get(kind, 0.0)), 4) for kind in sure.KINDS}


def is_given(read: pd.DataFrame, is_twin: np.ndarray) -> np.ndarray:
    """Whether each reading would be given by the shares of other companies, without twins of its question."""
    given = np.zeros(len(read), bool)
    for row, one in enumerate(read.itertuples()):
        others = read[(read["company"] != one.company) & ~is_twin[row]]
        given[row] = one.kind != sure.KINDS[0] and shares(others)[one.kind] >= LEAST
    return given


def write(studies: Sequence[Study]) -> dict:
    """Count on all readings and write ``sure.json``; gives what was written."""
    every = pd.concat(map(readings, studies), ignore_index=True)
    read = every[every["is_read"]].reset_index(drop=True)
    filings = {one.doc_name: one for study in studies for one in identities(study, False)}
    given, rows = is_given(read, twins(read, [*filings.values()])), []
    for name, asked in every.groupby("set", sort=False):
        mine = (read["set"] == name).to_numpy()
        n_given, n_right = int((given & mine).sum()), int((given & mine & read["right"]).sum())
        row = {"set": name, "n": len(asked), "n_companies": asked["company"].nunique(), "read": int(mine.sum())}
        row |= {"right_of_read": round(float(read[mine]["right"].mean()), 4), "answered": n_given, "right": n_right}
        rows.append(row)
    counts = read.groupby("kind").size()
    found = {"least": LEAST, "kinds": shares(read), "n": {kind: int(counts.get(kind, 0)) for kind in sure.KINDS}}
    found |= {"method": METHOD, "measured": rows}
    sure.FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


if __name__ == "__main__":
    mine = [open_study("financebench", questions=name) for name in ("", *SETS["financebench"])]
    print(json.dumps(write([*mine, open_study(UNSEEN)]), indent=1))
