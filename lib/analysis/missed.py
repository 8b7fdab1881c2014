"""Gold pages that the best method still misses, sorted by rules that need no reading."""

import re
from functools import partial

import pandas as pd

from lib.metrics.retrieval import gold_pages
from lib.study import Study

FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
YEAR = re.compile(r"(?:19|20)\d\d")
NEXT_K = 20  # chunks that a better order could draw from
SORTS = (
    "filing not among the first",
    "some of its pages found",
    "answer's figures stand on a page that was found",
    "page among the next",
    "page further down",
)


def figures(text: str) -> set[str]:
    """The figures of a text of three characters or more that are no years, without thousands' commas."""
    found = {figure.replace(",", "") for figure in FIGURE.findall(text)}
    return {figure for figure in found if len(figure) > 2 and not YEAR.fullmatch(figure)}


def missed(study: Study, name: str, k: int = 5) -> pd.DataFrame:
    """The questions whose gold pages are not all among a method's first k chunks; stored.

    Returns:
        question_id, question_type, doc_type, n_gold, n_found, best_rank (of a missed page, missing if not in the run),
        sort (the first of SORTS that holds).
    """
    params = {name: study.digest(name) for name in ("pages", "questions")} | {"k": k, "next_k": NEXT_K}
    params |= {"run": study.run_digest(name), "dataset": study.dataset.fingerprint}  # which has the answers
    make = partial(sort_missed, study, study.run(name), k)
    return study.store.frame(f"analysis/missed/{name}", params, make, public=True)


def sort_missed(study: Study, run: pd.DataFrame, k: int, next_k: int = NEXT_K) -> pd.DataFrame:
    """:func:`missed` of a run, computed now."""
    pages = ["question_id", "doc_name", "page"]
    ranks = run.groupby(pages)["rank"].min().rename("best_rank").astype("Int64")
    gold = gold_pages(study.questions).merge(ranks, how="left", on=pages)
    is_found = gold["best_rank"].le(k).fillna(False).astype(bool)
    gold = gold.assign(found=is_found, best_rank=gold["best_rank"].mask(is_found)).groupby("question_id")
    counts = gold.agg(n_gold=("page", "size"), n_found=("found", "sum"), best_rank=("best_rank", "min"))
    columns = ["question_id", "question_type", "doc_type", "doc_name", "answer"]
    lost = study.questions[columns].merge(counts[counts["n_found"] < counts["n_gold"]], on="question_id")
    shown = run[run["rank"] <= k].merge(study.pages, on=["doc_name", "page"])
    sorts = []
    for question in lost.itertuples():
        top, wanted = shown[shown["question_id"] == question.question_id], figures(question.answer)
        holds = (
            question.doc_name not in set(top["doc_name"]),
            question.n_found > 0,
            bool(wanted) and any(wanted <= figures(text) for text in top["text"]),
            not pd.isna(question.best_rank) and question.best_rank <= next_k,
            True,
        )
        sorts.append(SORTS[holds.index(True)])
    return lost.drop(columns=["doc_name", "answer"]).assign(sort=sorts)
