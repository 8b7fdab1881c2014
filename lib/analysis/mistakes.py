"""What known evaluation mistakes give, each added alone to the honest run; published code for this method has made
them.

The light page scorer takes minutes for all of them and is measured here; on the fine-tuned one three train every fold
again (``python -m lib mistakes``, hours). Nothing else uses a score with a mistake.
"""

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import pandas as pd

from lib import runs
from lib.folds import Fold
from lib.metrics.retrieval import doc_recall, page_recall
from lib.models.vectors import window_vectors
from lib.page_scorer import light
from lib.page_scorer import search as pages_first
from lib.page_scorer.pages import folds, load_records, load_scores, scores_in_folds
from lib.retrievers.dense import best_window_scores
from lib.retrievers.places import pages_of_chunks
from lib.stats import DIFFERENCE, Resampling, percentiles
from lib.study import Study

HONEST = "none"
PAGES = 20  # that stage two searches with every mistake, as published, whatever the profile keeps
MISTAKES = {
    HONEST: "none: the honest run",
    "page-zero": "gold page 0 is lost (`if page` on a number), in training and in the gold standard",
    "repeats": "a pair can be its own negative (sampled several times into a batch)",
    "epoch": "the length of training is chosen on the test fold",
    "chunks": "chunks are embedded with the trained model, not with the base encoder",
}
ADDED = ["mistake", "n", "mean", *DIFFERENCE, "scorer"]
Vectors = tuple[np.ndarray, np.ndarray, np.ndarray]


def mistake_values(
    study: Study,
    page_scores: dict[str, np.ndarray],
    chunk_scores: dict[str, np.ndarray],
    encode: Callable[[Study, Fold, np.ndarray], Vectors],
    k: int,
) -> pd.DataFrame:
    """Doc recall and page recall with each mistake, folds by company: mistake, question_id, metric, value.

    With ``page-zero`` the gold standard is the mistaken one too, and a question with no other gold page is missing.

    Args:
        study, k: the questions and the chunks, and the depth of the metrics.
        page_scores, chunk_scores: by mistake, shapes (n_questions, n_pages), the honest ones included, and n_chunks.
        encode: for the mistake ``chunks``: from a fold and the chunks on its kept pages (boolean, shape (n_chunks,)) to
            its own vectors of its test questions and of windows of at least these chunks, and the windows' chunks.
    """
    everything, pages = study.candidates("standard"), pages_of_chunks(study)
    matrices = {
        name: pages_first.search_pages_first(study, s, everything, PAGES) for name, s in page_scores.items()
    } | chunk_scores
    ranked = pages_first.rank_pages(page_scores[HONEST], pages, everything, PAGES)
    own, parts = np.full((len(study.questions), len(study.chunks)), -np.inf, np.float32), []
    for fold in folds(study, "company"):
        is_kept = np.isin(pages, np.concatenate([ranked[row] for row in fold.test]))
        own[list(fold.test)] = best_window_scores(*encode(study, fold, is_kept), len(study.chunks))
    matrices["chunks"] = pages_first.chunks_on_pages(own, ranked, pages)
    for mistake, scores in matrices.items():
        questions, run = study.questions, runs.rank(scores, study.questions, study.chunks, k)
        if mistake == "page-zero":
            left = questions["gold_pages"].map(lambda pages: [page for page in pages if page])
            questions = questions.assign(gold_pages=left)[left.map(len) > 0]
        for measure in (doc_recall, page_recall):
            values = measure(run, questions, k).rename("value").reset_index()
            parts.append(values.assign(mistake=mistake, metric=measure.__name__))
    return pd.concat(parts, ignore_index=True)[["mistake", "question_id", "metric", "value"]]


def measure_light(study: Study, k: int) -> pd.DataFrame:
    """:func:`mistake_values` of the light page scorer."""
    scores = {HONEST: pages_first.scorer_scores(study, "light")}
    for mistake, score_fold in {"page-zero": _without_page_zero, "repeats": _with_repeats}.items():
        params = {"settings": dict(study.profile.page_scorer_light), "mistake": mistake}
        entry = scores_in_folds(study, "page_scorer_light/slips", folds(study, "company"), score_fold, params)
        scores[mistake] = load_scores(study, entry)
    return mistake_values(study, scores, {"epoch": _best_on_test(study, k)}, _mapped, k)


