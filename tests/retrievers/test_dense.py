"""Dense scores: the best window of each chunk, as a plain loop finds it; a parent scores as its best child."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.retrievers import dense
from lib.retrievers.dense import best_window_scores, cosines


def test_equal_vectors_score_equally_wherever_they_stand(monkeypatch):
    monkeypatch.setattr(dense, "BLOCK", 100)
    draw = np.random.default_rng(0).normal
    queries, vectors = draw(size=(7, 384)).astype("f"), draw(size=(1009, 384)).astype("f")
    vectors[::9] = vectors[0]
    found = cosines(queries, vectors)
    assert (found[:, ::9] == found[:, :1]).all()
    np.testing.assert_allclose(found, queries @ vectors.T, atol=1e-3)
    assert found.dtype == np.float32


@given(st.lists(st.integers(0, 3), max_size=8), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_a_chunk_scores_as_its_best_window_and_without_one_is_not_retrieved(n_windows, n_queries, seed):
    owners = np.repeat(np.arange(len(n_windows)), n_windows)
    draw = np.random.default_rng(seed).normal
    queries, windows = draw(size=(n_queries, 5)).astype("f"), draw(size=(len(owners), 5)).astype("f")
    wanted = [[(windows[owners == n] @ one).max(initial=-np.inf) for n in range(len(n_windows))] for one in queries]
    got = best_window_scores(queries, windows, owners, len(n_windows))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, np.reshape(wanted, got.shape), atol=1e-5)


def test_a_chunk_scores_as_its_window_a_parent_as_its_best_child_and_other_texts_may_stand_for_questions(written_study):
    texts = ["net sales in the year cash flow rose", "net cash", "profit"]
    study = written_study(["cash flow", "profit"], texts)
    wanted = np.array([[2**-0.5, 1 / 2, 0], [0, 0, 1]])
    assert dense.score(study, None) == pytest.approx(wanted)
    assert dense.score_texts(study, ["profit", "cash flow"]) == pytest.approx(wanted[::-1])
    for _ in range(2):  # of three words with one shared: "year cash flow" is the question itself
        children = dense.score_children(study, np.ones((2, 3), bool))
        assert children == pytest.approx(np.array([[1, 1 / 2, 0], [0, 0, 1]]), abs=1e-6)
    of_first = ["net sales in", "in the year", "year cash flow", "flow rose"]
    assert [text for role, text in study.encoder.seen if role == "document"][3:] == [*of_first, "net cash", "profit"]
