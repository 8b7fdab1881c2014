"""Convex combination with ``alpha`` chosen by training questions: no question is scored with a weight it helped choose.

Kim et al. (2025) sweep ``alpha`` from 0 to 1 by 0.025 and take the best by nDCG@10. Here that choice is made inside the
training folds, which hold no question about a tested company.
"""

import hashlib

import numpy as np
import pandas as pd

from lib import runs
from lib.folds import Fold, make_folds
from lib.metrics.retrieval import doc_recall, page_recall, rank_measures
from lib.retrievers.convex import mix, scaled

ALPHAS = tuple(number / 40 for number in range(41))
EVEN = 0.5  # where all questions are of one company, and none can choose for another
RECALL_K = 5
CHOSEN_BY = "ndcg"
METRICS = ("doc_recall", "page_recall", CHOSEN_BY)


def alpha_values(study, candidates: np.ndarray) -> pd.DataFrame:
    """What every ``alpha`` gives each question among the candidates.

    Returns:
        alpha, question_id, doc_recall and page_recall (at 5 chunks), ndcg (at 10 pages).
    """
    key = hashlib.sha1(np.packbits(candidates).tobytes()).hexdigest()
    return study.memo(("alpha_values", key), lambda: _measure(study, candidates))


def _measure(study, candidates: np.ndarray) -> pd.DataFrame:
    both = scaled(study, candidates)
    parts = []
    for alpha in ALPHAS:
        run = runs.rank(mix(*both, candidates, alpha), study.questions, study.chunks, study.profile.run.depth)
        ndcg = rank_measures(run, study.questions, ["nDCG@10"]).set_index("question_id")["value"]
        recalls = [metric(run, study.questions, RECALL_K) for metric in (doc_recall, page_recall)]
        values = pd.concat([*recalls, ndcg.rename(CHOSEN_BY)], axis=1).reset_index()
        parts.append(values.assign(alpha=alpha))
    return pd.concat(parts, ignore_index=True)[["alpha", "question_id", *METRICS]]


def best_alpha(values: pd.DataFrame, metric: str = CHOSEN_BY) -> float:
    """The ``alpha`` with the best mean; of equal ones the smallest."""
    return float(values.groupby("alpha")[metric].mean().round(12).idxmax())


def chosen_alphas(values: pd.DataFrame, folds: list[Fold], question_ids: pd.Series) -> list[float]:
    """The ``alpha`` that each fold's training questions choose."""
    trained = (question_ids.iloc[list(fold.train)] for fold in folds)
    return [best_alpha(values[values["question_id"].isin(ids)]) for ids in trained]


def score(study, candidates: np.ndarray, *, n_folds: int, seed: int) -> np.ndarray:
    """The combination with each fold's ``alpha`` for its test questions, shape (n_questions, n_chunks).

    Args:
        study: gives questions, filings and chunks.
        candidates: boolean, (n_questions, n_chunks).
        n_folds, seed: of the folds by company; questions of one company are all weighted EVEN.
    """
    alphas, ids = np.full(len(study.questions), EVEN), study.questions["question_id"]
    if study.questions["company"].nunique() > 1:
        folds = make_folds(study.questions, study.filings, "company", n_folds, seed)
        values = alpha_values(study, candidates)
        for fold, alpha in zip(folds, chosen_alphas(values, folds, ids), strict=True):
            alphas[list(fold.test)] = alpha
    return mix(*scaled(study, candidates), candidates, alphas[:, None])
