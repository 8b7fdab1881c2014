"""What the best method still misses, sorted by rules that need no reading."""

import re

import pandas as pd

from lib.metrics.retrieval import gold_pages

FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
YEAR = re.compile(r"(?:19|20)\d\d")
SORTS = (
    "filing not among the first",
    "some of its pages found",
    "answer's figures stand on a page that was found",
    "page among the next",
    "page further down",
)


def figures_of(text: str) -> set[str]:
    """The figures of an answer as they would stand on a page: no thousands' commas, no years, three signs or more."""
    found = {figure.replace(",", "").rstrip(".") for figure in FIGURE.findall(text)}
    return {figure for figure in found if len(figure) > 2 and not YEAR.fullmatch(figure)}


def missed(study, run: pd.DataFrame, k: int = 5, next_k: int = 20) -> pd.DataFrame:
    """The questions whose gold pages are not all among the first k chunks, each in the first sort that holds.

    Args:
        study: with the pages' texts.
        run: one run.
        k: chunks that count as found.
        next_k: chunks that a better order could draw from.

    Returns:
        question_id, question_type, doc_type, n_gold, n_found, best_rank (of a missed page, missing if not in the run),
        sort (one of SORTS).
    """
    gold = gold_pages(study.questions)
    first = run.groupby(["question_id", "doc_name", "page"])["rank"].min().rename("best_rank").reset_index()
    gold = gold.merge(first, how="left", on=["question_id", "doc_name", "page"])
    texts = study.pages.set_index(["doc_name", "page"])["text"]
    top, rows = run[run["rank"] <= k], []
    for question in study.questions.itertuples():
        mine = gold[gold["question_id"] == question.question_id]
        found = (mine["best_rank"] <= k).sum()
        if found == len(mine):
            continue
        shown = top[top["question_id"] == question.question_id]
        best = mine.loc[~(mine["best_rank"] <= k), "best_rank"].min()
        sort = _sort(question, shown, texts, found, best, next_k)
        rows.append(
            (question.question_id, question.question_type, question.doc_type, len(mine), found, best, sort)
        )
    columns = ["question_id", "question_type", "doc_type", "n_gold", "n_found", "best_rank", "sort"]
    return pd.DataFrame(rows, columns=columns).astype({"best_rank": "Int64"})


def _sort(question, shown: pd.DataFrame, texts: pd.Series, found: int, best: float, next_k: int) -> str:
    if question.doc_name not in set(shown["doc_name"]):
        return SORTS[0]
    if found:
        return SORTS[1]
    figures = figures_of(question.answer)
    for key in zip(shown["doc_name"], shown["page"], strict=True):
        if figures and figures <= {figure.replace(",", "") for figure in FIGURE.findall(texts[key])}:
            return SORTS[2]
    return SORTS[3] if best <= next_k else SORTS[4]
