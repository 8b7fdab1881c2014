"""Retrieval with other texts in the questions' place: dense, BM25, and several lists fused question by question."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib import runs
from lib.models.index import encode_queries
from lib.retrievers.bm25 import index, tokenize
from lib.retrievers.dense import score_vectors
from lib.retrievers.fusion import reciprocal_rank_fusion


def dense_run(study, texts: Sequence[str], candidates: np.ndarray) -> pd.DataFrame:
    """The first ``hybrid_rrf.depth`` candidates by cosine with each text; one text a question."""
    return _ranked(study, score_vectors(study, encode_queries(study, list(texts))), candidates)


def bm25_run(study, texts: Sequence[str], candidates: np.ndarray) -> pd.DataFrame:
    """The first ``hybrid_rrf.depth`` candidates by BM25 for each text; one text a question."""
    model = index(study)
    return _ranked(study, np.stack([model.scores(tokenize(text)) for text in texts]), candidates)


def _ranked(study, scores: np.ndarray, candidates: np.ndarray) -> pd.DataFrame:
    allowed = np.where(candidates, scores, -np.inf)
    return runs.rank(allowed, study.questions, study.chunks, study.profile.hybrid_rrf.depth)


def fused_scores(study, lists: Sequence[pd.DataFrame]) -> np.ndarray:
    """Reciprocal rank fusion of runs that need not cover the same questions.

    Returns:
        Shape (n_questions, n_chunks); ``-inf`` for a chunk that no list holds.
    """
    keys = study.chunks.set_index("chunk_id")["key"]
    first_of = {key: column for column, key in reversed(list(enumerate(study.chunks["key"])))}
    parts = [dict(list(run.groupby("question_id"))) for run in lists]
    scores = np.full((len(study.questions), len(study.chunks)), -np.inf, np.float32)
    for row, question_id in enumerate(study.questions["question_id"]):
        held = [part[question_id] for part in parts if question_id in part]
        fused = reciprocal_rank_fusion(held, keys, study.profile.hybrid_rrf.k_rrf)
        for (_, key), value in fused.items():
            scores[row, first_of[key]] = value
    return scores


def hybrid_scores(study, texts: Sequence[str], candidates: np.ndarray) -> np.ndarray:
    """As ``hybrid_rrf`` scores, with one text in each question's place, shape (n_questions, n_chunks)."""
    return fused_scores(study, [dense_run(study, texts, candidates), bm25_run(study, texts, candidates)])
