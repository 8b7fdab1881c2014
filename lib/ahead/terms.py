"""The words to search with: the terms of questions and pages."""

import re
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from lib.text.tokens import STOP_WORDS

TERM = re.compile(r"[a-z][a-z&]*|\d[\d,.]*\d|\d")
PERIOD = re.compile(r"(?:fy|cy|q[1-4]|h[12])?(?:19|20)?\d\d|q[1-4]|[1-4]q|fy|fiscal|year|usd|million|billion")


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """A word without its inflection: ``dividends`` and ``dividend``, ``acquired`` and ``acquires`` become the same."""
    for suffix in ("ies", "ing", "ed", "es", "s", "y", "e"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word[: -len(suffix)]
    return word


def terms(text: str, stop_words: Container[str] = STOP_WORDS) -> list[str]:
    """Stems of the words that are not stop words, and numbers without thousands' commas."""
    words = TERM.findall(re.sub(r"'s\b", "", text.lower().replace("’", "'")))
    return [stem(word) if word[0].isalpha() else word.replace(",", "") for word in words if word not in stop_words]


def topic(asked: Iterable[str], names: Container[str]) -> list[str]:
    """A question's terms without those of names, years and units, which identify the filing."""
    return [term for term in asked if term not in names and not PERIOD.fullmatch(term)]


def pairs(words: Sequence[str]) -> list[str]:
    """Neighbouring terms as one: ``net sales`` stays together."""
    return [f"{first} {second}" for first, second in pairwise(words)]
