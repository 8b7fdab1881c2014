"""SPLADE's scores: sparse dot products as dense arithmetic has them."""

import numpy as np

from lib.models.sparse import TERM, to_matrix
from lib.retrievers import splade


def test_scores_are_dot_products_and_unused_places_are_no_terms(fake_study, monkeypatch):
    """Texts are records (term, weight), 0 where unused."""
    texts = [[(2, 0.5), (0, 0)], [(0, 3.0), (1, 9.0)], [(1, 1.0), (0, 0)]], [[(0, 1.0), (2, 2.0)], [(7, 2.0), (0, 0)]]
    chunks, queries = (to_matrix(np.array(rows, TERM)) for rows in texts)
    assert chunks.nnz == 4
    vectors = {"sparse/queries": queries, "sparse/chunks": chunks}
    monkeypatch.setattr(splade, "sparse_vectors", lambda study, stage, *_, **__: vectors[stage])
    scores = splade.score(fake_study(["?", "?"], ["a", "b", "c"], {}), None)
    assert scores.tolist() == [[1.0, 3.0, 0.0], [0.0, 0.0, 0.0]]
    assert scores.dtype == np.float32
