"""Ahead as a search: which ranker may score which question, and the order of chunks that pages give."""

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from lib.ahead import ranker
from lib.ahead.pool import Pool
from lib.ahead.ranker import FROM_COVERS, WHOLE, WITH_KINDS, Ranker, mixed
from lib.ahead.views import study_pool, untrained
from lib.files import digest_of_file
from lib.page_scorer.search import pages_of_chunks
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
    """Minus the place of each chunk: the best chunk of every page in the pages' order, then the second ones.

    Args:
        pool, scores: pairs of question and page, and their scores.
        chunk_scores: order the chunks of a page, shape (n_questions, n_chunks); ``-inf`` for no candidate, as in what
            is returned, where chunks outside the pool have it too.
        pages: the page of each chunk.
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


def saved_ranker(name: str) -> Ranker:
    """A ranker for other datasets, trained on every question, by the name of its file, see ``model/README.md``."""
    return ranker.read_ranker(SAVED / f"{name}.txt", SAVED / f"{name}.json")


def scored_by(study: Study) -> Literal["saved", "folds", "untrained"]:
    """What may order the pages: the saved ranker where it was not trained on the study's questions, else folds by
    company, else, where companies are too few, nothing that was trained."""
    learnt_from = json.loads((SAVED / "kinds.json").read_text(encoding="utf-8"))["question_ids"]
    if set(learnt_from).isdisjoint(study.questions["question_id"]):
        return "saved"
    return "folds" if study.questions["company"].nunique() >= MIN_COMPANIES else "untrained"


def pool_scores(study: Study, pool: Pool, kinds: bool = False, covers: bool = False) -> np.ndarray:
    """The score of each pair of the study's questions by a ranker that may answer them."""
    if (how := scored_by(study)) == "untrained":
        return pool.table["plain"].to_numpy(float)
    if how == "saved":
        _, booster, share = saved_ranker("kinds" if kinds else "plain")
        return mixed(booster, share, pool)
    companies = study.questions["doc_name"].map(study.filings.set_index("doc_name")["company"]).to_numpy()
    variant = FROM_COVERS if covers else WITH_KINDS if kinds else WHOLE
    rankers = ranker.fold_rankers(study, variant, study.profile.ahead.fold_seeds[0])
    return ranker.nested_scores(rankers, companies, pool)


def score(
    study: Study, candidates: np.ndarray, *, kinds: bool = False, trained: bool = True, covers: bool = False
) -> np.ndarray:
    """The order of the chunks on the ranked pages, shape (n_questions, n_chunks); a page's own are ordered by cosine.

    ``kinds``: the ranker reads the hand-written kinds. ``covers``: filings are known by their first pages alone.
    Without training, pages are ordered by the untrained sum, and a page's chunks not at all.
    """
    pages, asked = pages_of_chunks(study), study.questions["question"].tolist()
    allowed = np.stack([np.bincount(pages[row], minlength=len(study.pages)) > 0 for row in candidates])
    if trained:
        pool = study_pool(study, asked, allowed, kinds, covers)
        scores, chunks = pool_scores(study, pool, kinds, covers), dense.score(study, candidates)
        chunks = np.where(np.isfinite(chunks), chunks, BLANK_COSINE)
    else:
        pool = Pool(*np.nonzero(allowed), pd.DataFrame())
        scores, chunks = untrained(study, asked)[pool.rows, pool.columns], np.zeros(candidates.shape)
    return spread_pages(pool, scores, np.where(candidates, chunks, -np.inf), pages)
