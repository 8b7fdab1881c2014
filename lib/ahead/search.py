"""Ahead as a search: which ranker may score which question, and the order of chunks that pages give.

Questions of the sets that are trained on are scored by folds by company, others by the saved ranker.
"""

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from lib.ahead import ranker
from lib.ahead.pool import Pool
from lib.ahead.ranker import WHOLE, WITH_KINDS, Ranker, mixed
from lib.ahead.views import chunk_pages, study_pool, untrained
from lib.files import digest_of_file
from lib.retrievers import dense
from lib.study import Study

SAVED = Path(__file__).with_name("model")  # folder of the saved rankers
MIN_COMPANIES = 5
BLANK_COSINE = -2.0  # of a page without a window, which may be a gold page; below every cosine


def inputs(study: Study, *, kinds: bool = False, trained: bool = True) -> list:
    """What the scores depend on beside settings: what trained rankers do, and the saved rankers."""
    saved = [digest_of_file(SAVED / name) for name in ("kinds.json", "kinds.txt", "plain.json", "plain.txt")]
    return [*ranker.inputs(study), kinds, *([saved] if trained else [])]


def spread_pages(pool: Pool, scores: np.ndarray, chunk_scores: np.ndarray, pages: np.ndarray) -> np.ndarray:
    """Chunks in the pages' order: the best chunk of every page first, then the second ones, which bring no new page.

    ``scores`` are of the pool's pairs. ``chunk_scores``, shape (n_questions, n_chunks), order the chunks of a page,
    ``-inf`` for no candidate; the result is like them, float32: minus the place, ``-inf`` also outside the pool.
    ``pages`` has the page of each chunk.
    """
    spread = np.full(chunk_scores.shape, -np.inf, np.float32)
    for row, values in enumerate(chunk_scores):
        mine = pool.rows == row
        ordered = pool.columns[mine][np.argsort(-scores[mine], kind="stable")]
        rank = pd.Series(np.arange(len(ordered)), ordered).reindex(pages).to_numpy()
        chunks = pd.DataFrame({"rank": rank, "value": values})[np.isfinite(rank) & np.isfinite(values)]
        chunks = chunks.sort_values("value", ascending=False, kind="stable")
        chunks = chunks.assign(turn=chunks.groupby("rank").cumcount()).sort_values(["turn", "rank"])
        spread[row, chunks.index] = -np.arange(len(chunks))
    return spread


def saved_record() -> dict:
    """What the saved rankers were trained on: question_ids, and numbers of questions by set."""
    return json.loads((SAVED / "kinds.json").read_text())


def saved_ranker(name: str) -> Ranker:
    """The ranker for other datasets, trained on every question: its name is a file's, see ``model/README.md``."""
    return ranker.read_ranker(SAVED / f"{name}.txt", SAVED / f"{name}.json")


def scored_by(study: Study) -> Literal["saved", "folds", "untrained"]:
    """What may order the pages for a study's questions: the saved ranker where it was not trained on them, else folds
    of their own, else nothing that was trained, where they are of too few companies for folds.
    """
    if set(saved_record()["question_ids"]).isdisjoint(study.questions["question_id"]):
        return "saved"
    return "folds" if study.questions["company"].nunique() >= MIN_COMPANIES else "untrained"


def pool_scores(study: Study, pool: Pool, kinds: bool = False) -> np.ndarray:
    """The score of each pair of the study's questions by a ranker that may answer them."""
    if (how := scored_by(study)) == "untrained":
        return pool.table["plain"].to_numpy(float)
    if how == "saved":
        _, booster, share = saved_ranker("kinds" if kinds else "plain")
        return mixed(booster, share, pool)
    companies = study.questions["doc_name"].map(study.filings.set_index("doc_name")["company"]).to_numpy()
    seed = study.profile.ahead.fold_seeds[0]
    rankers = ranker.fold_rankers(study, WITH_KINDS if kinds else WHOLE, seed)
    return ranker.nested_scores(rankers, companies, pool)


def score(study: Study, candidates: np.ndarray, *, kinds: bool = False, trained: bool = True) -> np.ndarray:
    """The order of the pages that have candidate chunks, shape (n_questions, n_chunks).

    Within a page the chunks are ordered by the cosine of their best windows. ``kinds``: whether the ranker reads the
    hand-written kinds. Without training pages are ordered by the untrained sum, and a page's chunks not at all.
    """
    pages, asked = chunk_pages(study), study.questions["question"].tolist()
    allowed = np.stack([np.bincount(pages[row], minlength=len(study.pages)) > 0 for row in candidates])
    if trained:
        pool = study_pool(study, asked, allowed, kinds)
        scores = pool_scores(study, pool, kinds)
        chunks = dense.score(study, candidates)
        chunks = np.where(np.isfinite(chunks), chunks, BLANK_COSINE)
    else:
        values = untrained(study, asked)
        rows, columns = np.nonzero(allowed)
        pool, scores = Pool(rows, columns, pd.DataFrame()), values[rows, columns]
        chunks = np.zeros(candidates.shape)
    return spread_pages(pool, scores, np.where(candidates, chunks, -np.inf), pages)
