"""Convex combination of dense and BM25 scores (Bruch, Gai & Ingber, TOIS 2023): ``alpha dense + (1 - alpha) BM25``.

Both are normalised per question: by ``min_max``, or by ``softmax`` as in the code of Kim et al. (2025): cosines over
the first N_DENSE by dense, which alone are retrieved, BM25 over all candidates. Akarsu et al. (2026) take fixed
weights. Kim et al. sweep ``alpha`` by 0.025 and take the best by nDCG@10; here training folds of other companies choose
it.
"""

from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from lib import runs
from lib.folds import Fold, make_folds
from lib.method import Search, memoized
from lib.metrics.retrieval import PAGE_METRICS, doc_recall, page_recall, rank_measures
from lib.retrievers import bm25, dense
from lib.retrievers.fusion import min_max, softmax

Normalisation = Literal["min_max", "softmax"]
N_DENSE = 100
ALPHAS = tuple(number / 40 for number in range(41))
EVEN = 0.5  # where all questions are of one company, and none can choose for another
CHOSEN_BY = "ndcg"
NDCG = replace(PAGE_METRICS[0], depths=(10,))
METRICS = ("doc_recall", "page_recall", CHOSEN_BY)


@memoized
def unscaled(search: Search) -> tuple[np.ndarray, np.ndarray]:
    """The scores of ``dense`` and of ``bm25``, which are the same for all candidates."""
    return dense.score(search, None), bm25.score(search, None)


def scaled(
    search: Search, candidates: np.ndarray, normalisation: Normalisation = "min_max"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The normalised scores of ``dense`` and of ``bm25``, and the candidates that may be retrieved."""
    cosines, sparse = unscaled(search)
    if normalisation == "min_max":
        return min_max(cosines, candidates), min_max(sparse, candidates), candidates
    order = np.argsort(-np.where(candidates, cosines, -np.inf), axis=1, kind="stable")
    first = np.zeros(candidates.shape, bool)
    np.put_along_axis(first, order[:, :N_DENSE], True, axis=1)  # of ties the first chunks
    first &= candidates
    return softmax(cosines, first), softmax(sparse, candidates), first


def mix(dense_scores: np.ndarray, sparse_scores: np.ndarray, candidates: np.ndarray, alpha) -> np.ndarray:
    """The combination, ``-inf`` outside of the candidates; ``alpha`` is one weight or of shape (n_questions, 1)."""
    return np.where(candidates, alpha * dense_scores + (1 - alpha) * sparse_scores, -np.inf)


def score(search: Search, candidates: np.ndarray, *, alpha: float) -> np.ndarray:
    """The combination with a fixed ``alpha``, shape (n_questions, n_chunks)."""
    return mix(*scaled(search, candidates), alpha)


def alpha_values(search: Search, candidates: np.ndarray, normalisation: Normalisation = "min_max") -> pd.DataFrame:
    """What every ``alpha`` gives each question: doc_recall and page_recall (at 5 chunks), ndcg (at 10 pages)."""

    def measured(alpha: float) -> pd.DataFrame:
        run = runs.rank(mix(*both, alpha), search.questions, search.chunks, search.profile.run.depth)
        ndcg = rank_measures(run, search.questions, [NDCG]).set_index("question_id")["value"].rename(CHOSEN_BY)
        recalls = [metric(run, search.questions, 5) for metric in (doc_recall, page_recall)]
        return pd.concat([*recalls, ndcg], axis=1).reset_index().assign(alpha=alpha)

    both, columns = scaled(search, candidates, normalisation), ["alpha", "question_id", *METRICS]
    make = lambda: pd.concat(map(measured, ALPHAS), ignore_index=True)[columns]  # noqa: E731
    return search.memo(("alpha_values", normalisation, np.packbits(candidates).tobytes()), make)


def best_alpha(values: pd.DataFrame) -> float:
    """The ``alpha`` with the best mean CHOSEN_BY; of equal ones the smallest."""
    return float(values.groupby("alpha")[CHOSEN_BY].mean().round(12).idxmax())


def chosen_alphas(values: pd.DataFrame, folds: list[Fold], question_ids: pd.Series) -> list[float]:
    """The ``alpha`` that each fold's training questions choose."""
    trained = (question_ids.iloc[list(fold.train)] for fold in folds)
    return [best_alpha(values[values["question_id"].isin(ids)]) for ids in trained]


def score_in_folds(
    search: Search, candidates: np.ndarray, *, n_folds: int, seed: int, normalisation: Normalisation = "min_max"
) -> np.ndarray:
    """The combination with the ``alpha`` of each question's fold by company, shape (n_questions, n_chunks); or EVEN."""
    alphas = np.full((len(search.questions), 1), EVEN)
    if search.questions["company"].nunique() > 1:
        folds = make_folds(search.questions, search.filings, "company", n_folds, seed)
        values = alpha_values(search, candidates, normalisation)
        for fold, alpha in zip(folds, chosen_alphas(values, folds, search.questions["question_id"]), strict=True):
            alphas[list(fold.test)] = alpha
    return mix(*scaled(search, candidates, normalisation), alphas)
