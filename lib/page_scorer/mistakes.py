"""What known evaluation mistakes add to the page scorer's score, one at a time.

Published code for this method has made each of them. A mistake is added alone to the honest run, and the difference is
reported with its interval; nothing else uses a score with a mistake.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from lib import runs
from lib.folds import By, Fold
from lib.metrics.retrieval import doc_recall, page_recall
from lib.page_scorer.scores import folds
from lib.page_scorer.search import chunks_on_pages, pages_of_chunks, rank_pages
from lib.retrievers.dense import best_window_scores
from lib.stats import Resampling, percentiles
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


def search_with_own_chunks(
    study: Study,
    page_scores: np.ndarray,
    by: By,
    encode: Callable[[Fold, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> np.ndarray:
    """The mistake ``chunks``: stage two with each fold's own model, shape (n_questions, n_chunks).

    Args:
        study: one dataset under one profile.
        page_scores: of the honest scorer.
        by: what its folds hold out.
        encode: from a fold and the chunks on its kept pages (boolean, shape (n_chunks,)) to vectors of its test
            questions, vectors of windows of at least these chunks, and the windows' chunks.
    """
    pages = pages_of_chunks(study)
    ranked = rank_pages(page_scores, pages, study.candidates("standard"), PAGES)
    scores = np.full((len(study.questions), len(study.chunks)), -np.inf, np.float32)
    for fold in folds(study, by):
        rows = list(fold.test)
        is_kept = np.isin(pages, np.concatenate([ranked[row] for row in rows]))
        scores[rows] = best_window_scores(*encode(fold, is_kept), len(study.chunks))
    return chunks_on_pages(scores, ranked, pages)


def mistake_values(study: Study, matrices: dict[str, np.ndarray], k: int) -> pd.DataFrame:
    """Doc recall and page recall with each mistake: mistake, question_id, metric, value.

    With ``page-zero`` the gold standard is the mistaken one too, and a question with no other gold page is missing.

    Args:
        study: the questions and the chunks.
        matrices: from mistake to chunk scores (n_questions, n_chunks).
        k: depth of the metrics.
    """
    parts = []
    for mistake, scores in matrices.items():
        questions = study.questions
        run = runs.rank(scores, questions, study.chunks, k)
        if mistake == "page-zero":
            left = questions["gold_pages"].map(lambda pages: [page for page in pages if page])
            questions = questions.assign(gold_pages=left)[left.map(len) > 0]
        for measure in (doc_recall, page_recall):
            values = measure(run, questions, k).rename("value").reset_index()
            parts.append(values.assign(mistake=mistake, metric=measure.__name__))
    return pd.concat(parts, ignore_index=True)[["mistake", "question_id", "metric", "value"]]


def added_by_mistakes(values: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """What each mistake adds to the honest mean, with a percentile interval over draws of companies.

    Args:
        values: mistake, question_id, value; a mistake may leave questions out, which changes what its mean is over.
        resampling: the companies and the draws.

    Returns:
        mistake, n, mean, added, low, high; one row per mistake in the order of the values, the honest run included.
    """
    names = values["mistake"].unique()
    wide = values.pivot(index="question_id", columns="mistake", values="value")
    wide = wide.reindex(resampling.company.index)[names]
    draws = resampling.sums(wide.fillna(0)) / np.maximum(resampling.sums(wide.notna()), 1)
    added = draws - draws[:, list(names).index(HONEST)][:, None]
    means = wide.mean()
    return pd.DataFrame(
        {"n": wide.count(), "mean": means, "added": means - means[HONEST]}
        | dict(zip(("low", "high"), np.transpose([percentiles(draw) for draw in added.T]), strict=True))
    ).reset_index(names="mistake")
