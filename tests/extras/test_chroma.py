"""Chroma's answer beside the exact one."""

import numpy as np
import pytest

from extras.chroma import chroma_collection
from lib.models.index import window_vectors
from lib.retrievers.dense import best_window_scores


@pytest.fixture
def make(fake_study):
    """A study of some texts; its windows are given by each test."""
    return lambda texts: fake_study(["?"], texts, {"embedder": {"weights": "given"}})


def overlap_at_10(study, queries: np.ndarray) -> float:
    """The mean share of the exact first 10 windows that Chroma finds."""
    owners, vectors = window_vectors(study)
    exact = np.argsort(-(queries @ vectors.T), axis=1, kind="stable")[:, :10]
    answer = chroma_collection(study).query(query_embeddings=queries, n_results=10)
    names = np.array([f"{study.chunks['chunk_id'].iloc[owner]}#w00" for owner in owners])
    return float(
        np.mean(
            [len(set(names[row]) & set(found)) / 10 for row, found in zip(exact, answer["ids"], strict=True)]
        )
    )


@pytest.fixture
def indexed(make):
    """A study whose 3,000 windows are unit vectors in 100 loose clusters, and 50 queries near some of them."""
    random = np.random.default_rng(13)
    centres = random.normal(size=(100, 64))
    vectors = centres[random.integers(100, size=3000)] + random.normal(size=(3000, 64))
    queries = vectors[random.choice(3000, size=50, replace=False)] + random.normal(size=(50, 64)) / 2
    vectors, queries = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (vectors, queries))
    study = make([f"text {n}" for n in range(3000)])
    study.kept["lib.models.index.window_vectors",] = np.arange(3000), vectors.astype("f")
    return study, queries.astype("f")


def test_chroma_agrees_with_exact_search(indexed):
    study, queries = indexed
    assert overlap_at_10(study, queries) >= 0.95


def test_chroma_s_distance_is_one_less_the_cosine(indexed):
    study, queries = indexed
    owners, vectors = window_vectors(study)
    answer = chroma_collection(study).query(query_embeddings=queries[:5], n_results=1)
    scores = best_window_scores(queries[:5], vectors, owners, 3000)
    best = scores.argmax(axis=1)
    assert [ids[0] for ids in answer["ids"]] == [f"DOC#p{page:04d}#c00#w00" for page in best]
    assert [1 - found[0] for found in answer["distances"]] == pytest.approx(
        scores.max(axis=1).tolist(), abs=1e-4
    )


def test_a_collection_that_was_left_short_is_filled_up(indexed, monkeypatch):
    study, queries = indexed
    whole = study.kept["lib.models.index.window_vectors",]
    study.kept["lib.models.index.window_vectors",] = whole[0][:1200], whole[1][:1200]
    assert chroma_collection(study).count() == 1200
    study.kept["lib.models.index.window_vectors",] = whole
    collection = chroma_collection(study)
    assert collection.count() == 3000
    last = collection.get(ids=["DOC#p2999#c00#w00"], include=["embeddings", "metadatas"])
    assert last["metadatas"] == [{"chunk_id": "DOC#p2999#c00", "doc_name": "DOC", "page": 2999}]
    assert last["embeddings"][0] == pytest.approx(whole[1][2999], abs=1e-6)
    assert overlap_at_10(study, queries) >= 0.95


def test_windows_of_one_chunk_have_their_own_records(make):
    study = make(["a", "b"])
    study.kept["lib.models.index.window_vectors",] = np.array([0, 0, 1]), np.eye(3, dtype="f")
    assert sorted(chroma_collection(study).get()["ids"]) == [
        "DOC#p0000#c00#w00",
        "DOC#p0000#c00#w01",
        "DOC#p0001#c00#w00",
    ]
