"""SPLADE (Formal, Piwowarski & Clinchant, SIGIR 2021): learned sparse vectors and their dot product."""

import numpy as np
from scipy import sparse

from lib.method import Search, memoized
from lib.models.sparse import sparse_vectors


@memoized
def chunk_vectors(search: Search) -> sparse.csr_array:
    """The sparse vectors of the chunks, shape (n_chunks, n_terms)."""
    return sparse_vectors(search, "sparse/chunks", search.chunks["text"].tolist())


def score(search: Search, candidates: np.ndarray) -> np.ndarray:
    """Sparse dot product of each question with each chunk, shape (n_questions, n_chunks); 0 without a shared term."""
    queries = sparse_vectors(search, "sparse/queries", search.questions["question"].tolist(), role="query")
    return (queries @ chunk_vectors(search).T).toarray().astype(np.float32)
