"""What a page is, and what a question looks for, in general accounting terms.

The phrases stand in ``kinds.yaml``; they come from how financial statements and reports are built, not from any
dataset. Counts of plain phrases need no model and take a second for some thousand pages.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import yaml

HEAD_CHARACTERS = 700
WORD = re.compile(r"[a-z0-9&]+")
STATEMENTS = ("balance", "income", "cashflow")


@cache
def kinds() -> dict[str, dict[str, tuple[str, ...]]]:
    """From a kind to its phrases: title, items, asked, implied."""
    read = yaml.safe_load(Path(__file__).with_name("kinds.yaml").read_text())
    return {kind: {part: _phrases(text) for part, text in parts.items()} for kind, parts in read.items()}


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in text.split(";") if phrase.strip())


@cache
def _patterns(kind: str, part: str) -> re.Pattern | None:
    phrases = kinds()[kind][part]
    return re.compile(r"(?<![a-z0-9])(?:" + "|".join(phrases) + ")") if phrases else None


def plain(text: str) -> str:
    """Lower case, white space collapsed, typographic apostrophes made plain."""
    return " ".join(text.lower().replace("’", "'").split())


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """A word without its inflection: ``dividends`` and ``dividend``, ``acquired`` and ``acquires`` become the same."""
    for suffix in ("ies", "ing", "ed", "es", "s", "y", "e"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word[: -len(suffix)]
    return word


def stems(text: str) -> list[str]:
    """The stems of a text's words; signs and hyphens part words."""
    return [stem(word) for word in WORD.findall(text.lower())]


class PhraseCounter:
    """Counts many phrases in one pass over a text's words.

    Args:
        phrases: a list of phrases for each group.
    """

    def __init__(self, phrases: Sequence[Sequence[str]]):
        self.n_groups = len(phrases)
        self.starting: dict[str, list[tuple[list[str], int, int]]] = {}
        for group, texts in enumerate(phrases):
            for number, text in enumerate(texts):
                words = stems(text)
                self.starting.setdefault(words[0], []).append((words[1:], group, number))

    def counts(self, words: Sequence[str]) -> dict[tuple[int, int], int]:
        """How often each phrase stands in a text: from (group, number in the group) to a count."""
        found: dict[tuple[int, int], int] = {}
        for place, word in enumerate(words):
            for rest, group, number in self.starting.get(word, ()):
                if words[place + 1 : place + 1 + len(rest)] == rest:
                    found[group, number] = found.get((group, number), 0) + 1
        return found


def page_strengths(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """How strongly each page is of each kind.

    Args:
        texts: the pages' texts.

    Returns:
        Distinct title phrases in the page's head, and the sum of ``log(1 + n)`` over the items that stand n times
        in it: two arrays of shape (n_pages, n_kinds), float32.
    """
    counters = [PhraseCounter([kind[part] for kind in kinds().values()]) for part in ("title", "items")]
    titles, items = (np.zeros((len(texts), len(kinds())), np.float32) for _ in counters)
    for row, text in enumerate(texts):
        for group, _ in counters[0].counts(stems(" ".join(text.split())[:HEAD_CHARACTERS])):
            titles[row, group] += 1
        for (group, _), count in counters[1].counts(stems(text)).items():
            items[row, group] += np.log1p(count)
    return titles, items


def question_wants(questions: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """What each question looks for.

    Returns:
        Kinds that it names and kinds that its measures imply, boolean, two arrays of shape (n_questions, n_kinds). A
        question that names primary statements implies no other statement.
    """
    names = list(kinds())
    asked, implied = (np.zeros((len(questions), len(names)), bool) for _ in range(2))
    for row, question in enumerate(map(plain, questions)):
        for column, name in enumerate(names):
            for wanted, part in ((asked, "asked"), (implied, "implied")):
                pattern = _patterns(name, part)
                wanted[row, column] = bool(pattern and pattern.search(question))
    primary = [names.index(statement) for statement in STATEMENTS]
    named = asked[:, primary].any(axis=1)
    implied[np.ix_(named, primary)] = False
    return asked, implied
