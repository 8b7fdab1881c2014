"""Pages by their kind, such as balance sheets and legal notes: features of a page alone, in its filing, for a question.

The phrases of kinds are in ``kinds.yaml``; they name parts of statements and reports, and were chosen by people who had
read FinanceBench's questions. Phrase counts need no model and take a second for some thousand pages.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from lib.retrievers.identity import TYPES, Identity

HEAD_CHARACTERS = 700
WORD = re.compile(r"[a-z0-9&]+")
STATEMENTS = ("balance", "income", "cashflow")  # the first kinds of all
PRIMARY, OTHER = slice(len(STATEMENTS)), slice(len(STATEMENTS), None)
TITLE_WEIGHT = 3  # a statement's title counts as three of its line items
LAST_RANK = 20  # ranks of statements are cut here
LEAST_ITEMS = -3.0  # standardised; below every page of a kind that is asked for
TELLING_KINDS = ("drivers", "segments", "outlook", "contents", "securities", "nongaap")


@cache
def kinds() -> dict[str, dict[str, tuple[str, ...]]]:
    """From a kind to its phrases: title, items, asked, implied."""
    found = yaml.safe_load(Path(__file__).with_name("kinds.yaml").read_text())
    for parts in found.values():
        for part, text in parts.items():
            parts[part] = tuple(phrase.strip() for phrase in text.split(";") if phrase.strip())
    return found


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """A word without its inflection: ``dividends`` and ``dividend``, ``acquired`` and ``acquires`` become the same."""
    for suffix in ("ies", "ing", "ed", "es", "s", "y", "e"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word[: -len(suffix)]
    return word


def stems(text: str) -> list[str]:
    """The stems of a text's words; signs and hyphens separate words."""
    return [stem(word) for word in WORD.findall(text.lower())]


@cache
def _by_first_stem(part: str) -> dict[str, list[tuple[list[str], tuple[int, str]]]]:
    """The phrases of one part: from a first stem to the other stems, with the column of the kind and the phrase."""
    found: dict[str, list] = {}
    for column, kind in enumerate(kinds().values()):
        for phrase in kind[part]:
            first, *rest = stems(phrase)
            found.setdefault(first, []).append((rest, (column, phrase)))
    return found


def phrase_counts(text: str, part: str) -> Counter[tuple[int, str]]:
    """How often a text contains the phrases of one part, by stems: from the kind's column and the phrase to a count."""
    words, phrases = stems(text), _by_first_stem(part)
    return Counter(
        phrase
        for place, word in enumerate(words, 1)
        for rest, phrase in phrases.get(word, ())
        if words[place : place + len(rest)] == rest
    )


