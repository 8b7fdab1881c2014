"""What known slips of measuring add to the page scorer's score, one at a time.

Each slip is one that published code for this method has made. It is added alone to the honest run, and the difference is
reported with its interval; nothing outside this module uses a slipped score.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
import torch

from lib import runs
from lib.folds import By, Fold
from lib.metrics.retrieval import doc_recall, page_recall
from lib.models import page_scorer_light as light
from lib.models.index import window_vectors
from lib.models.page_scorer import checked_pairs, folds, stored_scores
from lib.retrievers.dense import best_window_scores
from lib.retrievers.page_then_chunk import chunks_on_pages, pages_of_chunks, rank_pages, scorer_scores, search

HONEST = "none"
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
    parts = [f(run, questions, k).rename("value").reset_index().assign(metric=f.__name__) for f in (doc_recall, page_recall)]
    return pd.concat(parts, ignore_index=True)[["question_id", "metric", "value"]]


def light_slips(study, by: By = "company", k: int = 5) -> pd.DataFrame:
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
    return _stacked(study, matrices, k)


def _stacked(study, matrices: dict[str, np.ndarray], k: int) -> pd.DataFrame:
    parts = [values_of(study, m, k, slip == "page-zero").assign(slip=slip) for slip, m in matrices.items()]
    return pd.concat(parts, ignore_index=True)[["slip", "question_id", "metric", "value"]]


def _slipped(study, by: By, slip: str, score_fold: Callable) -> np.ndarray:
    params = {
        "slip": slip,
        "by": by,
        "settings": study.settings_of(("page_scorer_light", "embedder")),
        "chunks": study.chunks_digest,
        "n_pages": study.profile.page_scorer.pages,
    }
    entry = stored_scores(study, "page_scorer_light/slips", params, folds(study, by), partial(score_fold, study))
    return np.load(entry.path / "scores.npy")


def _light_fold(study, fold: Fold, n_copies: int = 0, without_page_zero: bool = False) -> tuple[np.ndarray, dict]:
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
    from lib.retrievers import dense

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
        scores[rows] = best_window_scores(queries, mapped, owners, len(study.chunks))
    pages = pages_of_chunks(study)
    return chunks_on_pages(scores, rank_pages(page_scores, pages, candidates, study.profile.page_scorer.pages), pages)


def slip_table(values: pd.DataFrame, clusters: pd.Series, n_draws: int, seed: int, level: float = 0.95) -> pd.DataFrame:
    """What each slip adds to the honest mean, with an interval.

    Args:
        values: slip, question_id, metric, value; a slip may leave questions out, which changes what its mean is over.
        clusters: the company of each question, indexed by question_id.
        n_draws, seed, level: of the percentile bootstrap that draws whole companies.

    Returns:
        slip, metric, n, mean, added, low, high.
    """
    codes, names = pd.factorize(clusters)
    counts = np.random.default_rng(seed).multinomial(len(names), np.full(len(names), 1 / len(names)), size=n_draws)
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
