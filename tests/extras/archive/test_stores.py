"""Stores of vectors behind one interface: they agree with exact search, resume a build, and filter first."""

import numpy as np
import pandas as pd
import pytest

from extras.archive.compare import chroma_server, filled
from extras.archive.stores import Chroma, Exact, Lance, _equals
from lib.words import StudyError

N, K = 600, 5


@pytest.fixture(scope="module")
def given():
    vectors = np.random.default_rng(0).normal(size=(N, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.arange(N)
    about = {"doc_name": [f"F{n % 30}" for n in rows], "company": [f"C'{n % 7}" for n in rows]}
    return vectors, pd.DataFrame(about | {"year": 2015 + rows % 5})


def agrees(store, vectors, about):
    exact = filled(Exact(), vectors, about)
    for where in (None, {"doc_name": "F3"}, {"company": "C'2", "year": 2016}):
        wanted, found = (one.search(vectors[0], K, where) for one in (exact, store))
        assert found.rows.tolist() == wanted.rows.tolist()
        np.testing.assert_allclose(found.scores, wanted.scores, atol=1e-5)
    return True


def test_exact_search_is_the_largest_cosines(given):
    vectors, about = given
    store = filled(Exact(), vectors, about)
    assert store.search(vectors[7], 1).rows.tolist() == [7]
    found = store.search(vectors[7], K, {"doc_name": "F3"})
    assert (found.rows % 30 == 3).all()


def test_chroma_in_a_folder_agrees_and_goes_on_where_it_stopped(given, tmp_path):
    vectors, about = given
    Chroma("windows", tmp_path).add(vectors[:250], about[:250])
    store = Chroma("windows", tmp_path)
    assert store.count() == 250
    assert agrees(filled(store, vectors, about), vectors, about)


def test_chroma_finds_nearly_what_exact_search_finds_in_clusters(tmp_path):
    random = np.random.default_rng(13)
    centres = random.normal(size=(100, 64))
    vectors = centres[random.integers(100, size=3000)] + random.normal(size=(3000, 64))
    queries = vectors[random.choice(3000, size=50, replace=False)] + random.normal(size=(50, 64)) / 2
    vectors, queries = (
        (m / np.linalg.norm(m, axis=1, keepdims=True)).astype("f") for m in (vectors, queries)
    )
    about = pd.DataFrame({"doc_name": ["F"] * 3000, "company": "C", "year": 2020})
    stores = filled(Exact(), vectors, about), filled(Chroma("windows", tmp_path), vectors, about)
    found = [[set(store.search(query, 10).rows) for query in queries] for store in stores]
    assert np.mean([len(a & b) / 10 for a, b in zip(*found, strict=True)]) >= 0.95


def test_two_clients_of_a_real_server_see_the_same_rows(given, tmp_path):
    vectors, about = given
    with chroma_server(tmp_path) as (address, _):
        first = filled(Chroma("windows", address=address), vectors, about)
        second = Chroma("windows", address=address)
        assert second.count() == N
        assert agrees(first, vectors, about)
        assert agrees(second, vectors, about)


def test_a_client_that_loses_the_server_is_one_sentence_and_goes_on(given, tmp_path):
    vectors, about = given
    with chroma_server(tmp_path) as (address, _):
        store = Chroma("windows", address=address)
        store.add(vectors[:300], about[:300])
    with pytest.raises(StudyError, match="start it: chroma run"):
        store.search(vectors[0], K)
    with chroma_server(tmp_path) as (address, _):
        again = Chroma("windows", address=address)
        assert again.count() == 300
        assert agrees(filled(again, vectors, about), vectors, about)


def test_lancedb_agrees_where_it_is_installed(given, tmp_path):
    pytest.importorskip("lancedb", reason="LanceDB is an optional requirement")
    vectors, about = given
    assert agrees(filled(Lance("windows", tmp_path), vectors, about), vectors, about)


def test_text_in_a_filter_is_quoted():
    assert _equals("company", "McDonald's") == "company = 'McDonald''s'"
    assert _equals("year", 2020) == "year = 2020"
