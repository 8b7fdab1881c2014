"""Dense scores: the best window of each chunk, as a plain loop finds it; a parent scores as its best child."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
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
    wanted = np.full((n_queries, len(n_windows)), -np.inf)
    for row, query in enumerate(queries):
        for owner, window in zip(owners, windows, strict=True):
            wanted[row, owner] = max(wanted[row, owner], float(query @ window))
    got = best_window_scores(queries, windows, owners, len(n_windows))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, wanted, atol=1e-5)


def fixed_sizes(name: str, keys: list[str], others: dict | None = None, window: int = 256) -> SimpleNamespace:
    """A study over chunks of a fixed size; ``over`` gives the other sizes."""
    chunks = pd.DataFrame({"key": keys, "text": keys})
    profile = SimpleNamespace(embedder=SimpleNamespace(window=window))
    rest = {"over": (others or {}).get, "memo": lambda key, compute: compute()}
    return SimpleNamespace(chunking=name, chunks=chunks, profile=profile, **rest)


@pytest.fixture
def encoded(monkeypatch):
    """Questions along two axes, chunks ``x`` along the first and others along the second; gives what was encoded."""
    seen = []

    def vectors(study, stage, texts, window):
        seen.append((stage, list(texts), window))
        return np.array([[1, 0] if text == "x" else [0, 1] for text in texts], np.float32)

    monkeypatch.setattr(dense, "question_vectors", lambda study: np.eye(2, dtype=np.float32))
    monkeypatch.setattr(dense, "text_vectors", vectors)
    return seen


@pytest.mark.parametrize(
    ("name", "own", "window"), [("fixed_128", 256, 256), ("fixed_512", 256, 512), ("fixed_512", 1026, 1026)]
)
def test_a_chunk_of_a_fixed_size_is_one_vector_of_all_its_tokens(encoded, name, own, window):
    study = fixed_sizes(name, ["x", "y", "x"], window=own)
    assert dense.score_whole(study, None).tolist() == [[1, 0, 1], [0, 1, 0]]
    assert encoded == [(f"embeddings/{name}", ["x", "y", "x"], window)]


def test_sizes_in_one_index_have_their_scores_side_by_side_and_copies_once(encoded):
    keys = {"fixed_128": ["x", "y"], "fixed_256": ["z", "y"], "fixed_512": ["x", "z", "x2"]}
    parts = {name: fixed_sizes(name, of) for name, of in keys.items()}
    scores = dense.score_sizes(fixed_sizes("fixed_aggregate", [], parts), None)
    assert scores.tolist() == [[1, 0, 0, 0], [0, 1, 1, 1]]  # x and y of 128, z of 256, x2 of 512


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
