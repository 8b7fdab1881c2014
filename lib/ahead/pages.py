"""Features of a page alone, and of a page within its filing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.ahead.identity import TYPES, FilingIdentity
from lib.ahead.page_kinds import STATEMENTS, kind_columns

TITLE_WEIGHT = 3  # a statement's title counts as three of its line items
LAST_RANK = 20  # ranks of statements are cut here
TELLING_KINDS = ("drivers", "segments", "outlook", "contents", "securities", "nongaap")


def standardised(values: np.ndarray) -> np.ndarray:
    """Each row with mean 0 and deviation 1; a row of equal values becomes 0."""
    return (values - values.mean(axis=1, keepdims=True)) / (values.std(axis=1, keepdims=True) + 1e-6)


class FilingGroups:
    """Compares pages within their filings. Values have the shape (n_rows, n_pages).

    Args:
        filing: row of each page's filing, shape (n_pages,); the pages of a filing are consecutive.
    """

    def __init__(self, filing: np.ndarray):
        self.starts = np.flatnonzero(np.r_[True, filing[1:] != filing[:-1]])
        sizes = np.diff(np.r_[self.starts, len(filing)])
        self.of_page = np.repeat(np.arange(len(self.starts)), sizes)
        self.counts = sizes.astype(np.float32)

    def best(self, values: np.ndarray) -> np.ndarray:
        """The best value of each page's filing."""
        return np.maximum.reduceat(values, self.starts, axis=1)[:, self.of_page]

    def standing(self, values: np.ndarray) -> np.ndarray:
        """Values standardised within each filing."""
        mean = np.add.reduceat(values, self.starts, axis=1) / self.counts
        square = np.add.reduceat(values**2, self.starts, axis=1) / self.counts
        deviation = np.sqrt(np.maximum(square - mean**2, 0)) + 1e-6
        return (values - mean[:, self.of_page]) / deviation[:, self.of_page]

    def ranks(self, values: np.ndarray) -> np.ndarray:
        """The rank of each page in its filing by falling value, from 0, ties by page."""
        ranks = np.empty(values.shape, np.float32)
        for row, line in enumerate(values):
            order = np.lexsort((-line, self.of_page))
            ranks[row, order] = np.arange(len(order)) - self.starts[self.of_page[order]]
        return ranks

    def neighbours(self, values: np.ndarray) -> np.ndarray:
        """The better of the two neighbouring pages' values; the least value of all if a filing has one page."""
        lowest = values.min()
        before, after = np.full_like(values, lowest), np.full_like(values, lowest)
        is_same = self.of_page[1:] == self.of_page[:-1]
        before[:, 1:] = np.where(is_same, values[:, :-1], lowest)
        after[:, :-1] = np.where(is_same, values[:, 1:], lowest)
        return np.maximum(before, after)


@dataclass(frozen=True)
class Pages:
    """What does not depend on a question.

    Attributes:
        filing: row of each page's filing, shape (n_pages,).
        groups: for comparisons within filings.
        titles, items: strength of each kind, shape (n_pages, n_kinds); see :func:`lib.ahead.page_kinds.page_strengths`.
        statements, statement_ranks: strength of each primary statement and the page's rank by it, shape (n_pages, 3).
        features: each of shape (n_pages,), float32.
    """

    filing: np.ndarray
    groups: FilingGroups
    titles: np.ndarray
    items: np.ndarray
    statements: np.ndarray
    statement_ranks: np.ndarray
    features: dict[str, np.ndarray]


def describe_pages(
    pages: pd.DataFrame, identities: Sequence[FilingIdentity], titles: np.ndarray, items: np.ndarray
) -> Pages:
    """Describe every page.

    Args:
        pages: doc_name, page, text.
        identities: of all filings.
        titles, items: strengths of kinds, shape (n_pages, n_kinds).
    """
    row_of = {identity.doc_name: row for row, identity in enumerate(identities)}
    filing = pages["doc_name"].map(row_of).to_numpy()
    groups, primary = FilingGroups(filing), kind_columns()
    statements = TITLE_WEIGHT * np.minimum(titles[:, primary], 1) + items[:, primary]
    ranks = groups.ranks(statements.T).T
    lengths = pages["text"].str.len().to_numpy()
    types = [TYPES.index(one.doc_type) if one.doc_type in TYPES else -1 for one in identities]
    features = {
        "place_share": pages["page"].to_numpy() / np.bincount(filing)[filing],
        "length": np.log1p(lengths),
        "digits": pages["text"].str.count(r"\d").to_numpy() / np.maximum(lengths, 1),
        "filing_type": np.array(types)[filing],
    }
    for column, name in enumerate(STATEMENTS):
        features[f"{name}_strength"] = statements[:, column]
        features[f"{name}_rank"] = np.minimum(ranks[:, column], LAST_RANK)
    for name, column in zip(TELLING_KINDS, kind_columns(TELLING_KINDS), strict=True):
        features |= {f"{name}_items": items[:, column], f"{name}_title": titles[:, column] > 0}
    features = {name: np.asarray(values, np.float32) for name, values in features.items()}
    return Pages(filing, groups, titles, items, statements, ranks, features)
