"""Retrieval with other texts in the questions' place: dense, BM25, and several lists fused question by question."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib import runs
from lib.models.index import encode_queries
from lib.retrievers.bm25 import index, tokenize
from lib.retrievers.dense import score_vectors
from lib.retrievers.fusion import fused_scores


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


def hybrid_scores(study, texts: Sequence[str], candidates: np.ndarray) -> np.ndarray:
    """As ``hybrid_rrf`` scores, with one text in each question's place, shape (n_questions, n_chunks)."""
    lists = [dense_run(study, texts, candidates), bm25_run(study, texts, candidates)]
    return fused_scores(study, lists, study.profile.hybrid_rrf.k_rrf)
