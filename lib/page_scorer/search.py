"""Pages first, then chunks: every page is ranked by a page scorer, and only the chunks of the best P are searched.

Stage two is the base encoder's search of chunks as in ``dense``; only the choice of pages is learned. The scorer is
trained in folds by company or by filing, fully or lightly, or not at all.
"""

import numpy as np
import pandas as pd

from lib.page_scorer.scores import check_n_pages
from lib.page_scorer.vectors import page_rows
from lib.retrievers import dense


def pages_of_chunks(study) -> np.ndarray:
    """The row in ``study.pages`` of each chunk's page, shape (n_chunks,)."""
    rows = page_rows(study)
    where = zip(study.chunks["doc_name"], study.chunks["page"], strict=True)
    return np.array([rows[key] for key in where], int)


def rank_pages(
    page_scores: np.ndarray, pages: np.ndarray, candidates: np.ndarray, n_pages: int
) -> list[np.ndarray]:
    """The best pages of each question among those that a candidate chunk lies on.

    Args:
        page_scores: shape (n_questions, n_all_pages).
        pages: the page row of each chunk, shape (n_chunks,).
        candidates: boolean, shape (n_questions, n_chunks).
        n_pages: pages kept (P).

    Returns:
        For each question its page rows by falling score, ties by row; fewer than P where there are fewer.
    """
    ranked, is_open = [], np.zeros(page_scores.shape[1], bool)
    for scores, allowed in zip(page_scores, candidates, strict=True):
        is_open[:] = False
        is_open[pages[allowed]] = True
        open_pages = np.flatnonzero(is_open)
        order = np.argsort(-scores[open_pages], kind="stable")[:n_pages]
        ranked.append(open_pages[order])
    return ranked


def chunks_on_pages(chunk_scores: np.ndarray, ranked: list[np.ndarray], pages: np.ndarray) -> np.ndarray:
    """Chunk scores with ``-inf`` for every chunk that lies on none of its question's pages."""
    kept = np.stack([np.isin(pages, rows) for rows in ranked])
    return np.where(kept, chunk_scores, np.float32(-np.inf))


def search(study, page_scores: np.ndarray, candidates: np.ndarray, n_pages: int | None = None) -> np.ndarray:
    """Both stages: the base scores of the chunks on the best pages, shape (n_questions, n_chunks), else ``-inf``.

    Args:
        study: one dataset under one profile.
        page_scores: shape (n_questions, n_pages), from any page scorer.
        candidates: boolean, shape (n_questions, n_chunks).
        n_pages: pages kept; the profile's ``page_scorer.pages`` if not given.
    """
    pages = pages_of_chunks(study)
    n_pages = check_n_pages(study.profile.page_scorer.pages if n_pages is None else n_pages)
    ranked = rank_pages(page_scores, pages, candidates, n_pages)
    return chunks_on_pages(base_chunk_scores(study), ranked, pages)


def search_in_page_order(study, page_scores: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Stage one's order kept: chunks by their page's score, and only within a page by the base encoder's.

    Args:
        study, page_scores, candidates: as for :func:`search`.

    Returns:
        Minus the page's rank plus the chunk's cosine brought to less than 1; ``-inf`` off the kept pages.
    """
    pages = pages_of_chunks(study)
    ranked = rank_pages(page_scores, pages, candidates, study.profile.page_scorer.pages)
    scores = chunks_on_pages((base_chunk_scores(study) + 1) / 2.01, ranked, pages)
    for row, rows in zip(scores, ranked, strict=True):
        rank_of = np.zeros(len(study.pages), np.float32)
        rank_of[rows] = np.arange(1, len(rows) + 1)
        row -= rank_of[pages]
    return scores


def base_chunk_scores(study) -> np.ndarray:
    """Stage two's scores of all chunks: those of ``dense``, which do not depend on the candidates."""
    everything = study.candidates("standard")
    return study.memo("base_chunk_scores", lambda: dense.score(study, everything))


def page_run(study, page_scores: np.ndarray, candidates: np.ndarray, depth: int) -> pd.DataFrame:
    """Stage one alone as a ranking of pages: question_id, rank (from 1), doc_name, page, score."""
    ranked = rank_pages(page_scores, pages_of_chunks(study), candidates, depth)
    parts = []
    for question_id, rows, scores in zip(study.questions["question_id"], ranked, page_scores, strict=True):
        part = study.pages.iloc[rows][["doc_name", "page"]].reset_index(drop=True)
        parts.append(
            part.assign(question_id=question_id, rank=np.arange(1, len(rows) + 1), score=scores[rows])
        )
    return pd.concat(parts, ignore_index=True)[["question_id", "rank", "doc_name", "page", "score"]]


def scorer_scores(study, name: str, by: str = "company") -> np.ndarray:
    """The page scores of a scorer, shape (n_questions, n_pages).

    Args:
        study: one dataset under one profile.
        name: ``full`` (fine-tuned), ``light`` (a map over frozen vectors) or ``untrained``.
        by: what the folds hold out; without meaning for ``untrained``.

    Where the study's questions cannot train one, the untrained encoder stands for every scorer.
    """
    from lib.page_scorer import full as page_scorer
    from lib.page_scorer import light as page_scorer_light
    from lib.page_scorer import vectors as page_vectors

    def load() -> np.ndarray:
        if name == "untrained" or page_scorer.untrainable(study):
            queries, pages = page_vectors.base_vectors(study)
            return queries @ pages.T
        return {"full": page_scorer, "light": page_scorer_light}[name].page_scores(study, by)

    return study.memo(("page_scores", name, by), load)


def score(study, candidates: np.ndarray) -> np.ndarray:
    """The fine-tuned scorer, folds by company."""
    return search(study, scorer_scores(study, "full", "company"), candidates)


def score_in_page_order(study, candidates: np.ndarray) -> np.ndarray:
    """The fine-tuned scorer, folds by company, chunks in the order of their pages."""
    return search_in_page_order(study, scorer_scores(study, "full", "company"), candidates)


def score_filing_folds(study, candidates: np.ndarray) -> np.ndarray:
    """The fine-tuned scorer, folds by filing, as published."""
    return search(study, scorer_scores(study, "full", "filing"), candidates)


def score_light(study, candidates: np.ndarray) -> np.ndarray:
    """The light scorer, folds by company."""
    return search(study, scorer_scores(study, "light", "company"), candidates)


def score_light_filing_folds(study, candidates: np.ndarray) -> np.ndarray:
    """The light scorer, folds by filing."""
    return search(study, scorer_scores(study, "light", "filing"), candidates)


def score_untrained(study, candidates: np.ndarray) -> np.ndarray:
    """The base encoder as page scorer: what two stages do without training."""
    return search(study, scorer_scores(study, "untrained"), candidates)
