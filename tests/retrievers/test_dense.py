"""Dense scores: the best window of each chunk, as a plain loop finds it; a parent scores as its best child."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.chunkings.sizes import children
from lib.models import index
from lib.retrievers import dense
from lib.retrievers.dense import best_window_scores, cosines

VALUES = st.floats(-1, 1, width=32)


@pytest.mark.parametrize("n_queries", [1, 7])
def test_equal_vectors_score_equally_wherever_they_stand(n_queries, monkeypatch):
    monkeypatch.setattr(dense, "BLOCK", 100)
    draw = np.random.default_rng(0).normal
    queries, vectors = draw(size=(n_queries, 384)).astype("f"), draw(size=(1009, 384)).astype("f")
    vectors[::9] = vectors[0]
    found = cosines(queries, vectors)
    assert (found[:, ::9] == found[:, :1]).all()
    np.testing.assert_allclose(found, queries @ vectors.T, atol=1e-3)
    assert found.dtype == np.float32


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


class FakeStudy:
    """A study over chunks of a fixed size, with a window of 256; ``with_chunks`` gives the other sizes."""

    def __init__(self, name, keys, others=None):
        self.chunking, self.others, self.kept = name, others or {}, {}
        self.chunks = pd.DataFrame({"key": keys, "text": [f"{name} {key}" for key in keys]})
        self.profile = SimpleNamespace(embedder=SimpleNamespace(window=256))

    def memo(self, key, compute):
        return self.kept.setdefault(key, compute())

    def with_chunks(self, name):
        return self.others[name]


@pytest.fixture
def encoded(monkeypatch):
    """Questions along two axes, chunks ``x`` along the first and others along the second; gives what was encoded."""
    seen = []

    def vectors(study, stage, texts, window):
        seen.append((stage, list(texts), window))
        return np.array([[1, 0] if text[-1] == "x" else [0, 1] for text in texts], np.float32)

    monkeypatch.setattr(dense, "question_vectors", lambda study: np.eye(2, dtype=np.float32))
    monkeypatch.setattr(dense, "text_vectors", vectors)
    return seen


@pytest.mark.parametrize(("name", "window"), [("fixed_128", 256), ("fixed_256", 256), ("fixed_512", 512)])
def test_a_chunk_of_a_fixed_size_is_one_vector_of_all_its_tokens(encoded, name, window):
    study = FakeStudy(name, ["x", "y", "x"])
    for _ in range(2):
        assert dense.score_whole(study, None).tolist() == [[1, 0, 1], [0, 1, 0]]
    assert encoded[0] == (f"embeddings/{name}", [f"{name} x", f"{name} y", f"{name} x"], window)


def test_a_longer_window_of_the_profile_stays(encoded):
    study = FakeStudy("fixed_512", ["x"])
    study.profile.embedder.window = 1026
    dense.score_whole(study, None)
    assert encoded[0][2] == 1026


def test_sizes_in_one_index_have_their_scores_side_by_side_and_copies_once(encoded):
    keys = {"fixed_128": ["x", "y"], "fixed_256": ["z", "y"], "fixed_512": ["x", "z", "x2"]}
    parts = {name: FakeStudy(name, of) for name, of in keys.items()}
    scores = dense.score_sizes(FakeStudy("fixed_aggregate", [], parts), None)
    assert scores.tolist() == [[1, 0, 0, 0], [0, 1, 1, 1]]  # x and y of 128, z of 256, x2 of 512


class CountingEncoder:
    """Unit vectors that count a few words: the cosine is what one expects of shared words."""

    words = ("net", "sales", "cash", "flow", "profit")

    def __init__(self):
        self.seen = []

    def encode(self, texts, role="document") -> np.ndarray:
        self.seen += [(role, text) for text in texts]
        counts = np.array([[text.lower().count(word) for word in self.words] for text in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True).clip(1e-12)


@pytest.fixture
def study_with_children(fake_study, tokenizer_folder, monkeypatch):
    embedder = {"weights": str(tokenizer_folder), "window": 64, "precision": "float32", "batch_size": 4}
    profile = {"embedder": embedder, "parent_child": {"size": 3, "overlap": 1}}
    texts = ["net sales in the year cash flow rose", "net cash", "profit"]
    made = fake_study(["cash flow", "profit"], texts, profile)
    made.encoder = CountingEncoder()
    monkeypatch.setattr(index, "load_encoder", lambda *args: made.encoder)
    return made


def test_children_are_short_spans_of_their_parents(study_with_children):
    table = children(study_with_children)
    of_first = ["net sales in", "in the year", "year cash flow", "flow rose"]
    assert table["text"].tolist() == [*of_first, "net cash", "profit"]
    assert table["chunk"].tolist() == [0, 0, 0, 0, 1, 2]


def test_a_parent_scores_as_its_best_child(study_with_children):
    scores = dense.score_children(study_with_children, np.ones((2, 3), bool))
    # "year cash flow" is the question itself; "net cash" shares one of two words.
    assert scores == pytest.approx(np.array([[1, 1 / 2, 0], [0, 0, 1]]), abs=1e-6)


def test_questions_and_children_are_encoded_in_their_roles_and_once(study_with_children):
    for _ in range(2):
        dense.score_children(study_with_children, np.ones((2, 3), bool))
    asked = [text for role, text in study_with_children.encoder.seen if role == "query"]
    assert asked == ["cash flow", "profit"]
    assert len(study_with_children.encoder.seen) == 2 + 6
