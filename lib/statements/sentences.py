"""Amounts that a page states in sentences: each with its year and the words that say what it is.

A reading of a sentence is never sure: what its words refer to is not read.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lib.statements.columns import Column
from lib.statements.figures import number, readable
from lib.statements.money import Money, currency_of

SHORTEST, LONGEST, LEAST_WORDS = 5, 120, 6  # words of a sentence; of a line of prose
SENTENCE = "a sentence and no table"
_WORD = re.compile(r"[A-Za-z]{2,}")
_YEAR = re.compile(r"(?<![\d,.$€£])(?:19|20)\d\d(?!\d|,\d{3}|\.\d)")
_AMOUNT = re.compile(
    r"(?P<open>\()?(?P<sign>[$€£¥])?\s?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\)?"
    r"(?:\s(?P<unit>thousand|million|billion|trillion)s?\b|\s?(?P<share>%|percent\b))?"
)
_COUNTED = re.compile(r"\s(?:[A-Za-z-]+\s){0,2}?[a-z]{3,}s\b")  # what is counted, in the plural
_NUMBERED = re.compile(
    r"(?:\b(?:notes?|items?|form|rule|section|level|page|part|article|phase|no|number|q|months?|march|april|may|june|july|"
    r"august|september|october|november|december|january|february)|[-–/])\s?$", re.I
)  # fmt: skip
_ENDS = re.compile(r"(?<=[.;:])\s+(?=[A-Z“\"(•])")
_BOUND = re.compile(r"[,;]|\b(?:compared|versus|from|to|respectively)\b")
_LIST = re.compile(r"^[\s,]*(?:and|or|to)?\s*$")


class Stated(NamedTuple):
    """An amount of a sentence."""

    label: str  # the words beside it
    sentence: str
    column: Column
    value: float
    is_share: bool
    money: Money


class _Amount(NamedTuple):
    start: int
    end: int
    value: float
    is_share: bool
    money: Money


def stated_in(text: str, year: int | None) -> list[Stated]:
    """The amounts of a page's sentences: money, amounts of a unit, and per cents. One without a year in its sentence is
    of the filing's ``year``; without that it is left out."""
    return [one for sentence in sentences_of(text) for one in amounts_of(sentence, year)]


def sentences_of(text: str) -> list[str]:
    """The sentences of a page's lines of prose."""
    flat = " ".join(prose_in(readable(text).splitlines()))
    return [one for one in _ENDS.split(flat) if SHORTEST <= n_words(one) <= LONGEST]


def prose_in(lines: Sequence[str]) -> Iterator[str]:
    """The lines of several words, and the short one that a paragraph ends with; the cells of tables are left out."""
    is_open = False
    for line in (" ".join(line.split()) for line in lines):
        is_prose = n_words(line) >= LEAST_WORDS or (is_open and n_words(line) and not line[0].isupper())
        if is_prose:
            yield line
        is_open = bool(is_prose) and line[-1] not in ".:;"


def n_words(text: str) -> int:
    """How many words of letters a text has."""
    return len(_WORD.findall(text))


def amounts_of(sentence: str, year: int | None) -> Iterator[Stated]:
    """The amounts of a sentence, each with its year: as many years as amounts are theirs in their order; else the years
    between an amount and the next one, else the sentence's only one."""
    amounts, named = [*_found(sentence)], [(match.start(), int(match[0])) for match in _YEAR.finditer(sentence)]
    bounds = [*(one.start for one in amounts[1:]), len(sentence)][: len(amounts)]
    is_in_order = len(named) == len(amounts) > 1 and (
        named[0][0] > amounts[-1].start or named[-1][0] < amounts[0].start
    )
    only = {one for _, one in named}
    for n, (amount, bound) in enumerate(zip(amounts, bounds, strict=True)):
        own = [one for place, one in named if amount.end <= place < bound]
        of = named[n][1] if is_in_order else own[0] if own else max(only) if len(only) == 1 else None
        of = of if only else year
        before = sentence[amounts[n - 1].end if n else 0 : amount.start]
        is_listed = n and _LIST.fullmatch(before)
        behind = "" if is_listed else _BOUND.split(sentence[amount.end : bound], maxsplit=1)[0]
        label = sentence[: amounts[0].start] if is_listed else f"{before} {behind}"
        if of is not None:
            yield Stated(label.strip(), sentence, Column(of), amount.value, amount.is_share, amount.money)


def _found(sentence: str) -> Iterator[_Amount]:
    for match in _AMOUNT.finditer(sentence):
        value = number(match["digits"])
        is_count = _COUNTED.match(sentence, match.end()) and not _NUMBERED.search(sentence, 0, match.start())
        is_count = is_count and not _YEAR.fullmatch(match["digits"])
        if value is not None and (match["sign"] or match["unit"] or match["share"] or is_count):
            is_negative = bool(match["open"]) and ")" in match[0]
            money = Money(match["unit"] or "", currency_of(match["sign"] or ""))
            yield _Amount(match.start(), match.end(), -value if is_negative else value, bool(match["share"]), money)
