"""Company names in questions: whole, shortened or abbreviated, recognised without a list of companies."""

import re
from collections.abc import Sequence
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
REGISTRANT_CHARACTERS = 160  # before ``(Exact name of registrant``, in which the name is looked for
MAX_WORDS = 5  # of a name that a question writes in one piece or in several
NAMED_FULL, NAMED_SHORT, NAMED_ABBREVIATED = 1.0, 0.9, 0.8


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
    """Acronyms of finance and of offices, which are no company's initials."""
    return frozenset(bare(row.acronym) for row in acronyms()) | OFFICES


@lru_cache(maxsize=100_000)
def abbreviates(letters: str, words: tuple[str, ...]) -> bool:
    """Whether letters are the beginnings of a name's first words, one or more letters each, in order.

    ``qnq`` and ``qq`` abbreviate ``("quill", "n", "quarry")``: an ``n`` for ``&`` may be left out.
    """
    if letters in words:
        return False
    starts = [words[:stop] for stop in range(1, len(words) + 1)]
    return any(_made_of(letters, start) for start in (*starts, tuple(word for word in words if word != "n")))


def _made_of(letters: str, words: Sequence[str]) -> bool:
    """Whether ``letters`` are non-empty beginnings of all ``words`` in order."""
    if not words:
        return not letters
    lengths = range(1, min(len(letters), len(words[0])) + 1)
    return any(letters[:n] == words[0][:n] and _made_of(letters[n:], words[1:]) for n in lengths)


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
    """The company's names on a filing's first page: the registrant; the name and the symbol of its listing."""
    listed = LISTED.search(" ".join(cover.split()))
    names = (_registrant(cover), *(listed.groups() if listed else ()))
    return list(dict.fromkeys(name.strip(" ,") for name in names if name))


def _registrant(cover: str) -> str:
    """The name above ``(Exact name of registrant ...)``, on one or more lines, perhaps after a file number."""
    if not (mark := REGISTRANT.search(cover)):
        return ""
    above = re.split(r"\n|\d[\d-]{3,}", cover[max(0, mark.start() - REGISTRANT_CHARACTERS) : mark.start()])
    lines = [line for line in (" ".join(line.split()).strip(" ,_") for line in above) if line]
    name = lines.pop() if lines else ""
    while lines and not set(words_of(name)) - LEGAL_FORMS:
        name = f"{lines.pop()} {name}"
    return "" if NOT_A_NAME.search(name) or not set(words_of(name)) - LEGAL_FORMS else name


class Mentions:
    """The words of a question that may name a company.

    An abbreviation has two capitals or more and is no acronym of finance.
    """

    def __init__(self, question: str):
        tokens = WORD.findall(re.sub(r"['’]s\b", "", question))
        pieces = [bare(token) for token in tokens]
        self.joined = {
            "".join(pieces[i : i + n]) for i in range(len(pieces)) for n in range(1, MAX_WORDS + 1)
        }
        self.written = {bare(token) for token in tokens if token[0].isupper() or token[0].isdigit()}
        short = (token for token in tokens if token[0].isupper() and sum(map(str.isupper, token)) > 1)
        self.abbreviated = [bare(token) for token in short if bare(token) not in common_acronyms()]

    def certainty(self, name: Forms, common: frozenset[str]) -> float:
        """How surely they name a company by one of its names, 0 to 1; words in ``common`` alone name none."""
        whole = name.whole & self.joined
        if any(len(form) > 2 for form in whole) or whole & self.written:
            return NAMED_FULL
        if name.first and name.first not in common and name.first in self.written:
            return NAMED_SHORT
        return NAMED_ABBREVIATED if any(abbreviates(token, name.words) for token in self.abbreviated) else 0.0


def name_matches(questions: Sequence[str], names: Sequence[Sequence[str]]) -> np.ndarray:
    """How surely each question names each company, shape (n_questions, n_companies).

    1 for a whole name, 0.9 for its first own word (unless several companies share it), 0.8 for an abbreviation, else 0.
    Values below a question's best are halved, as a question that names one company wholly does not also name another
    by a single word or by initials.

    Args:
        questions: the texts.
        names: for each company its names: as filed, from the cover, symbols.
    """
    owners: dict[str, set[int]] = {}
    for number, aliases in enumerate(names):
        for word in {word for alias in aliases for word in core_words(alias)}:
            owners.setdefault(word, set()).add(number)
    common = frozenset(word for word, numbers in owners.items() if len(numbers) > 1)
    known = [[forms(alias) for alias in aliases] for aliases in names]
    scores = np.zeros((len(questions), len(names)))
    for row, mentions in enumerate(map(Mentions, questions)):
        scores[row] = [
            max((mentions.certainty(n, common) for n in aliases), default=0.0) for aliases in known
        ]
    best = scores.max(axis=1, initial=0.0, keepdims=True)
    return np.where(scores < best, scores / 2, scores)
