"""Dense scores: the best window of each chunk, as a plain loop finds it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.retrievers.dense import best_window_scores

VALUES = st.floats(-1, 1, width=32)


def test_a_chunk_scores_as_its_best_window():
    queries = np.array([[1, 0], [0, 1]], np.float32)
    windows = np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32)
    scores = best_window_scores(queries, windows, np.array([0, 0, 1]), 2)
    assert scores == pytest.approx(np.array([[1, 0], [0.8, 1]]))


def test_a_chunk_without_a_window_is_not_retrieved():
    scores = best_window_scores(np.ones((1, 2), np.float32), np.ones((1, 2), np.float32), np.array([1]), 3)
    assert scores.tolist() == [[-np.inf, 2, -np.inf]]


def test_no_window_at_all():
    assert (best_window_scores(np.ones((2, 3)), np.zeros((0, 3)), np.zeros(0, int), 4) == -np.inf).all()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_equals_a_plain_loop(n_windows, n_queries, seed):
    owners = np.repeat(np.arange(len(n_windows)), n_windows)
    draw = np.random.default_rng(seed).normal
    queries, windows = draw(size=(n_queries, 5)).astype("f"), draw(size=(len(owners), 5)).astype("f")
    wanted = np.full((n_queries, len(n_windows)), -np.inf)
    for row, query in enumerate(queries):
        for owner, window in zip(owners, windows, strict=True):
            wanted[row, owner] = max(wanted[row, owner], float(query @ window))
    got = best_window_scores(queries, windows, owners, len(n_windows))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, wanted, atol=1e-5)
