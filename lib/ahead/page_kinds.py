"""Kinds of pages, such as balance sheets and legal notes: which page is of which kind, which kinds a question needs.

The phrases are in ``kinds.yaml``; they come from how financial statements and reports are built, not from any
dataset. Phrase counts need no model and take a second for some thousand pages.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import yaml

HEAD_CHARACTERS = 700
WORD = re.compile(r"[a-z0-9&]+")
NEVER = "(?!)"  # matches nothing
STATEMENTS = ("balance", "income", "cashflow")


@cache
def kinds() -> dict[str, dict[str, tuple[str, ...]]]:
    """From a kind to its phrases: title, items, asked, implied."""

    def phrases(text: str) -> tuple[str, ...]:
        return tuple(phrase.strip() for phrase in text.split(";") if phrase.strip())

    read = yaml.safe_load(Path(__file__).with_name("kinds.yaml").read_text())
    return {kind: {part: phrases(text) for part, text in parts.items()} for kind, parts in read.items()}


def kind_columns(names: Sequence[str] = STATEMENTS) -> list[int]:
    """The columns of kinds in arrays of shape (..., n_kinds)."""
    return [list(kinds()).index(name) for name in names]


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


class PhraseCounter:
    """Counts many phrases in one pass over a text's words.

    Args:
        phrases: a list of phrases for each group.
    """

    def __init__(self, phrases: Sequence[Sequence[str]]):
        self.by_first_word: dict[str, list[tuple[list[str], tuple[int, int]]]] = {}
        for group, texts in enumerate(phrases):
            for number, text in enumerate(texts):
                first, *rest = stems(text)
                self.by_first_word.setdefault(first, []).append((rest, (group, number)))

    def counts(self, words: Sequence[str]) -> dict[tuple[int, int], int]:
        """How often each phrase occurs in a text's stems: from (group, number in the group) to a count above 0."""
        found: dict[tuple[int, int], int] = {}
        for place, word in enumerate(words, 1):
            for rest, phrase in self.by_first_word.get(word, ()):
                if words[place : place + len(rest)] == rest:
                    found[phrase] = found.get(phrase, 0) + 1
        return found


def page_strengths(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """How strongly each page is of each kind.

    Returns:
        The number of distinct title phrases in the page's head, and the sum of ``log(1 + n)`` over the items that
        occur n times on it: two float32 arrays of shape (n_pages, n_kinds).
    """
    of_titles, of_items = (
        PhraseCounter([kind[part] for kind in kinds().values()]) for part in ("title", "items")
    )
    titles, items = (np.zeros((len(texts), len(kinds())), np.float32) for _ in range(2))
    for row, text in enumerate(texts):
        for kind, _ in of_titles.counts(stems(" ".join(text.split())[:HEAD_CHARACTERS])):
            titles[row, kind] += 1
        for (kind, _), count in of_items.counts(stems(text)).items():
            items[row, kind] += np.log1p(count)
    return titles, items


def question_kinds(questions: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The kinds that each question names, and those that its measures imply: boolean, (n_questions, n_kinds) each.

    A question that names primary statements implies no other statement.
    """
    asked, implied = (np.zeros((len(questions), len(kinds())), bool) for _ in range(2))
    for row, question in enumerate(questions):
        plain = " ".join(question.lower().replace("’", "'").split())
        for column, kind in enumerate(kinds().values()):
            asked[row, column] = _pattern(kind["asked"]).search(plain) is not None
            implied[row, column] = _pattern(kind["implied"]).search(plain) is not None
    primary = kind_columns()
    implied[np.ix_(asked[:, primary].any(axis=1), primary)] = False
    return asked, implied


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern:
    return re.compile(r"(?<![a-z0-9])(?:" + ("|".join(phrases) or NEVER) + ")")
