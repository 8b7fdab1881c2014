"""Scores by key: kept batch by batch, computed once."""

import numpy as np
import pytest

from lib.keyed import KeyedScores


class Lengths:
    """Scores a text by its length, and by twice that; fails after ``n_calls``."""

    def __init__(self, n_calls: int = 99):
        self.n_calls, self.seen = n_calls, []

    def __call__(self, texts: list[str]) -> list[list[int]]:
        if not self.n_calls:
            raise KeyboardInterrupt
        self.n_calls -= 1
        self.seen += texts
        return [[len(text), 2 * len(text)] for text in texts]


ITEMS = {f"k{n}": "x" * n for n in range(7)}
WANTED = {key: [len(text), 2 * len(text)] for key, text in ITEMS.items()}


def as_lists(rows: dict[str, np.ndarray]) -> dict[str, list[float]]:
    return {key: row.tolist() for key, row in rows.items()}


def test_second_fill_computes_nothing(tmp_path):
    first, second = Lengths(), Lengths()
    assert as_lists(KeyedScores(tmp_path / "s.sqlite", 2).fill(ITEMS, first, 3)) == WANTED
    assert as_lists(KeyedScores(tmp_path / "s.sqlite", 2).fill(ITEMS, second, 3)) == WANTED
    assert (len(first.seen), second.seen) == (7, [])


def test_a_killed_fill_keeps_its_finished_batches(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        KeyedScores(tmp_path / "s.sqlite", 2).fill(ITEMS, Lengths(n_calls=2), 3)
    rest = Lengths()
    assert as_lists(KeyedScores(tmp_path / "s.sqlite", 2).fill(ITEMS, rest, 3)) == WANTED
    assert rest.seen == ["x" * 6]


def test_only_missing_keys_are_computed(tmp_path):
    scores = KeyedScores(tmp_path / "s.sqlite", 2)
    scores.fill({"k2": "xx"}, Lengths(), 3)
    compute = Lengths()
    scores.fill(ITEMS, compute, 3)
    assert "xx" not in compute.seen
    assert len(compute.seen) == 6


def test_more_keys_than_a_query_takes(tmp_path):
    scores, items = KeyedScores(tmp_path / "s.sqlite"), {str(n): n for n in range(1203)}
    scores.fill(items, lambda numbers: numbers, 400)
    assert {key: row[0] for key, row in scores.find(list(items)).items()} == {str(n): n for n in range(1203)}
