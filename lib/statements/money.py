"""The unit and the currency of a table, as the statement above its figures prints them; neither is ever assumed."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lib.files import read_yaml


class Money(NamedTuple):
    """What amounts are in; empty where it is not printed."""

    unit: str = ""
    currency: str = ""  # ISO 4217


@cache
def _file() -> dict:
    return read_yaml(Path(__file__).with_name("money.yaml"))


@cache
def ones() -> dict[str, float]:
    """How many ones each unit has."""
    return _file()["ones"]


@cache
def signs() -> dict[str, str]:
    """What an answer writes before an amount, by currency."""
    return {code: about["sign"] for code, about in _file()["currencies"].items()}


@cache
def _statements() -> tuple[re.Pattern, ...]:
    """How a unit is stated: after *in* or *dollars*, as in ``€m``, or at the beginning of a short line or bracket."""
    units = "|".join(f"(?P<{name}>{names})" for name, names in _file()["units"].items())
    names = "|".join(about["names"] for about in _file()["currencies"].values())
    currency = rf"(?:(?:(?i:{names})|(?:[A-Z]{{1,3}})?[$€£¥₹]|[A-Z]{{3}}|U\.S\.)[\W_]*)?"
    said = rf"\b(?i:in|dollars|amounts|figures)\b(?: (?i:the|us|u\.s\.))?[^\w$€£¥₹]*{currency}(?i:{units})(?![A-Za-z])"
    alone = rf"(?:^|\()[^\w$€£¥₹]*{currency}(?i:{units})(?![A-Za-z])"
    short = r"[$€£¥₹]\s?['’]?(?:(?P<million>m)|(?P<thousand>k))(?![A-Za-z])"
    return tuple(map(re.compile, (said, short, alone)))


@cache
def _codes() -> list[tuple[str, re.Pattern]]:
    """The expression of each currency, those with signs of several letters first."""
    found = []
    for code, about in _file()["currencies"].items():
        signs = (re.escape(sign) + "(?![A-Za-z])" * sign[-1].isalpha() for sign in about["signs"])
        found.append((code, re.compile(rf"(?<![A-Za-z])(?:{'|'.join(signs)})|(?i:\b(?:{about['names']})\b)")))
    for sign, about in _file()["shared"].items():
        found.append((about["code"], re.compile(rf"{re.escape(sign)}|(?i:\b(?:{about['names']})\b)")))
    return found


@cache
def _any_code() -> re.Pattern:
    """Any currency's sign or word: most lines have none."""
    return re.compile("|".join(one.pattern for _, one in _codes()))


def currency_of(text: str) -> str:
    """The currency that a text names first by a sign or a word; empty where it names none."""
    if not _any_code().search(text):
        return ""
    found = [(match.start(), -len(match[0]), code) for code, one in _codes() if (match := one.search(text))]
    return min(found)[-1] if found else ""


#: What is counted in a unit beside amounts.
_NOT_AMOUNTS = re.compile(r"\b(?:shares?|units?|barrels?|tons?|tonnes|customers|employees|volumes?)\b", re.I)
_AMOUNTS = re.compile(r"[$€£¥₹]|\b(?:dollars?|amounts?)\b", re.I)
LONGEST_STATEMENT, LONGEST_ALONE = 160, 60  # characters; prose is longer


def money_of(text: str) -> Money:
    """What a line of a page's or a table's head states amounts to be in: ``(Shares in thousands; $ in millions)``."""
    if len(text) > LONGEST_STATEMENT:
        return Money()
    patterns = _statements() if len(text) <= LONGEST_ALONE else _statements()[:2]
    for part in re.split(r"[;,|]|\bexcept\b", text):
        match = next(filter(None, (pattern.search(part) for pattern in patterns)), None)
        if match and (not _NOT_AMOUNTS.search(part) or _AMOUNTS.search(part)):
            return Money(match.lastgroup, currency_of(text))
    return Money("", currency_of(text))
