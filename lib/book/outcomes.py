"""What each method did with each question of a set, as far as it follows from runs and labels: the explorer's data."""

from collections.abc import Mapping, Sequence

import pandas as pd

from lib.analysis.failures import OF_PAGES, pages_missed
from lib.method import MAIN
from lib.methods import METHODS
from lib.metrics import retrieval
from lib.metrics.pooled import FULL, answering_pages
from lib.metrics.retrieval import PAGE
from lib.schema import CONDITIONS, Condition, K

Runs = Mapping[tuple[Condition, str], pd.DataFrame]


def outcomes(question_set: str, questions: pd.DataFrame, filings: pd.DataFrame, runs: Runs) -> dict:
    """Questions with the ranks of their gold pages in every run, JSON-able.

    ``runs[condition]`` has the numbers of the methods that have a run, ``depths[condition]`` their runs' last ranks. Of
    a question, ``ranks[condition]`` has for each of these a rank for each gold page, that of its first chunk, 0 where
    none was retrieved; ``answered[condition]`` has the numbers of the methods with a page that answers in full
    among their first K chunks. ``places`` are filings (numbers in ``docs``) and pages from 0: for each method
    ``top`` has the places of its first K chunks under ``standard``, by their numbers, None without a run, and ``kinds``
    the numbers of the kinds of its missed pages; ``judged`` has the labels of places.
    """
    measured, named = ({run[side] for run in runs} for side in (0, 1))
    conditions = [condition for condition in CONDITIONS if condition in measured]
    names = [name for name in dict.fromkeys([*METHODS, *sorted(named)]) if name in named]
    found = {row.question_id: _question(row, conditions) for row in questions.itertuples()}
    number = {doc_name: n for n, doc_name in enumerate(filings["doc_name"])}
    judged = answering_pages(question_set, questions)
    judged = judged[judged["question_id"].isin(found) & judged["doc_name"].isin(number)]
    numbers, depths = {}, {}
    for condition in conditions:
        of = {place: runs[condition, name] for place, name in enumerate(names) if (condition, name) in runs}
        numbers[condition], depths[condition] = [*of], [int(max(run["rank"], default=0)) for run in of.values()]
        ranks = [gold_ranks(run, questions) for run in of.values()]
        for question_id, question in found.items():
            question["ranks"][condition] = [one[question_id] for one in ranks]
        for place, run in of.items():
            top = run.loc[run["rank"] <= K, PAGE].merge(judged.loc[judged["label"] == FULL, PAGE], on=PAGE)
            for question_id in top["question_id"].unique():
                found[question_id]["answered"][condition].append(place)
    for name in names:
        _add_first(found, runs.get(("standard", name)), questions, filings, number)
    for row in judged.itertuples():
        place = _number_of(found[row.question_id]["places"], [number[row.doc_name], int(row.page)])
        found[row.question_id]["judged"][place] = row.label
    rows = {name: METHODS.get(name) for name in names}  # none of a run from outside
    return {
        "k": K,
        "conditions": conditions,
        "runs": numbers,
        "depths": depths,
        "docs": [
            {"name": row.doc_name, "company": row.company, "form": row.doc_type, "period": _period(row.doc_period)}
            for row in filings.itertuples()
        ],
        "methods": [
            {"name": name, "title": row.title if row else name, "isMain": row is None or row.family == MAIN}
            for name, row in rows.items()
        ],
        "kinds": [[kind, rule.says.replace("top k", f"first {K} chunks")] for kind, rule in OF_PAGES.items()],
        "questions": list(found.values()),
    }


def _question(row: tuple, conditions: Sequence[Condition]) -> dict:
    about = {"id": row.question_id, "text": getattr(row, "question", None), "answer": getattr(row, "answer", None)}
    about |= {"type": row.question_type, "doc": row.doc_name, "gold": list(row.gold_pages), "evidence": []}
    lists = {name: [] for name in ("places", "top", "kinds", "written", "pictures")}
    return about | lists | {"ranks": {}, "judged": {}, "answered": {condition: [] for condition in conditions}}


def _period(year: float) -> int | None:
    return None if pd.isna(year) else int(year)


def _add_first(
    found: dict[str, dict],
    run: pd.DataFrame | None,
    questions: pd.DataFrame,
    filings: pd.DataFrame,
    number: Mapping[str, int],
) -> None:
    """Add to each question the places of a run's first K chunks, and the kinds of its missed pages that follow from
    filings and numbers of pages alone; None where there is no run."""
    for question in found.values():
        question["top"].append(None if run is None else [])
        question["kinds"].append([])
    if run is None:
        return
    for row in run[run["rank"] <= K].itertuples():
        question = found[row.question_id]
        question["top"][-1].append(_number_of(question["places"], [number[row.doc_name], int(row.page)]))
    add_kinds(found, -1, pages_missed(run, questions, filings, K, {}))


def add_kinds(found: Mapping[str, dict], place: int, missed: pd.DataFrame) -> None:
    """Set the kinds of the missed pages of the method at this place of ``methods``, of question_id and kind."""
    for question_id, part in missed.groupby("question_id")["kind"]:
        found[question_id]["kinds"][place] = sorted({[*OF_PAGES].index(kind) for kind in part})


def _number_of(places: list, place: list) -> int:
    if place not in places:
        places.append(place)
    return places.index(place)


def gold_ranks(run: pd.DataFrame, questions: pd.DataFrame) -> dict[str, list[int]]:
    """For each question, for each of its gold pages in order, the rank of the page's first chunk; 0 for none."""
    found = retrieval.gold_ranks(run, questions).fillna({"rank": 0}).astype({"rank": int})
    return found.groupby("question_id", sort=False)["rank"].agg(list).to_dict()
