"""SPLADE (Formal, Piwowarski & Clinchant, SIGIR 2021): learned sparse vectors and their dot product."""

import numpy as np
from scipy import sparse

from lib.models.sparse import sparse_vectors
from lib.study import Study


def dot_products(queries: sparse.csr_array, documents: sparse.csr_array) -> np.ndarray:
    """The dot product of every query with every document, shape (n_queries, n_documents); 0 without a shared term."""
    width = max(queries.shape[1], documents.shape[1])
    parts = [((m.data, m.indices, m.indptr), (m.shape[0], width)) for m in (queries, documents)]
    queries, documents = (sparse.csr_array(data, shape=shape) for data, shape in parts)
    return (queries @ documents.T).toarray().astype(np.float32)


def score(study: Study, candidates: np.ndarray) -> np.ndarray:
    """Sparse dot product of each question with each chunk, shape (n_questions, n_chunks)."""
    index = lambda: sparse_vectors(study, "sparse/chunks", study.chunks["text"].tolist())  # noqa: E731
    documents = study.memo("sparse_chunks", index)
    queries = sparse_vectors(study, "sparse/queries", study.questions["question"].tolist(), role="query")
    return dot_products(queries, documents)
