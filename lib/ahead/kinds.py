"""Pages by their kind, such as balance sheets and legal notes: features of a page alone and for a question.

The phrases of ``kinds.yaml`` were chosen by people who had read FinanceBench's questions.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from lib.ahead.pool import FilingGroups, best_of, share_of
from lib.ahead.terms import stem
from lib.files import read_yaml
from lib.retrievers.fusion import standardised

HEAD_CHARACTERS = 700
STATEMENTS = ("balance", "income", "cashflow")  # the first kinds of all
PRIMARY, OTHER = slice(len(STATEMENTS)), slice(len(STATEMENTS), None)
TITLE_WEIGHT = 3  # a statement's title counts as three of its line items
LAST_RANK = 20  # ranks of statements are cut here
LEAST_ITEMS = -3.0  # standardised; below every page of a kind that is asked for
TELLING_KINDS = ("drivers", "segments", "outlook", "contents", "securities", "nongaap")


@cache
def kinds() -> dict[str, dict[str, tuple[str, ...]]]:
    """From a kind to its phrases: title, items, asked, implied."""
    return {
        kind: {part: tuple(filter(None, map(str.strip, text.split(";")))) for part, text in parts.items()}
        for kind, parts in read_yaml(Path(__file__).with_name("kinds.yaml")).items()
    }


def _stems(text: str) -> list[str]:
    return [stem(word) for word in re.findall(r"[a-z0-9&]+", text.lower())]


@cache
def _by_first_stem(part: str) -> dict[str, list[tuple[list[str], tuple[int, str]]]]:
    """From a first stem to the other stems of one part's phrases, with the kind's column and the phrase."""
    by_stem: dict[str, list] = {}
    for column, kind in enumerate(kinds().values()):
        for phrase in kind[part]:
            first, *rest = _stems(phrase)
            by_stem.setdefault(first, []).append((rest, (column, phrase)))
    return by_stem


def phrase_counts(text: str, part: str) -> Counter[tuple[int, str]]:
    """How often a text contains each phrase of one part, stems compared, by the kind's column and the phrase."""
    words, phrases = _stems(text), _by_first_stem(part)
    return Counter(
        phrase
        for place, word in enumerate(words, 1)
        for rest, phrase in phrases.get(word, ())
        if words[place : place + len(rest)] == rest
    )


def page_strengths(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """How strongly each page is of each kind by title and by items, float32, shape (n_pages, n_kinds) each.

    Title phrases in the page's head count once; an item that occurs n times adds ``log(1 + n)``.
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

    def with_phrase(part: str) -> np.ndarray:
        patterns = [r"(?<![a-z0-9])(?:" + ("|".join(kind[part]) or "(?!)") + ")" for kind in kinds().values()]
        return np.array([[re.search(pattern, text) is not None for pattern in patterns] for text in plain])

    asked, implied = with_phrase("asked"), with_phrase("implied")
    implied[asked[:, PRIMARY].any(axis=1), PRIMARY] = False
    return asked, implied


class Statements:
    """The pages as statements: ``relative`` strength and ``ranks`` in their filing, shape (n_pages, n_kinds) each."""

    def __init__(self, strength: np.ndarray, groups: FilingGroups):
        self.relative = strength / np.maximum(groups.best(strength.T).T, 1)  # share of the filing's best
        self.ranks = np.minimum(groups.ranks(strength.T).T, LAST_RANK)

    def fit(self, needed: np.ndarray) -> dict[str, np.ndarray]:
        """How well each page is a statement that is ``needed``, (n_questions, n_kinds); (n_questions, n_pages) each."""
        ranks = -best_of(needed, -self.ranks, -LAST_RANK - 1.0)
        return {"statement_fit": best_of(needed, self.relative), "statement_rank": ranks}


class PageKinds:
    """The pages by kinds, from their strengths by title and by items side by side, (n_pages, 2 n_kinds); ``features``,
    after the ``page_features`` given, are of a page alone, (n_pages,) each."""

    def __init__(self, strengths: np.ndarray, groups: FilingGroups, page_features: dict[str, np.ndarray]):
        titles, items = np.split(strengths, 2, axis=1)
        strength = TITLE_WEIGHT * np.minimum(titles[:, PRIMARY], 1) + items[:, PRIMARY]
        self.statements = Statements(strength, groups)
        self.titles = np.minimum(titles[:, OTHER], 1)
        self.items = standardised(items, axis=0)[:, OTHER]
        self.features = dict(page_features)
        for column, name in enumerate(STATEMENTS):
            self.features[f"{name}_strength"] = strength[:, column]
            self.features[f"{name}_rank"] = self.statements.ranks[:, column]
        for name in TELLING_KINDS:
            column = list(kinds()).index(name)
            self.features |= {f"{name}_items": items[:, column], f"{name}_title": titles[:, column] > 0}

    def fit(self, questions: Sequence[str]) -> dict[str, np.ndarray]:
        """How well each page's kind fits what each question needs, (n_questions, n_pages) or (n_questions, 1) each."""
        asked, implied = question_kinds(questions)
        needed, is_named = (asked | implied)[:, PRIMARY], asked[:, PRIMARY].any(axis=1, keepdims=True)
        asked, implied = asked[:, OTHER], implied[:, OTHER]
        return self.statements.fit(needed) | {
            "n_statements": needed.sum(axis=1, keepdims=True),
            "statements_named": is_named,
            "asked_titles": asked.astype(np.float32) @ self.titles.T,
            "asked_items": share_of(asked, self.items),
            "asked_items_best": best_of(asked, self.items, LEAST_ITEMS),
            "implied_titles": implied.astype(np.float32) @ self.titles.T,
            "implied_items": share_of(implied, self.items),
        }
