"""Hypothetical passages: a language model writes what would answer the question, and that is searched instead.

HyDE (Gao, Ma, Lin & Callan, ACL 2023) searches with one passage's embedding, here Multi-HyDE's first; Multi-HyDE
(George et al., 2025) with the mean of several. Akarsu et al. (2026) ask for one passage with numbers, at temperature 0.
"""

import numpy as np

from lib.method import Search
from lib.models.vectors import encode_texts
from lib.retrievers.dense import score_vectors
from lib.retrievers.prompts import with_texts


def written_passages(search: Search, kind: str = "hyde") -> list[list[str]]:
    """The passages written for each question; a question without any is searched as it is."""
    return [texts or [question] for question, texts in with_texts(search, kind)]


def score(search: Search, candidates: np.ndarray, *, kind: str = "hyde") -> np.ndarray:
    """HyDE: ``dense`` with the first passage, embedded as a document, for the question; (n_questions, n_chunks)."""
    first = [texts[0] for texts in written_passages(search, kind)]
    return score_vectors(search, encode_texts(search, "embeddings/passages", first, is_pinned=True))


def score_multi(search: Search, candidates: np.ndarray) -> np.ndarray:
    """Multi-HyDE: ``dense`` with the mean of all passages, shape (n_questions, n_chunks)."""
    written = written_passages(search)
    vectors = encode_texts(search, "embeddings/passages", [text for texts in written for text in texts], is_pinned=True)
    parts = np.split(vectors.astype(np.float64), np.cumsum([len(texts) for texts in written])[:-1])
    means = [part.mean(axis=0) for part in parts]
    return score_vectors(search, np.stack([mean / np.linalg.norm(mean) for mean in means]).astype(np.float32))
