"""Company names: the forms in which a question may write them, found without a list of companies."""

import re
from collections.abc import Iterable, Sequence

import numpy as np

WORD = re.compile(r"[A-Za-z0-9]+(?:[&'’.][A-Za-z0-9]+)*")
LEGAL_FORMS = frozenset(
    "inc incorporated corp corporation co company companies ltd limited plc llc lp nv sa ag se holdings holding group"
    " the of and international".split()
)
REGISTRANT = re.compile(r"([^\n]{2,80})\n[\s(]*exact\s+name\s+of\s+registrant", re.I)
LISTED = re.compile(
    r"\((?:NYSE|NASDAQ|Nasdaq|AMEX|LSE|TSX|ASX|NYSE American)[^():]{0,20}:\s*([A-Z][A-Z.]{0,5})\b"
)
NOT_A_NAME = re.compile(r"\b(?:file|number|commission|report|period|ended|act)\b|\d{3}", re.I)
NAMED_FULL, NAMED_SHORT, NAMED_INITIALS = 1.0, 0.9, 0.8


def words_of(name: str) -> list[str]:
    """A name's words in lower case, signs dropped, ``&`` kept as a word: ``Johnson & Johnson``."""
    return [word.lower().replace("'", "").replace("’", "") for word in re.findall(r"[A-Za-z0-9'’.]+|&", name)]


def bare(name: str) -> str:
    """A name's letters and digits alone, in lower case: ``Best Buy`` and ``BESTBUY`` are the same."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def core_words(name: str) -> list[str]:
    """The words of a name without legal forms (``Inc.``, ``plc``), or all of them if nothing else is left."""
    words = [word.strip(".") for word in words_of(name) if word != "&"]
    return [word for word in words if word and word not in LEGAL_FORMS] or words


def abbreviates(token: str, name: str) -> bool:
    """Whether a token is made of the beginnings of a name's words, one or more letters each, in order.

    ``JnJ`` and ``J&J`` for Johnson & Johnson, ``JPM`` for JPMorgan Chase, ``AmEx`` for American Express. The token
    must have two letters, be written with a capital and not be one of the name's words itself.
    """
    letters = bare(token)
    words = [bare(word) or "n" for word in words_of(name)]
    if len(letters) < 2 or not token[0].isupper() or sum(map(str.isupper, token)) < 2 or letters in words:
        return False
    return any(_made_of(letters, words[:stop]) for stop in range(1, len(words) + 1)) or (
        "n" in words and _made_of(letters, [word for word in words if word != "n"])
    )


def _made_of(letters: str, words: Sequence[str]) -> bool:
    """Whether ``letters`` are non-empty beginnings of all ``words`` in order."""
    if not words:
        return not letters
    longest = 0
    while longest < min(len(letters), len(words[0])) and letters[longest] == words[0][longest]:
        longest += 1
    return any(_made_of(letters[n:], words[1:]) for n in range(longest, 0, -1))


def cover_names(cover: str) -> list[str]:
    """What a filing's first page calls its company: the registrant's line and exchange symbols."""
    lines = [" ".join(line.split()).strip(" ,") for line in REGISTRANT.findall(cover)]
    sound = [line for line in lines if set(words_of(line)) - LEGAL_FORMS and not NOT_A_NAME.search(line)]
    return sound[:1] + LISTED.findall(cover)[:1]


def match(question: str, names: Iterable[str], common: frozenset[str] = frozenset()) -> float:
    """How surely a question names a company, 0 to 1.

    Args:
        question: the text.
        names: the company's names: as filed, from the cover, symbols.
        common: words that stand in the names of several companies here; alone they name none of them.

    Returns:
        1 for a whole name, 0.9 for its first own word or a symbol, 0.8 for an abbreviation, else 0.
    """
    tokens = WORD.findall(re.sub(r"['’]s\b", "", question))
    pieces = [bare(token) for token in tokens]
    joined = {"".join(pieces[i : i + n]) for i in range(len(pieces)) for n in range(1, 6)}
    best = 0.0
    for name in names:
        core = core_words(name)
        whole = {bare(name), "".join(core), "".join(words_of(name)).replace("&", "")} - {""}
        if (whole & joined) and (len(max(whole & joined, key=len)) > 2 or _written(tokens, whole)):
            best = max(best, NAMED_FULL)
        first = core[0] if core else ""
        if first and first not in common and _written(tokens, {first}):
            best = max(best, NAMED_SHORT)
        if any(abbreviates(token, name) for token in tokens):
            best = max(best, NAMED_INITIALS)
    return best


def _written(tokens: Sequence[str], words: set[str]) -> bool:
    """Whether one of the words stands in the text with a capital or a digit, as names do."""
    return any(bare(token) in words and (token[0].isupper() or token[0].isdigit()) for token in tokens)


def match_all(questions: Sequence[str], names: Sequence[Sequence[str]]) -> np.ndarray:
    """:func:`match` of every question with every company, shape (n_questions, n_companies).

    A question that names one company wholly does not also name another by a single word or by initials: values
    below a question's best are halved.
    """
    seen: dict[str, set[int]] = {}
    for number, aliases in enumerate(names):
        for alias in aliases:
            for word in core_words(alias):
                seen.setdefault(word, set()).add(number)
    common = frozenset(word for word, owners in seen.items() if len(owners) > 1)
    scores = np.array([[match(question, aliases, common) for aliases in names] for question in questions])
    scores = scores.reshape(len(questions), len(names))
    best = scores.max(axis=1, initial=0.0, keepdims=True)
    return np.where(scores < best, scores / 2, scores)
