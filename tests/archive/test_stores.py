"""Stores of vectors side by side: they agree with exact search, and filter first."""

import numpy as np
import pandas as pd
import pytest

from extras.archive.stores import Exact, equals, opened

N, K = 600, 5
WHERE = [{}, {"doc_name": "F3"}, {"company": "C'2", "year": 2016}]


@pytest.fixture(scope="module")
def given():
    vectors = np.random.default_rng(0).normal(size=(N, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.arange(N)
    about = {"doc_name": [f"F{n % 30}" for n in rows], "company": [f"C'{n % 7}" for n in rows]}
    return vectors, pd.DataFrame(about | {"year": 2015 + rows % 5})


@pytest.fixture(scope="module")
def exact(given):
    store = Exact()
    store.fill(*given)
    return store


def test_exact_search_is_the_largest_cosines_among_what_fits(given, exact):
    assert exact.search(given[0][7], 1, {}).tolist() == [7]
    assert (exact.search(given[0][7], K, {"doc_name": "F3"}) % 30 == 3).all()


@pytest.mark.parametrize("name", ["chroma", "chroma server", "lancedb"])
def test_a_store_agrees_with_exact_search_and_is_filled_once(given, exact, tmp_path, name):
    if name == "lancedb":
        pytest.importorskip("lancedb", reason="LanceDB is an optional requirement")
    for _ in range(2):  # the second process opens what the first left
        with opened(name, tmp_path) as (store, server):
            store.fill(*given)
            for where in WHERE:
                found = store.search(given[0][0], K, where)
                assert found.tolist() == exact.search(given[0][0], K, where).tolist()
            assert bool(server) == (name == "chroma server")


def test_text_in_a_filter_is_quoted():
    assert equals("company", "McDonald's") == "company = 'McDonald''s'"
    assert equals("year", 2020) == "year = 2020"
