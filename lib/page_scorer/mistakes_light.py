"""The evaluation mistakes on the light scorer: minutes for all of them."""

from functools import partial

import numpy as np
import pandas as pd
import torch

from lib import runs
from lib.folds import By, Fold
from lib.metrics.retrieval import page_recall
from lib.models.index import window_vectors
from lib.page_scorer import light
from lib.page_scorer.full import folds
from lib.page_scorer.mistakes import HONEST, PAGES, mistake_values, search_with_own_chunks
from lib.page_scorer.scores import load_records, load_scores, stored_scores
from lib.page_scorer.search import (
    base_chunk_scores,
    chunks_on_pages,
    pages_of_chunks,
    rank_pages,
    scorer_scores,
    search,
)
from lib.study import Study


def measure(study: Study, by: By = "company", k: int = 5) -> pd.DataFrame:
    """Every mistake on the light scorer: mistake, question_id, metric, value."""
    everything, honest = study.candidates("standard"), scorer_scores(study, "light", by)
    scores = {HONEST: honest}
    for mistake, score_fold in {"page-zero": _without_page_zero, "repeats": _with_repeats}.items():
        params = light.light_params(study, by) | {"mistake": mistake}
        entry = stored_scores(
            study, "page_scorer_light/slips", params, folds(study, by), partial(score_fold, study)
        )
        scores[mistake] = load_scores(study, entry)
    matrices = {mistake: search(study, found, everything, PAGES) for mistake, found in scores.items()}
    matrices["epoch"] = _best_on_test(study, by, k)
    matrices["chunks"] = search_with_own_chunks(study, honest, by, partial(_mapped, study))
    return mistake_values(study, matrices, k)


def _trained(study: Study, fold: Fold, n_copies: int = 0) -> tuple[light.Vectors, light.LightScorer]:
    """A fold's scorer under the plan that was chosen honestly."""
    plan = load_records(light.scores_entry(study, fold.by))[fold.number]["plan"]
    vectors, settings = light.fold_vectors(study, fold), study.profile.page_scorer_light
    return vectors, vectors.trained(fold.train, settings, light.Plan(**plan), n_copies)


def _without_page_zero(study: Study, fold: Fold) -> tuple[np.ndarray, dict]:
    vectors = light.fold_vectors(study, fold, without_page_zero=True)
    rows = [row for row in fold.train if vectors.gold[row].any()]
    plan, _ = light.choose_in_fold(study, fold, vectors, rows)
    scorer = vectors.trained(rows, study.profile.page_scorer_light, plan)
    return vectors.scores(scorer, fold.test), {"fold": fold.number, "plan": plan._asdict()}


def _with_repeats(study: Study, fold: Fold) -> tuple[np.ndarray, dict]:
    vectors, scorer = _trained(study, fold, n_copies=1)
    return vectors.scores(scorer, fold.test), {"fold": fold.number}


def _best_on_test(study: Study, by: By, k: int) -> np.ndarray:
    """The mistake itself: each fold takes the plan with the best page recall of both stages on its test questions."""
    pages, base, settings = pages_of_chunks(study), base_chunk_scores(study), study.profile.page_scorer_light
    scores = np.empty_like(base)
    for fold in folds(study, by):
        rows, best, vectors = list(fold.test), -1.0, light.fold_vectors(study, fold)
        questions, everything = study.questions.iloc[rows], study.candidates("standard")[rows]
        for longest in light.plans(settings):
            for _, scorer in vectors.train(fold.train, settings, longest):
                ranked = rank_pages(vectors.scores(scorer, rows), pages, everything, PAGES)
                found = chunks_on_pages(base[rows], ranked, pages)
                recall = page_recall(runs.rank(found, questions, study.chunks, k), questions, k).mean()
                if recall > best:
                    best, scores[rows] = recall, found
    return scores


def _mapped(study: Study, fold: Fold, is_kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors of a fold's test questions and, where the fold maps pages, of all windows under its maps."""
    owners, windows = window_vectors(study)
    vectors, scorer = _trained(study, fold)
    with torch.no_grad():
        queries = scorer.question(torch.as_tensor(vectors.questions[list(fold.test)]))
        mapped = scorer.page(torch.from_numpy(np.array(windows)))
    return queries.numpy(), mapped.numpy(), owners
