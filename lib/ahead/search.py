"""Pages ranked by a small learnt combiner of cheap evidence: whose filing, what kind of page, windows, heads, words.

Every page of the collection is described once. A question chooses its candidates by identity and windows, and the
combiner orders them. On the dataset that the combiner was made with, each question is scored by a fold that has seen
nothing of its company; on others the saved combiner is used as it is.
"""

import numpy as np

from lib.ahead.features import Pool
from lib.ahead.pool import SAVED, page_pool, pool_scores
from lib.ahead.views import pages_of_chunks
from lib.retrievers import dense
from lib.store import digest_of_file


def inputs(study) -> object:
    """The saved combiner's files, on which the scores depend."""
    paths = sorted([*SAVED.glob("*.json"), *SAVED.glob("*.txt")])
    return {path.name: digest_of_file(path) for path in paths}


def allowed_pages(pages: np.ndarray, candidates: np.ndarray, n_pages: int) -> np.ndarray:
    """The pages on which a candidate chunk lies, boolean, shape (n_questions, n_pages).

    Args:
        pages: the page of each chunk, shape (n_chunks,).
        candidates: boolean, shape (n_questions, n_chunks).
        n_pages: number of pages.
    """
    allowed = np.zeros((len(candidates), n_pages), bool)
    for row, open_chunks in zip(allowed, candidates, strict=True):
        row[pages[open_chunks]] = True
    return allowed


def spread_pages(pool: Pool, scores: np.ndarray, chunk_scores: np.ndarray, pages: np.ndarray) -> np.ndarray:
    """Chunk scores that follow the pages' order: the best chunk of every page first, then the second ones.

    Another chunk of a page that is already there brings no new page, so the first chunks are from distinct pages.

    Args:
        pool: pairs of question and page.
        scores: of each pair.
        chunk_scores: what orders the chunks of a page, shape (n_questions, n_chunks); ``-inf`` for no candidate.
        pages: the page of each chunk, shape (n_chunks,).

    Returns:
        float32, shape (n_questions, n_chunks): minus the place in that order; ``-inf`` for pages outside the pool.
    """
    spread = np.full(chunk_scores.shape, -np.inf, np.float32)
    for row, values in enumerate(chunk_scores):
        mine = np.flatnonzero(pool.rows == row)
        ordered = pool.columns[mine[np.argsort(-scores[mine], kind="stable")]]
        rank = np.full(max(pages.max(initial=0), ordered.max(initial=0)) + 1, -1)
        rank[ordered] = np.arange(len(ordered))
        chunks = np.flatnonzero((rank[pages] >= 0) & np.isfinite(values))
        chunks = chunks[np.lexsort((-values[chunks], rank[pages[chunks]]))]
        ranks = rank[pages[chunks]]
        turn = np.arange(len(chunks)) - np.searchsorted(ranks, ranks)
        spread[row, chunks[np.lexsort((ranks, turn))]] = -np.arange(len(chunks))
    return spread


def rank_chunks(study, pool: Pool, scores: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """The pages' order as chunk scores; within a page by the cosine of the chunks' best windows."""
    cosines = dense.score(study, candidates)
    cosines = np.where(
        np.isfinite(cosines), cosines, -2.0
    )  # a blank page has no window, and may be a gold page
    return spread_pages(pool, scores, np.where(candidates, cosines, -np.inf), pages_of_chunks(study))


def score(study, candidates: np.ndarray) -> np.ndarray:
    """The learnt order of the pages on which candidate chunks lie, shape (n_questions, n_chunks)."""
    allowed = allowed_pages(pages_of_chunks(study), candidates, len(study.pages))
    pool = page_pool(study, study.questions["question"].tolist(), allowed)
    return rank_chunks(study, pool, pool_scores(study, pool), candidates)