def _without_page_zero(study: Study, fold: Fold) -> tuple[np.ndarray, dict]:
    data = light.fold_data(study, fold, without_page_zero=True)
    rows = [row for row in fold.train if data.gold[row].any()]
    plan, _ = data.choose(rows)
    return data.scores(data.trained(rows, plan), fold.test), {"fold": fold.number, "plan": plan._asdict()}


def _trained(study: Study, fold: Fold, n_copies: int = 0) -> tuple:
    """A fold's data, and its scorer under the plan that was chosen honestly."""
    from lib.page_scorer.residual import Plan  # loads torch, which takes seconds

    plan = load_records(light.scores_entry(study, fold.by))[fold.number]["plan"]
    data = light.fold_data(study, fold)
    return data, data.trained(fold.train, Plan(**plan), n_copies)


def _with_repeats(study: Study, fold: Fold) -> tuple[np.ndarray, dict]:
    data, scorer = _trained(study, fold, n_copies=1)
    return data.scores(scorer, fold.test), {"fold": fold.number}


def _best_on_test(study: Study, k: int) -> np.ndarray:
    """Each fold takes the plan with the best page recall of both stages on its test questions."""
    from lib.page_scorer.residual import Plan  # loads torch, which takes seconds

    pages, base = pages_of_chunks(study), pages_first.base_chunk_scores(study)
    scores = np.empty_like(base)
    for fold in folds(study, "company"):
        rows, best, data = list(fold.test), -1.0, light.fold_data(study, fold)
        questions, everything = study.questions.iloc[rows], study.candidates("standard")[rows]
        for sides, rate in product(data.settings.sides, data.settings.learning_rates):
            for _, scorer in data.train(fold.train, Plan(sides, rate, data.settings.max_steps)):
                ranked = pages_first.rank_pages(data.scores(scorer, rows), pages, everything, PAGES)
                found = pages_first.chunks_on_pages(base[rows], ranked, pages)
                recall = page_recall(runs.rank(found, questions, study.chunks, k), questions, k).mean()
                if recall > best:
                    best, scores[rows] = recall, found
    return scores


def _mapped(study: Study, fold: Fold, is_kept: np.ndarray) -> Vectors:
    """Vectors of a fold's test questions and, where the fold maps pages, of all windows under its maps."""
    import torch  # takes seconds

    owners, windows = window_vectors(study)
    data, scorer = _trained(study, fold)
    with torch.no_grad():
        queries = scorer.question(torch.as_tensor(data.questions[list(fold.test)]))
        mapped = scorer.page(torch.from_numpy(np.array(windows)))
    return queries.numpy(), mapped.numpy(), owners


def added(recall: Mapping[str, pd.DataFrame], draws: Resampling) -> pd.DataFrame:
    """What each mistake adds to the mean of the honest run.

    Args:
        recall: by scorer, questions × MISTAKES; NaN where a mistake leaves a question without a gold page, so that its
            mean is over fewer questions than the honest one.

    Returns:
        ADDED, with the difference's interval over draws of companies.
    """
    parts = [pd.DataFrame(columns=ADDED)]
    for scorer, values in recall.items():
        values = values.reindex(draws.company.index)
        means, drawn = values.mean(), draws.sums(values.fillna(0)) / np.maximum(draws.sums(values.notna()), 1)
        apart = drawn - drawn[:, [[*values].index(HONEST)]]
        found = pd.DataFrame({"n": values.count(), "mean": means, "difference": means - means[HONEST]})
        found[DIFFERENCE[1:]] = [percentiles(one) for one in apart.T]
        parts.append(found.rename_axis("mistake").reset_index().assign(scorer=scorer))
    return pd.concat(parts[1:] or parts)
