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
from lib.slips.table import HONEST, slip_values, stored_values


def slips(study, by: By = "company", k: int = 5) -> pd.DataFrame:
    """Every slip on the light scorer: slip, question_id, metric, value; stored."""
    compute = partial(_compute, study, by, k)
    return stored_values(study, "page_scorer_light/slip_values", _params(study, by) | {"k": k}, compute)


def _params(study, by: By) -> dict:
    settings = study.settings_of(("page_scorer", "page_scorer_light", "embedder"))
    return {
        "by": by,
        "settings": settings,
        "chunks": study.chunks_digest,
        "questions": study.questions_digest,
    }


def _compute(study, by: By, k: int) -> pd.DataFrame:
    everything = np.ones((len(study.questions), len(study.chunks)), bool)
    ways: dict[str, Callable] = {
        "page-zero": _without_page_zero,
        "repeats": _with_repeats,
        "epoch": partial(_best_on_test, k=k),
    }
    honest = scorer_scores(study, "light", by)
    matrices = {HONEST: search(study, honest, everything)}
    for slip, score_fold in ways.items():
        matrices[slip] = search(study, _slipped(study, by, slip, k, score_fold), everything)
    matrices["chunks"] = _chunks_by_the_scorer(study, honest, everything, by)
    return slip_values(study, matrices, k)


def _slipped(study, by: By, slip: str, k: int, score_fold: Callable) -> np.ndarray:
    params = _params(study, by) | {"slip": slip, "k": k}
    parts = folds(study, by)
    entry = stored_scores(study, "page_scorer_light/slips", params, parts, partial(score_fold, study))
    return np.load(entry.path / "scores.npy")


def _honest_plan(study, fold: Fold) -> light.Plan:
    return light.Plan(**light.choices(study, fold.by)[fold.number]["plan"])


def _without_page_zero(study, fold: Fold) -> tuple[np.ndarray, dict]:
    settings = study.profile.page_scorer_light
    vectors = light.fold_vectors(study, fold, without_page_zero=True)
    rows = [row for row in fold.train if vectors.gold[row].any()]
    plan, _ = light.choose(vectors, rows, light.groups_of(study, rows, fold.by), settings)
    scorer = light.scorer_of(vectors, rows, settings, plan)
    return light.score_rows(scorer, vectors, fold.test), {"fold": fold.number, "plan": plan._asdict()}


def _with_repeats(study, fold: Fold) -> tuple[np.ndarray, dict]:
    plan, vectors = _honest_plan(study, fold), light.fold_vectors(study, fold)
    scorer = light.scorer_of(vectors, fold.train, study.profile.page_scorer_light, plan, n_copies=1)
    return light.score_rows(scorer, vectors, fold.test), {"fold": fold.number, "plan": plan._asdict()}


def _best_on_test(study, fold: Fold, k: int) -> tuple[np.ndarray, dict]:
    """The slip itself: of all plans the one with the best page recall on the test questions."""
    settings, vectors = study.profile.page_scorer_light, light.fold_vectors(study, fold)
    best, kept, chosen = -1.0, None, {}
    for longest in light.plans(settings):
        for plan, scorer in vectors.train(fold.train, settings, longest):
            scores = light.score_rows(scorer, vectors, fold.test)
            recall = _test_recall(study, scores, fold.test, k)
            if recall > best:
                best, kept, chosen = recall, scores, {"fold": fold.number, "plan": plan._asdict()}
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


def _chunks_by_the_scorer(study, page_scores: np.ndarray, candidates: np.ndarray, by: By) -> np.ndarray:
    """Stage two with the trained maps: questions and, where the fold mapped pages, chunk windows too."""
    owners, vectors_of_windows = window_vectors(study)
    windows = torch.from_numpy(np.array(vectors_of_windows))
    scores = np.full(candidates.shape, -np.inf, np.float32)
    for fold in folds(study, by):
        vectors, rows = light.fold_vectors(study, fold), list(fold.test)
        plan = _honest_plan(study, fold)
        scorer = light.scorer_of(vectors, fold.train, study.profile.page_scorer_light, plan)
        with torch.no_grad():
            queries = scorer.question(torch.as_tensor(vectors.questions[rows])).numpy()
            mapped = (scorer.page(windows) if scorer.page else windows).numpy()
        scores[rows] = dense.best_window_scores(queries, mapped, owners, len(study.chunks))
    pages = pages_of_chunks(study)
    ranked = rank_pages(page_scores, pages, candidates, study.profile.page_scorer.pages)
    return chunks_on_pages(scores, ranked, pages)
