"""Convex combination of dense and BM25 scores (Bruch, Gai & Ingber, TOIS 2023): ``alpha dense + (1 - alpha) BM25``.

Both are first brought to 0..1 question by question, by the least and the greatest score among the candidates, since
cosines and BM25 sums have different ranges. Akarsu et al. (2026) take fixed weights. Kim et al. (2025) sweep ``alpha``
from 0 to 1 by 0.025 and take the best by nDCG@10; here that choice is made inside the training folds, which hold no
question about a tested company: no question is scored with a weight it helped choose.
"""

from functools import partial

import numpy as np
import pandas as pd

from lib import runs
from lib.folds import Fold, make_folds
from lib.metrics.retrieval import doc_recall, page_recall, rank_measures
from lib.retrievers import bm25, dense
from lib.study import Study

ALPHAS = tuple(number / 40 for number in range(41))
EVEN = 0.5  # where all questions are of one company, and none can choose for another
RECALL_K = 5
CHOSEN_BY = "ndcg"
METRICS = ("doc_recall", "page_recall", CHOSEN_BY)


def min_max(scores: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Scores brought to 0..1 over the candidates of each question, float64, shape (n_questions, n_chunks).

    What was not scored (``-inf``) counts as the least. 0 outside of the candidates, and where all score the same.
    """
    is_scored = candidates & np.isfinite(scores)
    low = np.where(is_scored, scores, np.inf).min(axis=1, keepdims=True, initial=np.inf)
    high = np.where(is_scored, scores, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    has_range = high > low
    scaled = (scores - np.where(has_range, low, 0.0)) / np.where(has_range, high - low, 1.0)
    return np.where(is_scored & has_range, scaled, 0.0)


def mix(dense_scores: np.ndarray, sparse_scores: np.ndarray, candidates: np.ndarray, alpha) -> np.ndarray:
    """``alpha`` times the dense scores plus ``1 - alpha`` times the sparse ones, ``-inf`` outside of the candidates.

    ``alpha`` is a weight from 0 to 1, or one for each question, shape (n_questions, 1).
    """
    return np.where(candidates, alpha * dense_scores + (1 - alpha) * sparse_scores, -np.inf)


def scaled(study: Study, candidates: np.ndarray) -> list[np.ndarray]:
    """The scores of ``dense`` and of ``bm25`` over the candidates, as :func:`min_max` gives them."""
    rows = (("dense", dense.score), ("bm25", bm25.score))
    matrices = [study.memo(("matrix", name), partial(score_of, study, candidates)) for name, score_of in rows]
    return [min_max(matrix, candidates) for matrix in matrices]


def score(study: Study, candidates: np.ndarray, *, alpha: float) -> np.ndarray:
    """The combination with a fixed ``alpha``, shape (n_questions, n_chunks)."""
    return mix(*scaled(study, candidates), candidates, alpha)


def alpha_values(study: Study, candidates: np.ndarray) -> pd.DataFrame:
    """What every ``alpha`` gives each question: doc_recall and page_recall (at 5 chunks), ndcg (at 10 pages)."""

    def measure() -> pd.DataFrame:
        both, asked, parts = scaled(study, candidates), study.questions, []
        for alpha in ALPHAS:
            run = runs.rank(mix(*both, candidates, alpha), asked, study.chunks, study.profile.run.depth)
            ndcg = rank_measures(run, asked, ["nDCG@10"]).set_index("question_id")["value"]
            recalls = [metric(run, asked, RECALL_K) for metric in (doc_recall, page_recall)]
            values = pd.concat([*recalls, ndcg.rename(CHOSEN_BY)], axis=1).reset_index()
            parts.append(values.assign(alpha=alpha))
        return pd.concat(parts, ignore_index=True)[["alpha", "question_id", *METRICS]]

    return study.memo(("alpha_values", np.packbits(candidates).tobytes()), measure)


def best_alpha(values: pd.DataFrame) -> float:
    """The ``alpha`` with the best mean :data:`CHOSEN_BY`; of equal ones the smallest."""
    return float(values.groupby("alpha")[CHOSEN_BY].mean().round(12).idxmax())


def chosen_alphas(values: pd.DataFrame, folds: list[Fold], question_ids: pd.Series) -> list[float]:
    """The ``alpha`` that each fold's training questions choose."""
    trained = (question_ids.iloc[list(fold.train)] for fold in folds)
    return [best_alpha(values[values["question_id"].isin(ids)]) for ids in trained]


def score_in_folds(study: Study, candidates: np.ndarray, *, n_folds: int, seed: int) -> np.ndarray:
    """The combination with each fold's ``alpha`` for its test questions, shape (n_questions, n_chunks).

    Folds are by company; questions that are all of one company are weighted EVEN.
    """
    alphas, ids = np.full(len(study.questions), EVEN), study.questions["question_id"]
    if study.questions["company"].nunique() > 1:
        folds = make_folds(study.questions, study.filings, "company", n_folds, seed)
        values = alpha_values(study, candidates)
        for fold, alpha in zip(folds, chosen_alphas(values, folds, ids), strict=True):
            alphas[list(fold.test)] = alpha
    return mix(*scaled(study, candidates), candidates, alphas[:, None])
