"""Candidate (question, page) pairs with their features; pages are compared over all filings and within their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from lib.retrievers.fusion import standardised


@dataclass(frozen=True)
class Pool:
    """Pairs of question and page, their features, and whether they are gold."""

    rows: np.ndarray  # of questions, not falling
    columns: np.ndarray  # of pages
    table: pd.DataFrame
    gold: np.ndarray | None = None
    views: Mapping[str, Sequence[str]] = field(default_factory=dict)  # from each view to its columns of the table

    def part(self, pairs: np.ndarray) -> "Pool":
        """The pairs that a boolean mask selects."""
        gold = None if self.gold is None else self.gold[pairs]
        rows, columns, table = self.rows[pairs], self.columns[pairs], self.table[pairs]
        return replace(self, rows=rows, columns=columns, table=table, gold=gold)


class FilingGroups:
    """Compares pages within their filings, whose pages are consecutive. Values have the shape (n_rows, n_pages)."""

    def __init__(self, filing: np.ndarray):
        is_first = np.diff(filing, prepend=-1) != 0
        self.of_page, self.starts = np.cumsum(is_first) - 1, np.flatnonzero(is_first)
        self.counts = np.bincount(self.of_page).astype(np.float32)

    def best(self, values: np.ndarray) -> np.ndarray:
        """The best value of each page's filing."""
        return np.maximum.reduceat(values, self.starts, axis=1)[:, self.of_page]

    def standing(self, values: np.ndarray) -> np.ndarray:
        """Values standardised within each filing."""
        mean, square = (np.add.reduceat(one, self.starts, axis=1) / self.counts for one in (values, values**2))
        deviation = np.sqrt(np.maximum(square - mean**2, 0)) + 1e-6
        return (values - mean[:, self.of_page]) / deviation[:, self.of_page]

    def ranks(self, values: np.ndarray) -> np.ndarray:
        """The rank of each page in its filing by falling value, from 0, ties by page."""
        ranks, places = np.empty(values.shape, np.float32), np.arange(len(self.of_page))
        for row, line in zip(ranks, values, strict=True):
            row[np.lexsort((-line, self.of_page))] = places - self.starts[self.of_page]
        return ranks

    def neighbours(self, values: np.ndarray) -> np.ndarray:
        """The better of the two neighbouring pages' values; the least value of all if a filing has one page."""
        lowest, is_edge = values.min(), np.diff(self.of_page, prepend=-1, append=-1) != 0
        before = np.where(is_edge[:-1], lowest, np.roll(values, 1, axis=1))
        after = np.where(is_edge[1:], lowest, np.roll(values, -1, axis=1))
        return np.maximum(before, after)

    def signal_features(self, name: str, values: np.ndarray) -> dict[str, np.ndarray]:
        """The features of one score of every page, each of shape (n_questions, n_pages)."""
        overall = standardised(values)
        best = self.best(overall)
        return {
            name: overall,
            f"{name}_standing": self.standing(values),
            f"{name}_rank": np.log1p(self.ranks(values)),
            f"{name}_gap": overall - best,
            f"{name}_filing": best,
            f"{name}_beside": self.neighbours(overall),
            f"{name}_behind": overall - overall.max(axis=1, keepdims=True),
        }


def best_of(needed: np.ndarray, strength: np.ndarray, otherwise: float = 0.0) -> np.ndarray:
    """The largest strength (n_pages, n_kinds) among each question's needed kinds, shape (n_questions, n_pages)."""
    return np.stack([strength[:, row].max(axis=1, initial=otherwise) for row in needed])


def share_of(needed: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """The mean strength over each question's needed kinds, shape (n_questions, n_pages)."""
    return (needed.astype(np.float32) @ strength.T) / np.maximum(needed.sum(axis=1, keepdims=True), 1)
