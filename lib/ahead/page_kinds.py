"""What a page is, and what a question looks for, in general accounting terms.

The phrases stand in ``kinds.yaml``; they come from how financial statements and reports are built, not from any
dataset. Counts of plain phrases need no model and take a second for some thousand pages.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import yaml

HEAD_CHARACTERS = 700
STATEMENTS = ("balance", "income", "cashflow")


@cache
def kinds() -> dict[str, dict[str, tuple[str, ...]]]:
    """From a kind to its phrases: title, items, asked, implied."""
    read = yaml.safe_load(Path(__file__).with_name("kinds.yaml").read_text())
    return {kind: {part: tuple(phrases) for part, phrases in parts.items()} for kind, parts in read.items()}


@cache
def _patterns(kind: str, part: str) -> re.Pattern | None:
    phrases = kinds()[kind][part]
    return re.compile(r"(?<![a-z0-9])(?:" + "|".join(phrases) + ")") if phrases else None


def plain(text: str) -> str:
    """Lower case, white space collapsed, typographic apostrophes made plain."""
    return " ".join(text.lower().replace("’", "'").split())


def page_strengths(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """How strongly each page is of each kind.

    Args:
        texts: the pages' texts.

    Returns:
        Title phrases in the page's head, and distinct items in its body with ``log(1 + n)`` of their occurrences
        each: two arrays of shape (n_pages, n_kinds), float32.
    """
    names = list(kinds())
    titles = np.zeros((len(texts), len(names)), np.float32)
    items = np.zeros((len(texts), len(names)), np.float32)
    for row, text in enumerate(map(plain, texts)):
        head = text[:HEAD_CHARACTERS]
        for column, name in enumerate(names):
            titles[row, column] = sum(phrase in head for phrase in kinds()[name]["title"])
            items[row, column] = sum(np.log1p(text.count(phrase)) for phrase in kinds()[name]["items"])
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
