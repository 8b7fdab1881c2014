"""Company names: one company under several spellings; names in questions, whole, shortened or abbreviated, recognised
without a list of companies."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce

import numpy as np

from lib.text.acronyms import LEXICON
from lib.text.characters import unaccented

WORD = re.compile(r"[A-Za-z0-9]+(?:[&'’.][A-Za-z0-9]+)*")
LEGAL_FORMS = frozenset("inc incorporated corp corporation co company ltd limited plc llc lp nv sa ag se".split())
#: Legal forms that a company's own first word may be in a question, too, such as the one of AB InBev.
RARE_FORMS = frozenset("llp bv spa gmbh kgaa ab asa oyj pte pty".split())
#: Words of a name that name nobody.
NOT_OWN = LEGAL_FORMS | {*"companies holdings holding group the of and international".split()}


def alphanumeric(name: str) -> str:
    """A name's letters and digits alone, in lower case: ``Quill Quarry`` and ``QUÍLLQUARRY`` are the same."""
    return re.sub(r"[^a-z0-9]", "", unaccented(name).lower())


#: Acronyms of finance and of offices, which are no company's initials.
COMMON_ACRONYMS = {
    *map(alphanumeric, LEXICON["acronym"]),
    *"ceo cfo coo us usa usd uk eu fy gaap ifrs sec ipo agm hr it".split(),
}
REGISTRANT = re.compile(r"\(?\s*exact\s+name\s+of\s+(?:the\s+)?registrant", re.I)
EXCHANGES = "NYSE|NASDAQ|Nasdaq|AMEX|LSE|TSX|ASX|NYSE American"
CAPITALISED = r"(?:[A-Z][\w&'’.-]*,? (?:(?:&|and|of) )?)"
LISTED = re.compile(rf"({CAPITALISED}{{1,5}})\((?:{EXCHANGES})[^():]{{0,20}}: ?([A-Z][A-Z.]{{0,5}})\b")
NOT_A_NAME = re.compile(r"\b(?:file|number|commission|report|period|ended|act)\b|\d{3}", re.I)
REGISTRANT_CHARACTERS = 160  # before ``(Exact name of registrant``, in which the name is looked for
MAX_WORDS = 5  # of a name that a question writes in one piece or in several


def company_key(name: str) -> str:
    """A name's letters and digits without case, marks, a ``The`` before it and legal forms behind it; with these where
    nothing else is left."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one)).casefold()
    words = [word for word in re.split(r"[\W_]+", re.sub(r"(?<=\w)[.'’](?=\w)|(?<=\w)\.", "", plain)) if word]
    own = words[words[:1] == ["the"] :]
    while own and own[-1] in LEGAL_FORMS | RARE_FORMS:
        own.pop()
    return "".join(own) or "".join(words) or name


def one_spelling(names: Iterable[str]) -> dict[str, str]:
    """Every name to the first one of the same company, such as ``ACME INC`` to ``Acme, Inc.``: folds must not separate
    its filings."""
    first: dict[str, str] = {}
    return {name: first.setdefault(company_key(name), name) for name in names}


def name_words(name: str) -> list[str]:
    """A name's words in lower case without marks, signs dropped, ``&`` kept as a word."""
    words = re.findall(r"[A-Za-z0-9'’.]+|&", unaccented(name))
    return [word.lower().replace("'", "").replace("’", "") for word in words]


def core_words(name: str) -> list[str]:
    """The words of a name without legal forms (``Inc.``, ``plc``), or all of them if nothing else is left."""
    words = [word.strip(".") for word in name_words(name) if word != "&"]
    return [word for word in words if word and word not in NOT_OWN] or words


@lru_cache(maxsize=100_000)
def forms(name: str) -> tuple[str, set[str], tuple[str, ...], re.Pattern]:
    """A name's written forms: its first own word, the whole without spaces, its words, a pattern of abbreviations.

    These have the beginnings of its first words in order, with or without the ``n`` of ``Quill & Quarry``: ``qnq``.
    """
    words, own_words = name_words(name), core_words(name)
    whole = {alphanumeric(name), alphanumeric("".join(own_words)), alphanumeric("".join(words))} - {""}
    parts = tuple(alphanumeric(word) or "n" for word in words)
    of_all = "".join(_beginning(word) for word in parts if word != "n")
    short = re.compile(f"{_beginning(map(_beginning, parts))}|{of_all}")
    return own_words[0] if own_words else "", whole, parts, short


