"""Questions that a language model rewrites or lengthens before they are searched.

``multi_query``: the question and its rewrites are each searched densely and fused (Akarsu et al., 2026).
``keyword_query`` and ``lm_expansion``: the question with its key terms, or with related terms, behind it is searched by
dense and BM25, fused (Kim et al., 2025). What was not written is not made up: fewer lists are fused, or the question
stands alone.
"""

import numpy as np

from lib.retrievers.fusion import fused_scores
from lib.retrievers.hybrid_texts import dense_run, hybrid_scores
from lib.retrievers.texts import questions_of, rewrites, terms, write


def queries(study) -> list[list[str]]:
    """Each question and its different rewrites."""
    found = rewrites(study)
    return [[question, *found[question_id]] for question_id, question in questions_of(study).items()]


def score_multi_query(study, candidates: np.ndarray) -> np.ndarray:
    """The fused score of the dense lists of the question and its rewrites, shape (n_questions, n_chunks)."""
    texts = queries(study)
    lists = []
    for number in range(max(map(len, texts), default=0)):
        is_there = np.array([number < len(row) for row in texts])
        asked = [row[number] if number < len(row) else row[0] for row in texts]
        lists.append(dense_run(study, asked, candidates & is_there[:, None]))
    return fused_scores(study, lists, study.profile.hybrid_rrf.k_rrf)


def lengthened(study, kind: str) -> list[str]:
    """Each question with the written text of a kind behind it."""
    written = study.memo(("siblings", kind), lambda: write(study, kind).of)
    return [
        f"{question} {terms(written.get(question_id, ''))}".strip()
        for question_id, question in questions_of(study).items()
    ]


def score_lengthened(study, candidates: np.ndarray, *, kind: str) -> np.ndarray:
    """Hybrid scores of the lengthened questions, shape (n_questions, n_chunks); ``kind``: keywords or expansion."""
    return hybrid_scores(study, lengthened(study, kind), candidates)


def keyword_texts(study) -> list[str]:
    """What ``keyword_query`` searches for."""
    return lengthened(study, "keywords")


def expansion_texts(study) -> list[str]:
    """What ``lm_expansion`` searches for."""
    return lengthened(study, "expansion")
