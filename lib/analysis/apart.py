"""Questions that no page of one filing answers, measured apart from the others: with evidence in several filings, and
those that the filings do not answer, where any figure that is read is wrong.
"""

from collections.abc import Sequence

import pandas as pd

from lib.answers.calculation import named_filings
from lib.data.layout import UNANSWERABLE
from lib.retrievers.matched import identities
from lib.retrievers.tables import sheet_of
from lib.statements.sure import BESIDE, reading
from lib.study import Study

METHODS = ("bm25", "dense", "dense_records", "hybrid_rrf_records")
#: What a table prints, by headings.
PRINTED = {
    "Questions": "kind",
    "n": "n",
    "Method": "method",
    "Filings": "doc_recall",
    "Pages": "page_recall",
    "All pages": "all_pages",
    "A figure is read": "figure_read",
    "It is given": "figure_given",
}
COLUMNS = ["kind", "method", "n", "doc_recall", "page_recall", "all_pages", "figure_read", "figure_given"]


def study_apart(study: Study) -> Study | None:
    """The study of a dataset's questions that are measured apart; None where there is none."""
    if not (apart := study.dataset.apart):
        return None
    given = study.profile, study.methods, study.chunkings, study.artifacts
    return Study(apart, *given, outputs=study.outputs, chapter=study.chapter)


def measured_apart(study: Study, k: int, methods: Sequence[str] = METHODS) -> pd.DataFrame:
    """What untrained methods find of such questions in the first k chunks: COLUMNS, a row for each kind and method.

    Of several filings: the shares of a question's filings and pages that are found, and how often all pages are. Of
    unanswerable ones: how often a figure is read from the pages all the same, and how often it is given as sure.
    """
    if not (asked := study_apart(study)):
        return pd.DataFrame(columns=COLUMNS)
    kinds, rows = asked.questions.groupby("kind", sort=False)["question_id"].agg(list), []
    for kind, ids in kinds.items():
        for name in methods:
            run = asked.run(name)
            values = [_values(asked, kind, id, run[run["question_id"] == id], k) for id in ids]
            rows.append({"kind": kind, "method": name, "n": len(ids)} | pd.DataFrame(values).mean().to_dict())
    return pd.DataFrame(rows, columns=COLUMNS)


def _values(study: Study, kind: str, question_id: str, run: pd.DataFrame, k: int) -> dict[str, float]:
    first = run.sort_values("rank").head(k)
    found = [*dict.fromkeys(first[["doc_name", "page"]].itertuples(index=False, name=None))]
    if kind == UNANSWERABLE:
        return _figures(study, question_id, found)
    evidence = study.dataset.evidence
    of_question = evidence[evidence["question_id"] == question_id]
    gold = {*of_question[["doc_name", "page"]].itertuples(index=False, name=None)}
    names = {name for name, _ in gold}
    n_found = len(gold.intersection(found))
    n_names = len(names.intersection(name for name, _ in found))
    return {"doc_recall": n_names / len(names), "page_recall": n_found / len(gold), "all_pages": n_found == len(gold)}


def _figures(study: Study, question_id: str, places: Sequence[tuple[str, int]]) -> dict[str, float]:
    """Whether a figure is read from the tables of pages, and whether it is sure enough to be given."""
    question = study.questions.set_index("question_id").loc[question_id, "question"]
    sheets = [sheet_of(study, *place) for place in places[:BESIDE]]
    result = reading(question, named_filings(study)[question_id], sheets, identities(study, False))
    return {"figure_read": bool(result.result.text), "figure_given": result.is_sure}
