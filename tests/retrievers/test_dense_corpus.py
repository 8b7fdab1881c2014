"""Dense retrieval over another chunk table, its parts in one index, and metadata beside it."""

import numpy as np
import pytest

from lib.retrievers import dense, dense_corpus, element_metadata


def test_a_chunk_scores_by_the_mean_of_its_windows():
    vectors = np.array([[1, 0], [0, 1], [0, 1]], np.float32)
    chunks, means = dense_corpus.mean_vectors(np.array([0, 0, 2]), vectors)
    assert chunks.tolist() == [0, 2]
    assert means == pytest.approx(np.array([[2**-0.5, 2**-0.5], [0, 1]]))
    empty = dense_corpus.mean_vectors(np.array([], int), np.zeros((0, 2)))
    assert [len(part) for part in empty] == [0, 0]


class FakeStudy:
    """A study over a chunk table whose vectors are given; ``over`` gives the parts."""

    def __init__(self, vectors, owners, texts=(), parts=None):
        import pandas as pd

        self.base, self.corpus, self.parts = self, "elements", parts or {}
        self.vectors, self.owners = np.asarray(vectors, np.float32), np.asarray(owners)
        self.questions = pd.DataFrame({"question": ["q0", "q1"]})
        self.chunks = pd.DataFrame({"text": list(texts) or [""] * (max(owners) + 1)})
        self.kept = {}

    def memo(self, key, compute):
        return self.kept.setdefault(key, compute())

    def over(self, name):
        return self.parts[name]


@pytest.fixture
def vectors(monkeypatch):
    """Two questions along the axes; metadata are vectors along the second axis."""
    monkeypatch.setattr(dense_corpus, "encode_queries", lambda study, texts: np.eye(2, dtype=np.float32))
    monkeypatch.setattr(dense_corpus, "window_vectors_of", lambda study: (study.owners, study.vectors))
    monkeypatch.setattr(element_metadata, "encode_queries", lambda study, texts: np.eye(2, dtype=np.float32))
    encoded = lambda study, stage, texts: np.tile(np.float32([0, 0.9]), (len(texts), 1))  # noqa: E731
    monkeypatch.setattr(element_metadata, "encode_texts", encoded)


def test_best_and_mean_differ_where_a_chunk_has_several_windows(vectors):
    study = FakeStudy([[1, 0], [0, 1], [0, 1]], [0, 0, 1])
    assert dense_corpus.score(study, None).tolist() == [[1, 0], [1, 1]]
    mean = dense_corpus.score(study, None, pooling="mean")
    assert mean == pytest.approx(np.array([[2**-0.5, 0], [2**-0.5, 1]]))
    with pytest.raises(ValueError, match="say best or mean"):
        dense_corpus.score(study, None, pooling="max")


def test_over_the_study_s_own_chunks_it_is_dense(monkeypatch, vectors):
    study = FakeStudy([[1, 0], [0, 1]], [0, 1])
    study.corpus = ""
    for module in (dense, dense_corpus):
        monkeypatch.setattr(module, "window_vectors", lambda study: (study.owners, study.vectors))
    monkeypatch.setattr(dense, "encode_queries", lambda study, texts: np.eye(2, dtype=np.float32))
    assert dense_corpus.score(study, None).tolist() == dense.score(study, None).tolist()


def test_an_aggregate_has_the_scores_of_its_parts_side_by_side(vectors):
    parts = {
        "elements": FakeStudy([[1, 0]], [0]),
        "fixed_128": FakeStudy([[0, 1], [1, 0]], [0, 1]),
        "fixed_256": FakeStudy([[0, 1]], [0]),
    }
    scores = dense_corpus.score_aggregate(FakeStudy([[0, 0]], [0], parts=parts), None)
    assert scores.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1]]


def test_metadata_raise_a_score_and_never_lower_it(vectors):
    long = "Goodwill was impaired in the year, which lowered income by much. " * 12
    study = FakeStudy([[1, 0], [0, 1]], [0, 1], texts=[long, "short"])
    assert element_metadata.score(study, None) == pytest.approx(np.array([[1, 0], [0.9, 1]]))
