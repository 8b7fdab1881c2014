"""Dense scores: the best window of each chunk, as a plain loop finds it; a parent scores as its best child."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.chunkings.sizes import children
from lib.retrievers import dense, element_metadata
from lib.retrievers.dense import best_window_scores
from lib.retrievers.element_metadata import keywords, metadata_of, sentences_of

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


def test_a_chunk_scores_by_the_mean_of_its_windows():
    vectors = np.array([[1, 0], [0, 1], [0, 1]], np.float32)
    chunks, means = dense.mean_vectors(np.array([0, 0, 2]), vectors)
    assert chunks.tolist() == [0, 2]
    assert means == pytest.approx(np.array([[2**-0.5, 2**-0.5], [0, 1]]))
    empty = dense.mean_vectors(np.array([], int), np.zeros((0, 2)))
    assert [len(part) for part in empty] == [0, 0]


class FakeStudy:
    """A study over a chunk table whose vectors are given; ``with_chunks`` gives the parts."""

    def __init__(self, vectors, owners, texts=(), parts=None):
        self.parts = parts or {}
        self.vectors, self.owners = np.asarray(vectors, np.float32), np.asarray(owners)
        self.questions = pd.DataFrame({"question": ["q0", "q1"]})
        self.chunks = pd.DataFrame({"text": list(texts) or [""] * (max(owners) + 1)})
        self.kept = {}

    def memo(self, key, compute):
        return self.kept.setdefault(key, compute())

    def with_chunks(self, name):
        return self.parts[name]


@pytest.fixture
def vectors(monkeypatch):
    """Two questions along the axes; metadata are vectors along the second axis."""
    monkeypatch.setattr(dense, "encode_queries", lambda study, texts: np.eye(2, dtype=np.float32))
    monkeypatch.setattr(dense, "window_vectors", lambda study: (study.owners, study.vectors))
    encoded = lambda study, stage, texts: np.tile(np.float32([0, 0.9]), (len(texts), 1))  # noqa: E731
    monkeypatch.setattr(element_metadata, "encode_texts", encoded)


def test_best_and_mean_differ_where_a_chunk_has_several_windows(vectors):
    study = FakeStudy([[1, 0], [0, 1], [0, 1]], [0, 0, 1])
    assert dense.score(study, None).tolist() == [[1, 0], [1, 1]]
    mean = dense.score(study, None, pooling="mean")
    assert mean == pytest.approx(np.array([[2**-0.5, 0], [2**-0.5, 1]]))


def test_an_aggregate_has_the_scores_of_its_parts_side_by_side(vectors):
    parts = {
        "elements": FakeStudy([[1, 0]], [0]),
        "fixed_128": FakeStudy([[0, 1], [1, 0]], [0, 1]),
        "fixed_256": FakeStudy([[0, 1]], [0]),
    }
    scores = dense.score_aggregate(FakeStudy([[0, 0]], [0], parts=parts), None)
    assert scores.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1]]


def test_metadata_raise_a_score_and_never_lower_it(vectors):
    long = "Goodwill was impaired in the year, which lowered income by much. " * 12
    study = FakeStudy([[1, 0], [0, 1]], [0, 1], texts=[long, "short"])
    assert element_metadata.score(study, None) == pytest.approx(np.array([[1, 0], [0.9, 1]]))


def test_metadata_are_keywords_a_summary_and_two_sentences():
    filler = "The company sells what it makes to those who buy it in all parts of the world. " * 8
    long = f"Impairment of goodwill was large. Goodwill fell. Impairment, impairment of goodwill! {filler}"
    said = metadata_of(["short", long, *[filler] * 9])
    assert said[0] == ""
    assert said[1].startswith("goodwill, impairment, ")
    assert said[1].endswith(". Impairment of goodwill was large. Goodwill fell")
    assert metadata_of([]) == []
    assert metadata_of(["", " "]) == ["", ""]


def test_sentences_are_cut_and_freed_of_blanks():
    assert sentences_of("Net  sales\nrose. Cash fell.\n\nNotes") == ["Net sales rose.", "Cash fell.", "Notes"]
    assert [len(one) for one in sentences_of("a" * 500)] == [200]


def test_keywords_are_the_heaviest_terms():
    from scipy.sparse import csr_array

    terms = np.array(["assets", "cash", "debt", "equity", "fees", "goodwill", "hedges"])
    row = csr_array(np.array([[0.1, 0.5, 0.0, 0.5, 0.9, 0.2, 0.3]]))
    assert keywords(row, terms) == ["fees", "cash", "equity", "hedges", "goodwill", "assets"]


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
    monkeypatch.setattr("lib.models.index.Encoder", lambda *args: made.encoder)
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
