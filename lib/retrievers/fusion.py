"""Reciprocal rank fusion (Cormack, Clarke & Buettcher, SIGIR 2009)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.runs import rank
from lib.study import Study


def reciprocal_rank_fusion(
    runs: Sequence[pd.DataFrame], keys: pd.Series, k_rrf: int = 60
) -> dict[tuple[str, str], float]:
    """Fuse ranked lists by summing ``1 / (k_rrf + rank)``.

    Args:
        runs: ranked lists over the same questions; a chunk missing from a list adds nothing.
        keys: from chunk id to the key by which chunks of different lists are the same.
        k_rrf: smoothing constant; 60 in the source.

    Returns:
        From (question id, key) to the fused score.

    Raises:
        ValueError: the runs do not cover the same questions.
    """
    covered = [set(run["question_id"]) for run in runs]
    if any(questions != covered[0] for questions in covered):
        raise ValueError("the runs do not cover the same questions")
    fused: dict[tuple[str, str], float] = {}
    for run in runs:
        best = run.assign(key=run["chunk_id"].map(keys)).drop_duplicates(["question_id", "key"])
        ranks = best.groupby("question_id").cumcount() + 1
        for question_id, key, place in zip(best["question_id"], best["key"], ranks, strict=True):
            fused[question_id, key] = fused.get((question_id, key), 0.0) + 1 / (k_rrf + place)
    return fused


def ranked_list(study: Study, scores: np.ndarray, candidates: np.ndarray) -> pd.DataFrame:
    """The first ``hybrid_rrf.depth`` candidates by a score matrix (n_questions, n_chunks), as a run to be fused."""
    allowed = np.where(candidates, scores, -np.inf)
    return rank(allowed, study.questions, study.chunks, study.profile.hybrid_rrf.depth)


def fused_scores(study: Study, lists: Sequence[pd.DataFrame], k_rrf: int) -> np.ndarray:
    """Ranked lists fused question by question; they need not cover the same questions.

    Args:
        study: gives questions and chunks.
        lists: runs over the study's questions.
        k_rrf: smoothing constant; a small one lets the first ranks decide.

    Returns:
        Shape (n_questions, n_chunks); ``-inf`` for a chunk that no list holds.
    """
    keys = study.chunks.set_index("chunk_id")["key"]
    first_of = {key: column for column, key in reversed(list(enumerate(study.chunks["key"])))}
    parts = [dict(list(run.groupby("question_id"))) for run in lists]
    scores = np.full((len(study.questions), len(study.chunks)), -np.inf, np.float32)
    for row, question_id in enumerate(study.questions["question_id"]):
        held = [part[question_id] for part in parts if question_id in part]
        for (_, key), value in reciprocal_rank_fusion(held, keys, k_rrf).items():
            scores[row, first_of[key]] = value
    return scores


def score(study: Study, candidates: np.ndarray, *, k_rrf: int | None = None) -> np.ndarray:
    """The fused score of ``dense`` and ``bm25``, each ranked among the candidates, shape (n_questions, n_chunks).

    ``k_rrf`` is the profile's if it is not given (60 in the source; 10 to 100 in Akarsu et al., 2026).
    """
    settings = study.profile.hybrid_rrf
    lists = [study.rank_method(name, candidates, settings.depth) for name in ("dense", "bm25")]
    return fused_scores(study, lists, settings.k_rrf if k_rrf is None else k_rrf)
