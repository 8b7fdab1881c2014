"""A question without what says whose filing is meant: its company is ``the company``, and its periods are left out."""

import re
from collections.abc import Collection

from lib.filings.names import COMMON_ACRONYMS, MAX_WORDS, alphanumeric, forms

THE_COMPANY = "the company"
TOKEN = re.compile(r"[^\W_]+(?:[&'’.][^\W_]+)*\.?")
POSSESSIVE = re.compile(r"['’]s?\b")
_BEFORE = "for|in|during|as of|at|of|by|over|through|ended|ending|since|until|from|to|between|and|vs"
_PART = "the|its|end|of|year|year-end|fiscal|calendar|full|quarter|half|ended|ending|first|second|third|fourth"
_SHORT = "FY|CY|Q[1-4]|[1-4]Q|H[12]"
_YEAR = rf"(?:(?:{_SHORT})\s?['’]?(?:20|19)?\d\d|(?:19|20)\d\d)\b(?:\s*[–-]\s*\d{{2,4}}\b)?"
PERIOD = re.compile(rf"(?:\b(?:{_BEFORE})\s+)?(?:\b(?:{_PART}|{_SHORT})[\s,]+)*['’]?\b{_YEAR}", re.I)


def anonymous(question: str, names: Collection[str]) -> str:
    """The question with ``the company`` for each of a company's names, whole, shortened or abbreviated, and without
    periods such as ``as of year end 2021``; ``names`` are those of the companies that it may name."""
    known = [forms(name) for name in names]
    wholes = {whole for _, all_of, _, _ in known for whole in all_of if whole}
    firsts = {first for first, *_ in known if len(first) > 1}
    tokens, parts, at, number = list(TOKEN.finditer(question)), [], 0, 0
    while number < len(tokens):
        length = _named(question, tokens[number : number + MAX_WORDS], wholes, firsts, [short for *_, short in known])
        if length:
            last = tokens[number + length - 1]
            parts += [question[at : tokens[number].start()], THE_COMPANY, *POSSESSIVE.findall(last[0])[-1:]]
            at = last.end()
        number += length or 1
    text = "".join([*parts, question[at:]])
    return " ".join(PERIOD.sub(" ", text).split())


def _named(question: str, tokens: list[re.Match], wholes: set[str], firsts: set[str], shorts: list[re.Pattern]) -> int:
    """How many of the tokens name a company from the first on; 0 where they do not."""
    words = [alphanumeric(POSSESSIVE.sub("", token[0])) for token in tokens]
    is_written = tokens[0][0][0].isupper() or tokens[0][0][0].isdigit()
    for length in range(len(words), 0, -1):
        if is_written and "".join(words[:length]) in wholes:
            return length
    capitals = sum(map(str.isupper, tokens[0][0]))
    is_short = capitals > 1 and words[0] not in COMMON_ACRONYMS and any(one.fullmatch(words[0]) for one in shorts)
    return int(is_written and (words[0] in firsts or is_short))
