"""Questions that a language model rewrites or lengthens before they are searched.

``multi_query``: the question and its rewrites are each searched densely and fused (Akarsu et al., 2026).
``keyword_query`` and ``lm_expansion``: the question with its key terms, or with related terms, behind it is searched by
dense and BM25, fused (Kim et al., 2025). What was not written is not made up: fewer lists are fused, or the question
stands alone.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.models.index import encode_queries
from lib.retrievers.bm25 import index, text_scores
from lib.retrievers.dense import score_vectors
from lib.retrievers.fusion import fused_scores, ranked_list
from lib.retrievers.texts import questions_of, rewrites, terms, write
from lib.study import Study


def dense_run(study: Study, texts: Sequence[str], candidates: np.ndarray) -> pd.DataFrame:
    """The first ``hybrid_rrf.depth`` candidates by cosine with each text; one text per question."""
    return ranked_list(study, score_vectors(study, encode_queries(study, list(texts))), candidates)


def bm25_run(study: Study, texts: Sequence[str], candidates: np.ndarray) -> pd.DataFrame:
    """The first ``hybrid_rrf.depth`` candidates by BM25 for each text; one text per question."""
    return ranked_list(study, text_scores(index(study), texts), candidates)


def hybrid_scores(study: Study, texts: Sequence[str], candidates: np.ndarray) -> np.ndarray:
    """As ``hybrid_rrf`` scores, with one text in place of each question, shape (n_questions, n_chunks)."""
    lists = [dense_run(study, texts, candidates), bm25_run(study, texts, candidates)]
    return fused_scores(study, lists, study.profile.hybrid_rrf.k_rrf)


def queries(study: Study) -> list[list[str]]:
    """Each question and its different rewrites."""
    found = rewrites(study)
    return [[question, *found[question_id]] for question_id, question in questions_of(study).items()]


def score_multi_query(study: Study, candidates: np.ndarray) -> np.ndarray:
    """The fused score of the dense lists of the question and its rewrites, shape (n_questions, n_chunks)."""
    texts = queries(study)
    lists = []
    for number in range(max(map(len, texts), default=0)):
        is_there = np.array([number < len(row) for row in texts])
        asked = [row[number] if number < len(row) else row[0] for row in texts]
        lists.append(dense_run(study, asked, candidates & is_there[:, None]))
    return fused_scores(study, lists, study.profile.hybrid_rrf.k_rrf)


def lengthened(study: Study, kind: str) -> list[str]:
    """Each question with the written text of a kind (``keywords`` or ``expansion``) behind it."""
    written = study.memo(("siblings", kind), lambda: write(study, kind).texts)
    return [
        f"{question} {terms(written.get(question_id, ''))}".strip()
        for question_id, question in questions_of(study).items()
    ]


def score_lengthened(study: Study, candidates: np.ndarray, *, kind: str) -> np.ndarray:
    """Hybrid scores of the lengthened questions, shape (n_questions, n_chunks)."""
    return hybrid_scores(study, lengthened(study, kind), candidates)
