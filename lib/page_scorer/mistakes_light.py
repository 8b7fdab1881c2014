"""The slips on the light scorer: minutes for all of them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from lib import runs
from lib.folds import By, Fold
from lib.metrics.retrieval import page_recall
from lib.models.index import window_vectors
from lib.models.weights import weights_hash
from lib.page_scorer import light as light
from lib.page_scorer.full import folds
from lib.page_scorer.mistakes_table import HONEST, PAGES, slip_values
from lib.page_scorer.scores import load_scores, scores_params, stored_scores
from lib.page_scorer.search import (
    base_chunk_scores,
    chunks_on_pages,
    pages_of_chunks,
    rank_pages,
    scorer_scores,
    search,
)
from lib.retrievers import dense


def slips(study, by: By = "company", k: int = 5) -> pd.DataFrame:
    """Every slip on the light scorer: slip, question_id, metric, value."""
    everything, honest = study.candidates("standard"), scorer_scores(study, "light", by)
    matrices = {
        HONEST: search(study, honest, everything, PAGES),
        "page-zero": search(study, _slipped(study, by, "page-zero", _without_page_zero), everything, PAGES),
        "repeats": search(study, _slipped(study, by, "repeats", _with_repeats), everything, PAGES),
        "epoch": _best_on_test(study, by, k),
        "chunks": _chunks_by_the_scorer(study, honest, everything, by),
    }
    return slip_values(study, matrices, k)


def _params(study, by: By) -> dict:
    return {
        "by": by,
        "settings": study.settings_of(("page_scorer_light",)),
        "weights": weights_hash(study.profile.embedder.weights),
        "precision": study.profile.embedder.precision,
    }


def _slipped(study, by: By, slip: str, score_fold: Callable) -> np.ndarray:
    parts, params = folds(study, by), _params(study, by) | {"slip": slip}
    entry = stored_scores(study, "page_scorer_light/slips", params, parts, partial(score_fold, study))
    return load_scores(study, entry)


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


def _best_on_test(study, by: By, k: int) -> np.ndarray:
    """The slip itself: each fold takes the plan with the best page recall of both stages on its test questions."""
    pages, base = pages_of_chunks(study), base_chunk_scores(study)
    scores, tops = np.empty_like(base), _pages_of_every_plan(study, by)
    for fold in folds(study, by):
        rows, best = list(fold.test), -1.0
        questions = study.questions.iloc[rows]
        for top in tops[:, rows]:
            found = chunks_on_pages(base[rows], list(top), pages)
            recall = page_recall(runs.rank(found, questions, study.chunks, k), questions, k).mean()
            if recall > best:
                best, scores[rows] = recall, found
    return scores


def _pages_of_every_plan(study, by: By) -> np.ndarray:
    """The best pages of each question under each plan of its fold, shape (n_plans, n_questions, PAGES)."""
    parts, settings, pages = folds(study, by), study.profile.page_scorer_light, pages_of_chunks(study)

    def compute(target: Path) -> None:
        tops: dict[light.Plan, np.ndarray] = {}
        for fold in parts:
            vectors, rows = light.fold_vectors(study, fold), list(fold.test)
            everything = study.candidates("standard")[rows]
            for longest in light.plans(settings):
                for plan, scorer in vectors.train(fold.train, settings, longest):
                    page_scores = light.score_rows(scorer, vectors, rows)
                    ranked = rank_pages(page_scores, pages, everything, PAGES)
                    kept = tops.setdefault(plan, np.zeros((len(study.questions), len(ranked[0])), int))
                    kept[rows] = ranked
        np.save(target / "tops.npy", np.stack(list(tops.values())))

    params = scores_params(study, _params(study, by) | {"slip": "epoch", "n_pages": PAGES}, parts)
    return np.load(study.store.get("page_scorer_light/plans", params, compute).path / "tops.npy")


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
    ranked = rank_pages(page_scores, pages, candidates, PAGES)
    return chunks_on_pages(scores, ranked, pages)
