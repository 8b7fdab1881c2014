"""Pages by their kind, such as balance sheets and legal notes: features of a page alone and for a question.

The phrases of kinds are in ``kinds.yaml``; they name parts of statements and reports, and were chosen by people who had
read FinanceBench's questions. Phrase counts need no model and take a second for some thousand pages.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import yaml

from lib.ahead.pool import FilingGroups, Statements, best_of, share_of
from lib.ahead.terms import core, definitions, stem

HEAD_CHARACTERS = 700
WORD = re.compile(r"[a-z0-9&]+")
STATEMENTS = ("balance", "income", "cashflow")  # the first kinds of all
PRIMARY, OTHER = slice(len(STATEMENTS)), slice(len(STATEMENTS), None)
TITLE_WEIGHT = 3  # a statement's title counts as three of its line items
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


def expanded(question: str) -> str:
    """A question's core with its definitions and the usual titles of the primary statements that it needs."""
    [needed] = np.logical_or(*question_kinds([question]))[:, PRIMARY]
    titles = [kinds()[name]["title"][0] for name in np.array(STATEMENTS)[needed]]
    return " ".join([core(question), definitions(question), *titles]).strip()


class PageKinds:
    """The pages by kinds, described before a question comes.

    ``features`` are those of a page alone, (n_pages,) each: first those given.
    """

    def __init__(self, texts: Sequence[str], groups: FilingGroups, features: dict[str, np.ndarray]):
        titles, items = page_strengths(texts)
        strength = TITLE_WEIGHT * np.minimum(titles[:, PRIMARY], 1) + items[:, PRIMARY]
        self.statements = Statements(strength, groups)
        self.titles = np.minimum(titles[:, OTHER], 1)
        self.items = ((items - items.mean(axis=0)) / (items.std(axis=0) + 1e-6))[:, OTHER]
        self.features = dict(features)
        for column, name in enumerate(STATEMENTS):
            self.features[f"{name}_strength"] = strength[:, column]
            self.features[f"{name}_rank"] = self.statements.ranks[:, column]
        for name in TELLING_KINDS:
            column = list(kinds()).index(name)
            self.features |= {f"{name}_items": items[:, column], f"{name}_title": titles[:, column] > 0}

    def fit(self, questions: Sequence[str]) -> dict[str, np.ndarray]:
        """How well each page's kind fits what each question needs, each of shape (n_questions, n_pages)."""
        asked, implied = question_kinds(questions)
        named = asked[:, PRIMARY]
        any_named = named.any(axis=1, keepdims=True)
        needed = np.where(any_named, named, implied[:, PRIMARY])
        asked, implied = asked[:, OTHER], implied[:, OTHER]
        n_pages = len(self.items)
        return {
            **self.statements.fit(needed),
            "n_statements": np.repeat(needed.sum(axis=1, keepdims=True), n_pages, axis=1),
            "statements_named": np.repeat(any_named, n_pages, axis=1),
            "asked_titles": asked.astype(np.float32) @ self.titles.T,
            "asked_items": share_of(asked, self.items),
            "asked_items_best": best_of(asked, self.items, LEAST_ITEMS),
            "implied_titles": implied.astype(np.float32) @ self.titles.T,
            "implied_items": share_of(implied, self.items),
        }