def _beginning(parts: Iterable[str]) -> str:
    """A pattern of the first one or more parts."""
    return reduce(lambda rest, part: f"{part}(?:{rest})?", reversed(list(parts)), "")


def cover_names(cover: str) -> list[str]:
    """The company's names on a first page: the registrant, above ``(Exact name of``; name and symbol of its listing."""
    names, listed = [], LISTED.search(" ".join(cover.split()))
    if mark := REGISTRANT.search(cover):
        above = cover[max(0, mark.start() - REGISTRANT_CHARACTERS) : mark.start()]
        pieces = (" ".join(piece.split()).strip(" ,_") for piece in re.split(r"\n|\d[\d-]{3,}", above))
        lines = list(filter(None, pieces))
        name = lines.pop() if lines else ""
        while lines and not set(name_words(name)) - NOT_OWN:
            name = f"{lines.pop()} {name}"
        if set(name_words(name)) - NOT_OWN and not NOT_A_NAME.search(name):
            names.append(name)
    names += listed.groups() if listed else ()
    return list(dict.fromkeys(name.strip(" ,") for name in names))


class Mentions:
    """The words of a question that may name a company; an abbreviation has two capitals, and is none of finance's."""

    def __init__(self, question: str):
        tokens = WORD.findall(re.sub(r"['’]s\b", "", unaccented(question)))
        pieces, capital = [*map(alphanumeric, tokens)], [t for t in tokens if t[0].isupper()]
        self.joined = {"".join(pieces[i : i + n]) for i in range(len(pieces)) for n in range(1, MAX_WORDS + 1)}
        self.written = {alphanumeric(token) for token in tokens if token[0].isupper() or token[0].isdigit()}
        self.abbreviated = {alphanumeric(t) for t in capital if sum(map(str.isupper, t)) > 1} - COMMON_ACRONYMS

    def certainty(self, name: tuple, common: frozenset[str]) -> float:
        """How surely they name a company by one of its names, 0 to 1; words in ``common`` alone name none."""
        first, whole, words, short = name
        if any(len(form) > 2 or form in self.written for form in whole & self.joined):
            return 1.0
        if first and first not in common and first in self.written:
            return 0.9
        return 0.8 * any(token not in words and short.fullmatch(token) for token in self.abbreviated)


def name_matches(questions: Sequence[str], names: Sequence[Sequence[str]]) -> np.ndarray:
    """How surely each question names each company, shape (n_questions, n_companies), by the best of its names.

    1 for a whole name, 0.9 for its first own word (unless several companies share it), 0.8 for an abbreviation, else 0.
    Values below a question's best are halved.
    """
    owned = [{word for alias in aliases for word in core_words(alias)} for aliases in names]
    common = frozenset(word for word, n in Counter(word for words in owned for word in words).items() if n > 1)
    written_forms, scores = [list(map(forms, aliases)) for aliases in names], np.zeros((len(questions), len(names)))
    for row, mentions in enumerate(map(Mentions, questions)):
        scores[row] = [max((mentions.certainty(one, common) for one in of), default=0.0) for of in written_forms]
    best = scores.max(axis=1, initial=0.0, keepdims=True)
    return np.where(scores < best, scores / 2, scores)


def names_company(question: str, company: str) -> bool:
    """Whether a question names its own company: by the name's first word, or a short form such as JPM, JnJ or AMEX.

    A short form is a word with two capitals or more whose letters stand in the company's name in that order, the first
    of them first. Published counts rest on this one, not on :func:`name_matches`.
    """
    first = re.split(r"[\s-]", company.strip())[0]
    if re.search(rf"\b{re.escape(first)}", question, re.IGNORECASE):
        return True
    letters = re.sub(r"\W", "", company).lower()
    words = [word for word in re.findall(r"[A-Za-z]{2,}", question) if sum(map(str.isupper, word)) > 1]
    return any(w[0] == letters[0] and re.search(".*".join(w), letters) for w in map(str.lower, words))
