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
from lib.page_scorer import search as pages_first
from lib.page_scorer.mistakes import HONEST, PAGES, mistake_values, search_with_own_chunks
from lib.page_scorer.scores import folds, load_records, load_scores, scores_in_folds
from lib.study import Study


def measure(study: Study, by: By = "company", k: int = 5) -> pd.DataFrame:
    """Every mistake on the light scorer: mistake, question_id, metric, value."""
    scores = {HONEST: pages_first.scorer_scores(study, "light", by)}
    for mistake, score in {"page-zero": _without_page_zero, "repeats": _with_repeats}.items():
        params = light.scorer_params(study) | {"mistake": mistake}
        entry = scores_in_folds(study, "page_scorer_light/slips", by, score, params)
        scores[mistake] = load_scores(study, entry)
    everything = study.candidates("standard")
    matrices = {m: pages_first.search(study, found, everything, PAGES) for m, found in scores.items()}
    matrices["epoch"] = _best_on_test(study, by, k)
    matrices["chunks"] = search_with_own_chunks(study, scores[HONEST], by, partial(_mapped, study))
    return mistake_values(study, matrices, k)


def _trained(study: Study, fold: Fold, n_copies: int = 0) -> tuple[light.FoldData, light.LightScorer]:
    """A fold's scorer under the plan that was chosen honestly."""
    plan = load_records(light.scores_entry(study, fold.by))[fold.number]["plan"]
    data = light.fold_data(study, fold)
    return data, data.trained(fold.train, light.Plan(**plan), n_copies)


def _without_page_zero(study: Study, fold: Fold) -> tuple[np.ndarray, dict]:
    data = light.fold_data(study, fold, without_page_zero=True)
    rows = [row for row in fold.train if data.gold[row].any()]
    plan, _ = data.choose(rows)
    return data.scores(data.trained(rows, plan), fold.test), {"fold": fold.number, "plan": plan._asdict()}


def _with_repeats(study: Study, fold: Fold) -> tuple[np.ndarray, dict]:
    data, scorer = _trained(study, fold, n_copies=1)
    return data.scores(scorer, fold.test), {"fold": fold.number}


def _best_on_test(study: Study, by: By, k: int) -> np.ndarray:
    """The mistake itself: each fold takes the plan with the best page recall of both stages on its test questions."""
    pages, base = pages_first.pages_of_chunks(study), pages_first.base_chunk_scores(study)
    scores = np.empty_like(base)
    for fold in folds(study, by):
        rows, best, data = list(fold.test), -1.0, light.fold_data(study, fold)
        questions, everything = study.questions.iloc[rows], study.candidates("standard")[rows]
        for longest in light.plans(study.profile.page_scorer_light):
            for _, scorer in data.train(fold.train, longest):
                ranked = pages_first.rank_pages(data.scores(scorer, rows), pages, everything, PAGES)
                found = pages_first.chunks_on_pages(base[rows], ranked, pages)
                recall = page_recall(runs.rank(found, questions, study.chunks, k), questions, k).mean()
                if recall > best:
                    best, scores[rows] = recall, found
    return scores


def _mapped(study: Study, fold: Fold, is_kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors of a fold's test questions and, where the fold maps pages, of all windows under its maps."""
    owners, windows = window_vectors(study)
    data, scorer = _trained(study, fold)
    with torch.no_grad():
        queries = scorer.question(torch.as_tensor(data.questions[list(fold.test)]))
        mapped = scorer.page(torch.from_numpy(np.array(windows)))
    return queries.numpy(), mapped.numpy(), owners
