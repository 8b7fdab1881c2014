"""Pages first, then chunks: every page is ranked by a page scorer, and only the chunks of the best P are searched.

As published, stage two is ``dense``, which ranks the pages anew; ORDERS has others. Only the pages' choice is learned.
"""

import numpy as np
import pandas as pd

from lib.method import Search, memoized
from lib.page_scorer import full, light
from lib.page_scorer.pages import STORED_PAGES, base_vectors, load_scores
from lib.retrievers import dense
from lib.retrievers.fusion import standardised
from lib.retrievers.places import pages_of_chunks
from lib.schema import StudyError

#: What orders the chunks of the best pages.
ORDERS = {"base": "base encoder (as published)", "page": "page order", "sum": "sum of both scores"}
#: Fine-tuned scorers and the sections of the profile that contain their recipes.
TUNED = {"full": "page_scorer", "best": "page_scorer_best"}


def rank_pages(page_scores: np.ndarray, pages: np.ndarray, candidates: np.ndarray, n_pages: int) -> list[np.ndarray]:
    """The rows of each question's best ``n_pages`` pages among those of candidate chunks, ties by row; ``pages`` are
    :func:`pages_of_chunks`."""
    ranked = []
    for scores, allowed in zip(page_scores, candidates, strict=True):
        open_pages = np.flatnonzero(np.bincount(pages[allowed]))
        ranked.append(open_pages[np.argsort(-scores[open_pages], kind="stable")[:n_pages]])
    return ranked


def chunks_on_pages(chunk_scores: np.ndarray, ranked: list[np.ndarray], pages: np.ndarray) -> np.ndarray:
    """Chunk scores with ``-inf`` for every chunk that lies on none of its question's pages."""
    is_on_page = np.stack([np.isin(pages, rows) for rows in ranked])
    return np.where(is_on_page, chunk_scores, np.float32(-np.inf))


def search_pages_first(
    search: Search, page_scores: np.ndarray, candidates: np.ndarray, n_pages: int | None = None, order: str = "base"
) -> np.ndarray:
    """Both stages: a score of each chunk on the best pages, shape (n_questions, n_chunks), else ``-inf``.

    ``n_pages`` is from 1 to STORED_PAGES, by default the profile's ``page_scorer.pages``. The ``order`` is by the
    chunk's own score (``base``), minus the rank of its page, then the chunk's score (``page``), or both scores, each
    standardised over the question's chunks on the best pages (``sum``).
    """
    n_pages = search.profile.page_scorer.pages if n_pages is None else n_pages
    if not 1 <= n_pages <= STORED_PAGES:
        raise StudyError(f"pages is {n_pages}: choose a number from 1 to {STORED_PAGES}, as many as page scores keep")
    pages, page_scores = pages_of_chunks(search), comparable(search, page_scores, candidates)
    ranked = rank_pages(page_scores, pages, candidates, n_pages)
    scores = chunks_on_pages(base_chunk_scores(search), ranked, pages)
    if order == "base":
        return scores
    for row, rows, of_page in zip(scores, ranked, page_scores, strict=True):
        chunks = np.flatnonzero(np.isfinite(row))
        if order == "page":
            rank_of = np.zeros(len(search.pages), np.float32)
            rank_of[rows] = np.arange(1, len(rows) + 1)
            row[chunks] = (row[chunks] + 1) / 2.01 - rank_of[pages[chunks]]
        else:
            row[chunks] = standardised_finite(row[chunks]) + standardised_finite(of_page[pages[chunks]])
    return scores


def standardised_finite(values: np.ndarray) -> np.ndarray:
    """Values with mean 0 and deviation 1, zeros where all are equal; ``-inf`` is as the least other one."""
    finite = values[np.isfinite(values)]
    if not len(finite) or np.ptp(finite) == 0:
        return np.zeros_like(values)
    return standardised(np.maximum(values, finite.min()), epsilon=0)


def comparable(search: Search, page_scores: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Page scores, without those beyond a question's best STORED_PAGES where it may search several filings.

    All scores of a question's own filing are stored, for the oracles: beside other filings they would give it away.
    """
    filing = search.chunks["doc_name"].factorize()[0]
    first, last = (np.where(candidates, filing, none) for none in (len(filing), -1))
    rows, comparable_scores = np.flatnonzero(first.min(axis=1) < last.max(axis=1)), page_scores.copy()
    comparable_scores[rows[:, None], np.argsort(-page_scores[rows], axis=1, kind="stable")[:, STORED_PAGES:]] = -np.inf
    return comparable_scores


@memoized
def base_chunk_scores(search: Search) -> np.ndarray:
    """Stage two's scores of all chunks, those of ``dense``."""
    return dense.score(search, search.candidates("standard"))


def page_run(search: Search, page_scores: np.ndarray, candidates: np.ndarray, depth: int) -> pd.DataFrame:
    """Stage one alone as a ranking of pages: question_id, rank (from 1), doc_name, page."""
    ranked = rank_pages(page_scores, pages_of_chunks(search), candidates, depth)
    run = search.pages.iloc[np.concatenate(ranked)][["doc_name", "page"]].reset_index(drop=True)
    run.insert(0, "question_id", np.repeat(search.questions["question_id"].to_numpy(), list(map(len, ranked))))
    run.insert(1, "rank", run.groupby("question_id").cumcount() + 1)
    return run


@memoized
def scorer_scores(search: Search, name: str, by: str = "company") -> np.ndarray:
    """The page scores of a scorer, shape (n_questions, n_pages), ``-inf`` where a trained scorer's is not kept.

    ``name`` is one of TUNED, ``light`` (an adapter on frozen vectors) or ``untrained``, which all of them are where the
    study's questions cannot train a scorer; the folds of a trained one hold out what ``by`` says.
    """
    if name == "untrained" or full.untrainable(search):
        return dense.cosines(*base_vectors(search, "page_scorer" if name in TUNED else "page_scorer_light"))
    entry = light.scores_entry(search, by) if name == "light" else full.scores_entry(search, by, TUNED[name])
    return load_scores(search, entry)


def score(
    search: Search, candidates: np.ndarray, scorer: str = "full", by: str = "company", order: str = "base"
) -> np.ndarray:
    """Both stages with a scorer of :func:`scorer_scores` and an order of ORDERS, by default as published."""
    return search_pages_first(search, scorer_scores(search, scorer, by), candidates, order=order)
