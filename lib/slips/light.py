"""The slips on the light scorer: minutes for all of them."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
import torch

from lib import runs
from lib.folds import By, Fold
from lib.metrics.retrieval import page_recall
from lib.models import page_scorer_light as light
from lib.models.index import window_vectors
from lib.models.page_scorer import folds, stored_scores
from lib.retrievers import dense
from lib.retrievers.page_then_chunk import chunks_on_pages, pages_of_chunks, rank_pages, scorer_scores, search
from lib.slips.table import HONEST, slip_values


def slips(study, by: By = "company", k: int = 5) -> pd.DataFrame:
    """Every slip on the light scorer: slip, question_id, metric, value."""
    everything = np.ones((len(study.questions), len(study.chunks)), bool)

    def searched(page_scores: np.ndarray) -> np.ndarray:
        return search(study, page_scores, everything)

    honest = scorer_scores(study, "light", by)
    matrices = {
        HONEST: searched(honest),
        "page-zero": searched(_slipped(study, by, "page-zero", partial(_light_fold, without_page_zero=True))),
        "repeats": searched(_slipped(study, by, "repeats", partial(_light_fold, n_copies=1))),
        "epoch": searched(_slipped(study, by, f"epoch-{k}", partial(_light_fold_by_test, k=k))),
        "chunks": _light_chunks(study, honest, everything, by),
    }
    return slip_values(study, matrices, k)


def _slipped(study, by: By, slip: str, score_fold: Callable) -> np.ndarray:
    params = {
        "slip": slip,
        "by": by,
        "settings": study.settings_of(("page_scorer_light", "embedder")),
        "chunks": study.chunks_digest,
        "n_pages": study.profile.page_scorer.pages,
    }
    entry = stored_scores(
        study, "page_scorer_light/slips", params, folds(study, by), partial(score_fold, study)
    )
    return np.load(entry.path / "scores.npy")


def _light_fold(
    study, fold: Fold, n_copies: int = 0, without_page_zero: bool = False
) -> tuple[np.ndarray, dict]:
    settings, vectors = study.profile.page_scorer_light, light.fold_vectors(study, fold, without_page_zero)
    rows = [row for row in fold.train if vectors.gold[row].any()]
    sides, steps, _ = light.choose(vectors, rows, light.groups_of(study, rows, fold.by), settings)
    scorer = light.scorer_at(vectors, rows, settings, sides, steps, n_copies)
    return light.score_rows(scorer, vectors, fold.test), {"fold": fold.number, "sides": sides, "steps": steps}


def _light_fold_by_test(study, fold: Fold, k: int) -> tuple[np.ndarray, dict]:
    """The slip itself: the sides and steps with the best page recall on the test questions."""
    settings, vectors = study.profile.page_scorer_light, light.fold_vectors(study, fold)
    best, kept, chosen = -1.0, None, {}
    for sides in settings.sides:
        for steps, scorer in vectors.train(fold.train, settings, sides):
            scores = light.score_rows(scorer, vectors, fold.test)
            recall = _test_recall(study, scores, fold.test, k)
            if recall > best:
                best, kept, chosen = recall, scores, {"fold": fold.number, "sides": sides, "steps": steps}
    return kept, chosen


def _test_recall(study, page_scores: np.ndarray, rows: Sequence[int], k: int) -> float:
    """Mean page recall at k of both stages for some questions."""
    questions, pages = study.questions.iloc[list(rows)], pages_of_chunks(study)
    everything = np.ones((len(rows), len(pages)), bool)
    ranked = rank_pages(page_scores, pages, everything, study.profile.page_scorer.pages)
    scores = chunks_on_pages(_base_chunk_scores(study)[list(rows)], ranked, pages)
    return float(page_recall(runs.rank(scores, questions, study.chunks, k), questions, k).mean())


def _base_chunk_scores(study) -> np.ndarray:
    return study.memo("base_chunk_scores", lambda: dense.score(study, None))


def _light_chunks(study, page_scores: np.ndarray, candidates: np.ndarray, by: By) -> np.ndarray:
    """Stage two with the trained maps: questions and, where the fold mapped pages, chunk windows too."""
    owners, windows = window_vectors(study)
    records = light.choices(study, by)
    scores = np.full(candidates.shape, -np.inf, np.float32)
    for fold, record in zip(folds(study, by), records, strict=True):
        vectors, rows = light.fold_vectors(study, fold), list(fold.test)
        scorer = light.scorer_at(
            vectors, fold.train, study.profile.page_scorer_light, record["sides"], record["steps"]
        )
        with torch.no_grad():
            queries = scorer.question(torch.as_tensor(vectors.questions[rows])).numpy()
            mapped = scorer.page(torch.as_tensor(windows)).numpy() if scorer.page else windows
        scores[rows] = dense.best_window_scores(queries, mapped, owners, len(study.chunks))
    pages = pages_of_chunks(study)
    return chunks_on_pages(
        scores, rank_pages(page_scores, pages, candidates, study.profile.page_scorer.pages), pages
    )
