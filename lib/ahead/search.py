"""Pages ranked by a small trained combiner of cheap features: identity, page kinds, windows, heads, words.

A question chooses its candidate pages by identity and windows, and a combiner orders them; which one is in
:func:`lib.ahead.training.pool_scores`.
"""

import numpy as np

from lib.ahead.pool import Pool, page_index, page_pool
from lib.ahead.training import SAVED, pool_scores
from lib.files import digest_of_file
from lib.retrievers import dense
from lib.study import Study

BLANK_COSINE = -2.0  # of a page without a window, which may be a gold page; below every cosine


def inputs(study: Study) -> object:
    """Digests of the saved combiner's files, on which the scores depend."""
    paths = sorted([*SAVED.glob("*.json"), *SAVED.glob("*.txt")])
    return {path.name: digest_of_file(path) for path in paths}


def spread_pages(pool: Pool, scores: np.ndarray, chunk_scores: np.ndarray, pages: np.ndarray) -> np.ndarray:
    """Chunks in the pages' order: the best chunk of every page first, then the second ones, which bring no new page.

    Args:
        pool, scores: pairs of question and page, and the score of each.
        chunk_scores: order the chunks of a page, shape (n_questions, n_chunks); ``-inf`` for no candidate.
        pages: the page of each chunk, shape (n_chunks,).

    Returns:
        Like ``chunk_scores``, float32: minus the place in that order; ``-inf`` also for pages outside the pool.
    """
    spread = np.full(chunk_scores.shape, -np.inf, np.float32)
    for row, values in enumerate(chunk_scores):
        mine = pool.rows == row
        ordered = pool.columns[mine][np.argsort(-scores[mine], kind="stable")]
        rank = np.full(max(pages.max(initial=0), ordered.max(initial=0)) + 1, -1)
        rank[ordered] = np.arange(len(ordered))
        chunks = np.flatnonzero((rank[pages] >= 0) & np.isfinite(values))
        chunks = chunks[np.lexsort((-values[chunks], rank[pages[chunks]]))]
        ranks = rank[pages[chunks]]
        turn = np.arange(len(chunks)) - np.searchsorted(ranks, ranks)
        spread[row, chunks[np.lexsort((ranks, turn))]] = -np.arange(len(chunks))
    return spread


def score(study: Study, candidates: np.ndarray) -> np.ndarray:
    """The trained order of the pages that have candidate chunks, shape (n_questions, n_chunks).

    Within a page the chunks are ordered by the cosine of their best windows.
    """
    pages = page_index(study).chunk_pages
    allowed = np.stack([np.bincount(pages[row], minlength=len(study.pages)) > 0 for row in candidates])
    pool = page_pool(study, study.questions["question"].tolist(), allowed)
    cosines = dense.score(study, candidates)
    cosines = np.where(np.isfinite(cosines), cosines, BLANK_COSINE)
    return spread_pages(pool, pool_scores(study, pool), np.where(candidates, cosines, -np.inf), pages)
