"""Reciprocal rank fusion (Cormack, Clarke & Buettcher, SIGIR 2009)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


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


def score(study, candidates: np.ndarray) -> np.ndarray:
    """The fused score of ``dense`` and ``bm25``, each ranked among the candidates, shape (n_questions, n_chunks)."""
    settings = study.profile.hybrid_rrf
    lists = [study.rank_method(name, candidates, settings.depth) for name in ("dense", "bm25")]
    chunks = study.chunks.set_index("chunk_id")["key"]
    fused = reciprocal_rank_fusion(lists, chunks, settings.k_rrf)
    first_of = {key: column for column, key in reversed(list(enumerate(study.chunks["key"])))}
    row_of = {question_id: row for row, question_id in enumerate(study.questions["question_id"])}
    scores = np.full(candidates.shape, -np.inf, np.float32)
    for (question_id, key), value in fused.items():
        scores[row_of[question_id], first_of[key]] = value
    return scores
