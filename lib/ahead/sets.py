"""The questions of all sets over the same filings as one body of training data, and who may learn from what."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from lib.ahead.pool import Pool
from lib.ahead.views import study_pool
from lib.data.dataset import read_dataset, read_questions
from lib.data.locate import questions_root
from lib.filings.templates import twins
from lib.folds import NEAR_COPY, By, LeakError, assign_folds, similarity
from lib.method import Search, memoized
from lib.page_scorer.pages import text_by_page
from lib.retrievers import matched
from lib.retrievers.places import PageKey, page_rows

#: Question sets that are measured beside a collection's own, and all that are trained on beside it.
SETS = {"financebench": ("page-questions",)}
TRAINED_ON = {"financebench": (*SETS["financebench"], "narrative-questions")}
DEPTH = 5


@dataclass(frozen=True)
class Union:
    """The questions of all sets as training data."""

    questions: pd.DataFrame  # as of all_questions
    pool: Pool
    answers: np.ndarray  # whether the page of each pair answers, as a gold page or as a further one
    n_gold: np.ndarray
    page_companies: np.ndarray  # of every page
    is_of_gold_filing: np.ndarray  # of every pair
    twins: np.ndarray  # which two questions share a template, (n_questions, n_questions)
    copies: np.ndarray  # which two are nearly one text, or have gold pages of one text, (n_questions, n_questions)

    @property
    def weights(self) -> np.ndarray:
        """A weight of every question, so that each set weighs the same."""
        sizes = self.questions.groupby("set")["set"].transform("size")
        return (len(sizes) / sizes / self.questions["set"].nunique()).to_numpy()


def all_questions(search: Search) -> pd.DataFrame:
    """The questions of the collection and of further sets over its filings that are here, with ``set`` and ``company``;
    NeedsFilings where the texts are not here."""
    search.need_filings("training on question sets")
    collection = search.dataset.collection
    own = search.dataset if search.dataset.name == collection else read_dataset(search.dataset.root, collection)
    here = {name: root for name in TRAINED_ON.get(collection, ()) if (root := questions_root(name))}
    sets = {collection: own} | {name: read_questions(root, name, own) for name, root in here.items()}
    questions = pd.concat([one.questions.assign(set=name) for name, one in sets.items()], ignore_index=True)
    company_of = search.filings.set_index("doc_name")["company"]
    columns = ["question_id", "question", "question_type", "doc_name", "gold_pages", "also", "set"]
    return questions[columns].assign(company=questions["doc_name"].map(company_of))


@memoized
def union_of(search: Search, is_from_covers: bool) -> Union:
    """All questions over all pages, with the features of every variant; see :func:`lib.ahead.views.study_pool`."""
    questions, row_of = all_questions(search), page_rows(search)
    pool = study_pool(search, questions["question"].tolist(), has_kinds=True, is_from_covers=is_from_covers)
    gold, answers = (np.zeros((len(questions), len(search.pages)), bool) for _ in range(2))
    for row, question in enumerate(questions.itertuples()):
        gold[row, [row_of[question.doc_name, page] for page in question.gold_pages]] = True
        answers[row, [row_of[question.doc_name, page] for page in (*question.gold_pages, *question.also)]] = True
    names = search.pages["doc_name"]
    companies = names.map(search.filings.set_index("doc_name")["company"]).to_numpy()
    is_own = names.to_numpy()[pool.columns] == questions["doc_name"].to_numpy()[pool.rows]
    labelled = replace(pool, gold=gold[pool.rows, pool.columns])
    alike = twins(questions, matched.identities(search, False))
    of_pairs = answers[pool.rows, pool.columns]
    n_gold, same = gold.sum(axis=1), copies(questions, text_by_page(search))
    return Union(questions, labelled, of_pairs, n_gold, companies, is_own, alike, same)


def copies(questions: pd.DataFrame, pages: Mapping[PageKey, str]) -> np.ndarray:
    """Which two questions are nearly one text, or have gold pages of one text, boolean, (n_questions, n_questions)."""
    texts, rows_of = questions["question"].tolist(), defaultdict(list)
    for row, one in enumerate(questions.itertuples()):
        for page in one.gold_pages:
            rows_of[pages[one.doc_name, page]].append(row)
    found = similarity(texts, texts) >= NEAR_COPY
    for rows in (rows for text, rows in rows_of.items() if text):
        found[np.ix_(rows, rows)] = True
    return found


def fold_numbers(questions: pd.DataFrame, n_folds: int, seed: int) -> dict[str, int]:
    """The fold of each company: those of the first set are spread evenly, others follow in turn."""
    first = questions.loc[questions["set"] == questions["set"].iloc[0], "company"]
    fold_of = dict(zip(first, assign_folds(first.tolist(), n_folds, seed).tolist(), strict=True))
    for company in sorted(set(questions["company"]) - set(fold_of)):
        fold_of[company] = len(fold_of) % n_folds
    return fold_of


def training_pairs(union: Union, companies: set[str], sets: Sequence[str], by: By = "company") -> np.ndarray:
    """The pairs of questions of some sets and pages, both of these companies, whose question has a gold page.

    By ``template``, questions that have a twin about another company than these are not among them. A LeakError names
    those that are a copy of such a question.
    """
    is_ours = union.questions["company"].isin(companies).to_numpy()
    may_learn = is_ours & union.questions["set"].isin(sets).to_numpy()
    if by == "template":
        may_learn &= ~union.twins[:, ~is_ours].any(axis=1)
    readable = np.isin(union.page_companies, sorted(companies))
    rows, columns = union.pool.rows, union.pool.columns
    is_read = may_learn[rows] & readable[columns]
    is_read &= np.isin(rows, rows[is_read & union.pool.gold])
    learnt = np.unique(rows[is_read])
    if leaks := union.questions["question_id"].iloc[learnt[union.copies[learnt][:, ~is_ours].any(axis=1)]].tolist():
        same = "nearly one text with a question about a company that is held out, or a gold page of one text"
        raise LeakError(f"{', '.join(leaks)}: {same}; training was not started")
    return is_read


def recalls(union: Union, scores: np.ndarray, k: int = DEPTH) -> pd.DataFrame:
    """Document and page recall of the first k pages by score, one row per question."""
    values = {"doc_recall": union.is_of_gold_filing, "page_recall": union.pool.gold}
    pairs = pd.DataFrame({"row": union.pool.rows, "score": -scores, **values})[np.isfinite(scores)]
    top = pairs.sort_values("score", kind="stable").groupby("row").head(k).groupby("row")
    by_question = top.agg({"doc_recall": "max", "page_recall": "sum"}).astype(float)
    by_question = by_question.reindex(range(len(union.n_gold)), fill_value=0.0)
    return by_question.assign(page_recall=by_question["page_recall"] / union.n_gold)
