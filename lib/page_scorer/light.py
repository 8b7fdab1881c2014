"""The light page scorer: frozen page vectors and a small trained map, for people without a GPU.

A residual map of low rank, ``x + B A x``, turns the question's vector (and, if that helps, the pages') so that the gold
pages come first among *all* pages that training may read, not among those of a batch (full softmax; cf. Henderson et
al., 2017, who sample it). Steps, step size and sides are chosen by folds inside each fold's training questions.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lib.filings import templates
from lib.folds import By, Fold
from lib.method import Search
from lib.page_scorer.full import checked_pairs
from lib.page_scorer.pages import base_vectors, folds, page_texts, question_twins, scores_in_folds, text_by_page
from lib.store import Entry

if TYPE_CHECKING:
    from lib.page_scorer.residual import FoldData


def fold_data(search: Search, fold: Fold, without_page_zero: bool = False) -> "FoldData":
    """The data of a fold; ``readable`` are the pages of its training filings that have text.

    A page with the text of a gold page counts as gold, so that it is not learned to be wrong.
    """
    from lib.page_scorer.residual import FoldData  # loads torch, which takes seconds

    questions, pages = base_vectors(search, "page_scorer_light")  # under the key that searching has
    texts, text_of = np.array(page_texts(search), object), text_by_page(search)
    asked = zip(search.questions["doc_name"], search.questions["gold_pages"], strict=True)
    gold_texts = [[text_of[name, page] for page in of if page or not without_page_zero] for name, of in asked]
    gold = np.stack([np.isin(texts, of) for of in gold_texts])
    readable = search.pages["doc_name"].isin(fold.train_filings).to_numpy() & (texts != "")
    groups = search.questions["doc_name"]
    if fold.by != "filing":
        groups = groups.map(search.filings.set_index("doc_name")["company"])
    twins = question_twins(search) if fold.by == "template" else None
    return FoldData(questions, pages, gold, readable, groups.to_numpy(), search.profile.page_scorer_light, twins)


def score_fold(search: Search, fold: Fold) -> tuple[np.ndarray, dict]:
    """The scores of every page for a fold's test questions (n_test, n_pages), and the record of its training."""
    _, record = checked_pairs(search, fold)
    data = fold_data(search, fold)
    plan, losses = data.choose(fold.train)
    curve = [tried._asdict() | {"loss": round(loss, 5)} for tried, loss in losses]
    scores = data.scores(data.trained(fold.train, plan), fold.test)
    return scores, record | {"plan": plan._asdict(), "curve": curve}


def scores_elsewhere(search: Search, other: Search) -> np.ndarray:
    """The scores (n_questions, n_pages) of another collection, of a scorer that all of the study's questions train."""
    filings, rows = frozenset(search.filings["doc_name"]), tuple(range(len(search.questions)))
    data = fold_data(search, Fold("company", 0, rows, (), filings, frozenset()))
    scorer = data.trained(rows, data.choose(rows)[0])
    questions, pages = base_vectors(other, "page_scorer_light")
    return replace(data, questions=questions, pages=pages).scores(scorer, range(len(questions)))


def scores_entry(search: Search, by: By) -> Entry:
    """The stored scores of all folds and their records, with the chosen ``plan``."""
    params = {"settings": dict(search.profile.page_scorer_light)}
    if by == "template":
        params["templates"] = templates.VERSION
    return scores_in_folds(search, f"page_scorer_light/scores/{by}", folds(search, by), score_fold, params, public=True)
