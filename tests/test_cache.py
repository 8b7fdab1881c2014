"""The cache: rows by model and input, kept as they are computed, the same however often and in which order asked."""

import sqlite3

import numpy as np
import pytest

from lib.cache import Cache
from lib.words import StudyError


class Model:
    """Gives a text's length and first letter, and remembers what it read."""

    def __init__(self, ends_at: str = ""):
        self.read, self.ends_at = [], ends_at

    def __call__(self, items: list) -> np.ndarray:
        self.read.append(items)
        if self.ends_at in items:
            raise KeyboardInterrupt
        return np.array([[len(item), ord(item[0])] for item in items], np.float32)


@pytest.fixture
def cache(tmp_path) -> Cache:
    return Cache(tmp_path / "deep" / "cache.sqlite")


def test_a_text_is_computed_once_per_model_in_batches_that_follow_the_items(cache):
    first, second = Model(), Model()
    rows = cache.rows({"model": "a"}, ["a", "bb", "a", "ccc", "bb"], first, batch_size=2)
    assert first.read == [["a", "bb"], ["a", "ccc"], ["bb"]]
    assert rows[:, 0].tolist() == [1, 2, 1, 3, 2]
    again = Cache(cache.path).rows({"model": "a"}, ["ccc", "dd", "a"], second)
    assert again.tolist() == [[3, ord("c")], [2, ord("d")], [1, ord("a")]]
    cache.rows({"model": "b"}, ["a"], second)
    assert second.read == [["dd"], ["a"]]


def test_pairs_records_and_nothing(cache):
    pairs = [("ab", "c"), ("a", "bc"), "abc"]  # no pair is another of the same letters
    assert cache.rows({}, pairs, lambda items: [0.1, 1.1, 2.1], dtype=np.float64).tolist() == [[0.1], [1.1], [2.1]]
    term = np.dtype([("term", np.int32), ("weight", np.float32)])
    assert cache.rows({}, ["x"], lambda items: np.ones((1, 3), term), dtype=term).dtype == term
    assert len(cache.rows({}, [], Model())) == 0


def test_what_is_wrong_is_one_sentence(cache, monkeypatch):
    with pytest.raises(ValueError, match="is shorter"):
        cache.rows({}, ["a", "b"], lambda items: np.zeros((1, 2)))
    cache.path.write_bytes(b"no database" * 100)
    with pytest.raises(StudyError, match="is damaged .*; move it elsewhere"):
        cache.rows({}, ["a"], Model())
    full = sqlite3.OperationalError("database or disk is full")
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **named: (_ for _ in ()).throw(full))
    with pytest.raises(StudyError, match="disk is full.*; make room .*all that was computed is kept"):
        cache.rows({}, ["b"], Model())


def test_an_interrupted_run_resumes_at_the_batch_where_it_was(cache):
    texts, model = [str(n) for n in range(14)], Model()
    with pytest.raises(KeyboardInterrupt):
        cache.rows({}, texts, Model(ends_at="8"), 4)
    assert cache.rows({}, texts, model, 4)[:, 1].tolist() == [ord(text[0]) for text in texts]
    assert model.read == [texts[8:12], texts[12:]]
