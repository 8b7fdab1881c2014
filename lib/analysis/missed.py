"""Gold pages that the best method still misses, sorted by rules that need no reading."""

import re

import pandas as pd

from lib.metrics.retrieval import gold_pages
from lib.study import Study

FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
YEAR = re.compile(r"(?:19|20)\d\d")
SORTS = (
    "filing not among the first",
    "some of its pages found",
    "answer's figures stand on a page that was found",
    "page among the next",
    "page further down",
)


def answer_figures(text: str) -> set[str]:
    """The figures of an answer as a page may print them: no thousands' commas, no years, three characters or more."""
    found = {figure.replace(",", "").rstrip(".") for figure in FIGURE.findall(text)}
    return {figure for figure in found if len(figure) > 2 and not YEAR.fullmatch(figure)}


def missed(study: Study, name: str, k: int = 5, next_k: int = 20) -> pd.DataFrame:
    """The questions whose gold pages are not all among a method's first k chunks; stored.

    Args:
        study: with the pages' texts, or with published results.
        name: of the method.
        k: chunks that count as found.
        next_k: chunks that a better order could draw from.

    Returns:
        question_id, question_type, doc_type, n_gold, n_found, best_rank (of a missed page, missing if not in the run),
        sort (the first of SORTS that holds).
    """
    params = {"run": study.run_digest(name), "pages": study.digest("pages"), "k": k, "next_k": next_k}
    params |= {
        "questions": study.digest("questions"),
        "dataset": study.dataset.fingerprint,
    }  # has the answers
    return study.store.frame(
        f"analysis/missed/{name}", params, lambda: sort_missed(study, study.run(name), k, next_k), public=True
    )


def sort_missed(study: Study, run: pd.DataFrame, k: int, next_k: int) -> pd.DataFrame:
    """:func:`missed` of a run, computed now."""
    pages = ["question_id", "doc_name", "page"]
    ranks = run.groupby(pages)["rank"].min().rename("best_rank").reset_index()
    gold = dict(list(gold_pages(study.questions).merge(ranks, how="left", on=pages).groupby("question_id")))
    texts = study.pages.set_index(["doc_name", "page"])["text"]
    top, rows = run[run["rank"] <= k], []
    for question in study.questions.itertuples():
        ranks = gold[question.question_id]["best_rank"]
        n_found, best = (ranks <= k).sum(), ranks[~(ranks <= k)].min()
        shown = top.loc[top["question_id"] == question.question_id, ["doc_name", "page"]]
        figures = answer_figures(question.answer)
        on_pages = (FIGURE.findall(texts[tuple(key)]) for key in shown.itertuples(index=False))
        holds = (
            question.doc_name not in set(shown["doc_name"]),
            n_found > 0,
            figures and any(figures <= {figure.replace(",", "") for figure in page} for page in on_pages),
            best <= next_k,
            True,
        )
        if n_found < len(ranks):
            sort = next(sort for sort, is_so in zip(SORTS, holds, strict=True) if is_so)
            known = question.question_id, question.question_type, question.doc_type
            rows.append((*known, len(ranks), n_found, best, sort))
    columns = ["question_id", "question_type", "doc_type", "n_gold", "n_found", "best_rank", "sort"]
    return pd.DataFrame(rows, columns=columns).astype({"best_rank": "Int64"})
