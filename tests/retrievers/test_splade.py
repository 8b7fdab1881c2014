"""SPLADE's scores: sparse dot products as dense arithmetic has them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from lib.models.sparse import TERM, to_matrix
from lib.retrievers.splade import dot_products


def rows_of(*texts: dict[int, float], width: int = 4) -> np.ndarray:
    """Texts as records (term, weight), 0 where unused."""
    rows = np.zeros((len(texts), width), TERM)
    for row, text in zip(rows, texts, strict=True):
        row[: len(text)] = list(text.items())
    return rows


def test_dot_products_by_hand():
    queries = to_matrix(rows_of({0: 1.0, 2: 2.0}), 3)
    documents = to_matrix(rows_of({2: 0.5}, {0: 3.0, 1: 9.0}, {1: 1.0}), 3)
    assert dot_products(queries, documents).tolist() == [[1.0, 3.0, 0.0]]


def test_vocabularies_may_differ_in_length():
    queries, documents = to_matrix(rows_of({7: 2.0}), 8), to_matrix(rows_of({1: 1.0}, {0: 4.0}), 2)
    assert dot_products(queries, documents).tolist() == [[0.0, 0.0]]
    assert dot_products(documents, queries).tolist() == [[0.0], [0.0]]


def test_unused_places_are_no_terms():
    matrix = to_matrix(rows_of({0: 1.5, 3: 2.0}, {}), 5)
    assert matrix.toarray().tolist() == [[1.5, 0, 0, 2.0, 0], [0, 0, 0, 0, 0]]
    assert matrix.nnz == 2


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_equals_dense_arithmetic(n_queries, n_documents, query_terms, document_terms, seed):
    draw = np.random.default_rng(seed)
    queries = draw.random((n_queries, query_terms)) * (draw.random((n_queries, query_terms)) < 0.4)
    documents = draw.random((n_documents, document_terms)) * (
        draw.random((n_documents, document_terms)) < 0.4
    )
    shared = min(query_terms, document_terms)
    wanted = queries[:, :shared] @ documents[:, :shared].T
    got = dot_products(sparse.csr_array(queries), sparse.csr_array(documents))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, wanted, rtol=1e-6)
