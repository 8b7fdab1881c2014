"""Company names: the forms in which a question may write them, found without a list of companies."""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from lib.retrievers.expansion import acronyms

WORD = re.compile(r"[A-Za-z0-9]+(?:[&'’.][A-Za-z0-9]+)*")
LEGAL_FORMS = frozenset(
    "inc incorporated corp corporation co company companies ltd limited plc llc lp nv sa ag se holdings holding group"
    " the of and international".split()
)
REGISTRANT = re.compile(r"\(?\s*exact\s+name\s+of\s+(?:the\s+)?registrant", re.I)
OFFICES = frozenset("ceo cfo coo us usa usd uk eu fy gaap ifrs sec ipo agm hr it".split())
EXCHANGES = "NYSE|NASDAQ|Nasdaq|AMEX|LSE|TSX|ASX|NYSE American"
CAPITALISED = r"(?:[A-Z][\w&'’.-]*,? (?:(?:&|and|of) )?)"
LISTED = re.compile(rf"({CAPITALISED}{{1,5}})\((?:{EXCHANGES})[^():]{{0,20}}: ?([A-Z][A-Z.]{{0,5}})\b")
NOT_A_NAME = re.compile(r"\b(?:file|number|commission|report|period|ended|act)\b|\d{3}", re.I)
NAMED_FULL, NAMED_SHORT, NAMED_INITIALS = 1.0, 0.9, 0.8


def words_of(name: str) -> list[str]:
    """A name's words in lower case, signs dropped, ``&`` kept as a word."""
    return [word.lower().replace("'", "").replace("’", "") for word in re.findall(r"[A-Za-z0-9'’.]+|&", name)]


def bare(name: str) -> str:
    """A name's letters and digits alone, in lower case: ``Quill Quarry`` and ``QUILLQUARRY`` are the same."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def core_words(name: str) -> list[str]:
    """The words of a name without legal forms (``Inc.``, ``plc``), or all of them if nothing else is left."""
    words = [word.strip(".") for word in words_of(name) if word != "&"]
    return [word for word in words if word and word not in LEGAL_FORMS] or words


@cache
def common_acronyms() -> frozenset[str]:
    """Acronyms of finance, which are no company's initials: those that the queries spell out, and some of offices."""
    return frozenset(bare(row.acronym) for row in acronyms()) | OFFICES


def abbreviates(token: str, name: str) -> bool:
    """Whether a token is made of the beginnings of a name's words, one or more letters each, in order.

    ``QnQ`` and ``Q&Q`` for Quill & Quarry, ``NorEl`` for Norrin Electric. The token must have two capitals and be
    neither one of the name's words nor an acronym of finance.
    """
    return _may_abbreviate(token) and _abbreviates(bare(token), forms(name).words)


def _may_abbreviate(token: str) -> bool:
    return token[0].isupper() and sum(map(str.isupper, token)) > 1 and bare(token) not in common_acronyms()


@lru_cache(maxsize=100_000)
def _abbreviates(letters: str, words: tuple[str, ...]) -> bool:
    if letters in words:
        return False
    without = tuple(word for word in words if word != "n")
    starts = (words[:stop] for stop in range(1, len(words) + 1))
    return any(_made_of(letters, start) for start in starts) or _made_of(letters, without)


def _made_of(letters: str, words: Sequence[str]) -> bool:
    """Whether ``letters`` are non-empty beginnings of all ``words`` in order."""
    if not words:
        return not letters
    longest = 0
    while longest < min(len(letters), len(words[0])) and letters[longest] == words[0][longest]:
        longest += 1
    return any(_made_of(letters[n:], words[1:]) for n in range(longest, 0, -1))


class Forms(NamedTuple):
    """A name's written forms: its first own word, the whole without spaces, and its words with ``n`` for ``&``."""

    first: str
    whole: frozenset[str]
    words: tuple[str, ...]


@lru_cache(maxsize=100_000)
def forms(name: str) -> Forms:
    """The forms of a name."""
    words, core = words_of(name), core_words(name)
    whole = {bare(name), bare("".join(core)), bare("".join(words))} - {""}
    return Forms(core[0] if core else "", frozenset(whole), tuple(bare(word) or "n" for word in words))


def cover_names(cover: str) -> list[str]:
    """What a filing's first page calls its company: the registrant, or who is listed under which symbol."""
    listed = LISTED.search(" ".join(cover.split()))
    names = (_registrant(cover), *(listed.groups() if listed else ()))
    return list(dict.fromkeys(name.strip(" ,") for name in names if name))


def _registrant(cover: str) -> str:
    """The name above ``(Exact name of registrant ...)``, which may take two lines or stand behind a file number."""
    if not (mark := REGISTRANT.search(cover)):
        return ""
    above = re.split(r"\n|\d[\d-]{3,}", cover[max(0, mark.start() - 160) : mark.start()])
    lines = [line for line in (" ".join(line.split()).strip(" ,_") for line in above) if line]
    name = lines.pop() if lines else ""
    while lines and not set(words_of(name)) - LEGAL_FORMS:
        name = f"{lines.pop()} {name}"
    return "" if NOT_A_NAME.search(name) or not set(words_of(name)) - LEGAL_FORMS else name


class Mentions:
    """The words of a question that may name a company.

    Args:
        question: the text.
    """

    def __init__(self, question: str):
        tokens = WORD.findall(re.sub(r"['’]s\b", "", question))
        pieces = [bare(token) for token in tokens]
        self.joined = {"".join(pieces[i : i + n]) for i in range(len(pieces)) for n in range(1, 6)}
        self.written = {bare(token) for token in tokens if token[0].isupper() or token[0].isdigit()}
        self.short = [bare(token) for token in tokens if _may_abbreviate(token)]

    def naming(self, name: Forms, common: frozenset[str]) -> float:
        """How surely they name a company by one of its names, see :func:`match`."""
        whole = name.whole & self.joined
        if any(len(form) > 2 for form in whole) or whole & self.written:
            return NAMED_FULL
        if name.first and name.first not in common and name.first in self.written:
            return NAMED_SHORT
        return NAMED_INITIALS if any(_abbreviates(letters, name.words) for letters in self.short) else 0.0


def match(question: str, names: Iterable[str], common: frozenset[str] = frozenset()) -> float:
    """How surely a question names a company, 0 to 1.

    Args:
        question: the text.
        names: the company's names: as filed, from the cover, symbols.
        common: words that stand in the names of several companies here; alone they name none of them.

    Returns:
        1 for a whole name, 0.9 for its first own word, 0.8 for an abbreviation, else 0.
    """
    mentions = Mentions(question)
    return max((mentions.naming(forms(name), common) for name in names), default=0.0)


def match_all(questions: Sequence[str], names: Sequence[Sequence[str]]) -> np.ndarray:
    """:func:`match` of every question with every company, shape (n_questions, n_companies).

    A question that names one company wholly does not also name another by a single word or by initials: values
    below a question's best are halved.
    """
    owners: dict[str, set[int]] = {}
    for number, aliases in enumerate(names):
        for word in {word for alias in aliases for word in core_words(alias)}:
            owners.setdefault(word, set()).add(number)
    common = frozenset(word for word, numbers in owners.items() if len(numbers) > 1)
    known = [[forms(alias) for alias in aliases] for aliases in names]
    asked = [Mentions(question) for question in questions]
    scores = np.array([[max((m.naming(n, common) for n in ns), default=0.0) for ns in known] for m in asked])
    scores = scores.reshape(len(questions), len(names))
    best = scores.max(axis=1, initial=0.0, keepdims=True)
    return np.where(scores < best, scores / 2, scores)
