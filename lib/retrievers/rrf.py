"""Reciprocal rank fusion with another constant (Cormack et al., 2009; k = 10 to 100 in Akarsu et al., 2026)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.retrievers.fusion import reciprocal_rank_fusion


def fused(study, candidates: np.ndarray, lists: Sequence[pd.DataFrame], k_rrf: int) -> np.ndarray:
    """The fused score of ranked lists as a matrix (n_questions, n_chunks), ``-inf`` where no list has a chunk.

    Args:
        study: gives questions and chunks.
        candidates: boolean, (n_questions, n_chunks).
        lists: runs over the study's questions.
        k_rrf: smoothing constant; a small one lets the first ranks decide.
    """
    values = reciprocal_rank_fusion(lists, study.chunks.set_index("chunk_id")["key"], k_rrf)
    first_of = {key: column for column, key in reversed(list(enumerate(study.chunks["key"])))}
    row_of = {question_id: row for row, question_id in enumerate(study.questions["question_id"])}
    scores = np.full(candidates.shape, -np.inf, np.float32)
    for (question_id, key), value in values.items():
        scores[row_of[question_id], first_of[key]] = value
    return scores


def score(study, candidates: np.ndarray, *, k_rrf: int) -> np.ndarray:
    """``dense`` and ``bm25`` fused with the given constant; with the profile's it is ``hybrid_rrf``."""
    depth = study.profile.hybrid_rrf.depth
    lists = [study.rank_method(name, candidates, depth) for name in ("dense", "bm25")]
    return fused(study, candidates, lists, k_rrf)
