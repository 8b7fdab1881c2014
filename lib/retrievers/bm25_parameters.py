"""BM25 with other parameters than the study's own: ``k1 = 1.2, b = 0.75`` in Akarsu et al. (2026)."""

import numpy as np

from lib.retrievers.bm25 import BM25, tokenize


def score(study, candidates: np.ndarray, *, k1: float, b: float) -> np.ndarray:
    """BM25 of each chunk for each question, shape (n_questions, n_chunks); see :class:`lib.retrievers.bm25.BM25`."""

    def build() -> BM25:
        return BM25([tokenize(text) for text in study.chunks["text"]], k1, b)

    model = study.memo(("bm25", k1, b), build)
    return np.stack([model.scores(tokenize(question)) for question in study.questions["question"]])
