"""What known slips of measuring add to the page scorer's score, one at a time.

Each slip is one that published code for this method has made. It is added alone to the honest run, and the difference
is reported with its interval; nothing outside this package uses a slipped score.
"""

import numpy as np
import pandas as pd

from lib import runs
from lib.metrics.retrieval import doc_recall, page_recall
from lib.stats import cluster_draws

HONEST = "none"
PAGES = 20  # that stage two searches in every slip, as published, whatever the profile keeps
SLIPS = {
    HONEST: "none: the honest run",
    "page-zero": "gold page 0 is lost (`if page` on a number), in training and in the gold standard",
    "repeats": "a pair can be its own negative (sampled several times into a batch)",
    "epoch": "the length of training is chosen on the test fold",
    "chunks": "chunks are embedded with the trained model, not with the base encoder",
}


def values_of(study, scores: np.ndarray, k: int = 5, lose_page_zero: bool = False) -> pd.DataFrame:
    """doc_recall and page_recall at k of a chunk score matrix: question_id, metric, value.

    With ``lose_page_zero`` the gold standard is the slipped one, and a question without a gold page left is missing.
    """
    questions = study.questions
    run = runs.rank(scores, questions, study.chunks, k)
    if lose_page_zero:
        kept = questions["gold_pages"].map(lambda pages: [page for page in pages if page])
        questions = questions.assign(gold_pages=kept)[kept.map(len) > 0]
    parts = [
        f(run, questions, k).rename("value").reset_index().assign(metric=f.__name__)
        for f in (doc_recall, page_recall)
    ]
    return pd.concat(parts, ignore_index=True)[["question_id", "metric", "value"]]


def slip_values(study, matrices: dict[str, np.ndarray], k: int) -> pd.DataFrame:
    """Each slip's values: slip, question_id, metric, value.

    Args:
        study: gives the questions and the chunks.
        matrices: from slip to its chunk scores (n_questions, n_chunks).
        k: depth of the metrics.
    """
    parts = [values_of(study, m, k, slip == "page-zero").assign(slip=slip) for slip, m in matrices.items()]
    return pd.concat(parts, ignore_index=True)[["slip", "question_id", "metric", "value"]]


def slip_table(
    values: pd.DataFrame, clusters: pd.Series, n_draws: int, seed: int, level: float = 0.95
) -> pd.DataFrame:
    """What each slip adds to the honest mean, with an interval.

    Args:
        values: slip, question_id, metric, value; a slip may leave questions out, which changes what its mean is over.
        clusters: the company of each question, indexed by question_id.
        n_draws, seed, level: of the percentile bootstrap that draws whole companies.

    Returns:
        slip, metric, n, mean, added, low, high.
    """
    codes, names = pd.factorize(clusters)
    counts = cluster_draws(len(names), n_draws, seed)
    rows = []
    for metric, part in values.groupby("metric", sort=False):
        wide = part.pivot(index="question_id", columns="slip", values="value").reindex(clusters.index)

        def resampled(slip: str, wide=wide) -> np.ndarray:
            there = wide[slip].notna().to_numpy()
            sums = np.bincount(codes, np.where(there, wide[slip], 0.0), len(names))
            return (counts @ sums) / np.maximum(counts @ np.bincount(codes, there, len(names)), 1)

        honest = resampled(HONEST)
        for slip in part["slip"].unique():
            mean = wide[slip].mean()
            low, high = np.quantile(resampled(slip) - honest, [(1 - level) / 2, (1 + level) / 2])
            rows.append((slip, metric, int(wide[slip].count()), mean, mean - wide[HONEST].mean(), low, high))
    return pd.DataFrame(rows, columns=["slip", "metric", "n", "mean", "added", "low", "high"])