def page_strengths(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """How strongly each page is of each kind, two float32 arrays of shape (n_pages, n_kinds).

    The number of distinct title phrases in the page's head; the sum of ``log(1 + n)`` over items that occur n times.
    """
    titles, items = (np.zeros((len(texts), len(kinds())), np.float32) for _ in range(2))
    for row, text in enumerate(texts):
        for kind, _ in phrase_counts(" ".join(text.split())[:HEAD_CHARACTERS], "title"):
            titles[row, kind] += 1
        for (kind, _), count in phrase_counts(text, "items").items():
            items[row, kind] += np.log1p(count)
    return titles, items


def question_kinds(questions: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The kinds that each question names, and those that its measures imply: boolean, (n_questions, n_kinds) each.

    A question that names primary statements implies no other statement.
    """
    plain = [" ".join(question.lower().replace("’", "'").split()) for question in questions]
    asked, implied = (np.zeros((len(questions), len(kinds())), bool) for _ in range(2))
    for column, kind in enumerate(kinds().values()):
        for found, part in ((asked, "asked"), (implied, "implied")):
            pattern = re.compile(r"(?<![a-z0-9])(?:" + ("|".join(kind[part]) or "(?!)") + ")")
            found[:, column] = [pattern.search(text) is not None for text in plain]
    implied[asked[:, PRIMARY].any(axis=1), PRIMARY] = False
    return asked, implied


def standardised(values: np.ndarray) -> np.ndarray:
    """Each row with mean 0 and deviation 1; a row of equal values becomes 0."""
    return (values - values.mean(axis=1, keepdims=True)) / (values.std(axis=1, keepdims=True) + 1e-6)


class FilingGroups:
    """Compares pages within their filings, whose pages are consecutive. Values have the shape (n_rows, n_pages)."""

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
        ranks, places = np.empty(values.shape, np.float32), np.arange(len(self.of_page))
        for row, line in zip(ranks, values, strict=True):
            row[np.lexsort((-line, self.of_page))] = places - self.starts[self.of_page]
        return ranks

    def neighbours(self, values: np.ndarray) -> np.ndarray:
        """The better of the two neighbouring pages' values; the least value of all if a filing has one page."""
        lowest, is_edge = values.min(), np.diff(self.of_page, prepend=-1, append=-1) != 0
        padded = np.pad(values, ((0, 0), (1, 1)))
        before, after = (
            np.where(is_edge[:-1], lowest, padded[:, :-2]),
            np.where(is_edge[1:], lowest, padded[:, 2:]),
        )
        return np.maximum(before, after)


class Pages:
    """Every page, described before a question comes.

    ``filing`` is the row of each page's filing, ``groups`` compares pages within it; see also :func:`page_strengths`.
    """

    def __init__(
        self, pages: pd.DataFrame, identities: Sequence[Identity], titles: np.ndarray, items: np.ndarray
    ):
        row_of = {identity.doc_name: row for row, identity in enumerate(identities)}
        self.filing = filing = pages["doc_name"].map(row_of).to_numpy()
        self.groups, self.titles, self.items = FilingGroups(filing), titles, items
        self.statements = TITLE_WEIGHT * np.minimum(titles[:, PRIMARY], 1) + items[:, PRIMARY]
        self.ranks = np.minimum(self.groups.ranks(self.statements.T).T, LAST_RANK)
        lengths = pages["text"].str.len().to_numpy()
        types = {kind: number for number, kind in enumerate(TYPES)}
        features = {
            "place_share": pages["page"].to_numpy() / np.bincount(filing)[filing],
            "length": np.log1p(lengths),
            "digits": pages["text"].str.count(r"\d").to_numpy() / np.maximum(lengths, 1),
            "filing_type": np.array([types.get(one.doc_type, -1) for one in identities])[filing],
        }
        for column, name in enumerate(STATEMENTS):
            features |= {
                f"{name}_strength": self.statements[:, column],
                f"{name}_rank": self.ranks[:, column],
            }
        for name in TELLING_KINDS:
            column = list(kinds()).index(name)
            features |= {f"{name}_items": items[:, column], f"{name}_title": titles[:, column] > 0}
        self.features = {name: np.asarray(values, np.float32) for name, values in features.items()}

    def kind_features(self, questions: Sequence[str]) -> dict[str, np.ndarray]:
        """How well each page's kind fits what each question needs, each float32 of shape (n_questions, n_pages)."""
        asked, implied = question_kinds(questions)
        named = asked[:, PRIMARY]
        any_named = named.any(axis=1, keepdims=True)
        needed = np.where(any_named, named, implied[:, PRIMARY])
        asked, implied = asked[:, OTHER], implied[:, OTHER]
        relative = self.statements / np.maximum(self.groups.best(self.statements.T).T, 1)
        has_title = np.minimum(self.titles[:, OTHER], 1)
        items = ((self.items - self.items.mean(axis=0)) / (self.items.std(axis=0) + 1e-6))[:, OTHER]
        n_pages = len(self.filing)
        features = {
            "statement_fit": _best_of(needed, relative, 0.0),
            "statement_rank": -_best_of(needed, -self.ranks, -(LAST_RANK + 1.0)),
            "n_statements": np.repeat(needed.sum(axis=1, keepdims=True), n_pages, axis=1),
            "statements_named": np.repeat(any_named, n_pages, axis=1),
            "asked_titles": asked.astype(np.float32) @ has_title.T,
            "asked_items": _mean_of(asked, items),
            "asked_items_best": _best_of(asked, items, LEAST_ITEMS),
            "implied_titles": implied.astype(np.float32) @ has_title.T,
            "implied_items": _mean_of(implied, items),
        }
        return {name: values.astype(np.float32) for name, values in features.items()}


def _best_of(needed: np.ndarray, strength: np.ndarray, otherwise: float) -> np.ndarray:
    """The largest strength among each question's needed kinds, shape (n_questions, n_pages)."""
    return np.stack([strength[:, row].max(axis=1, initial=otherwise) for row in needed])


def _mean_of(needed: np.ndarray, strength: np.ndarray) -> np.ndarray:
    return (needed.astype(np.float32) @ strength.T) / np.maximum(needed.sum(axis=1, keepdims=True), 1)
