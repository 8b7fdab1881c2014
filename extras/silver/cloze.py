"""Questions from single sentences: one figure, date or name is asked for, and some of the other words are kept.

As in cloze training data for question answering (Lewis, Denoyer & Riedel, ACL 2019), but without a translation model:
what is kept are parts of the sentence between prepositions and commas.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
FOCUS = {
    "money": re.compile(r"(?:US)?\$ ?\d[\d,.]*\d(?: (?:thousand|million|billion|trillion))?"),
    "percent": re.compile(r"\d+(?:\.\d+)? ?(?:%|percent\b)"),
    "date": re.compile(rf"(?<=\w ){_MONTH} \d{{1,2}}, (?:19|20)\d\d"),
    "count": re.compile(
        r"(?<= )(?!(?:19|20)\d\d )\d[\d,]*(?:\.\d+)?(?: (?:thousand|million|billion))?(?= (?P<noun>[a-z]{4,}s)\b)"
    ),
    "name": re.compile(
        r"(?<=[a-z,] )(?!(?:The|Table|Part|Item|Note|Form|Our|We) )(?:[A-Z][a-z]+ ){1,3}[A-Z][a-z]+(?= [a-z]|[,.])"
    ),
}
SENTENCE = re.compile(r"(?<=[.!?]) +(?=[A-Z“])")
PARTS = re.compile(
    r"[,;] +|(?<= )(?=(?:which|for|in|by|on|with|from|due to|including|primarily|under|during) )"
)
SPOKEN = {"we": "the company", "our": "its", "us": "the company", "ours": "its"}
WORDS, N_NUMBERS, LETTERS = (12, 45), 6, 0.72
LEAST_KEPT, LONG = 5, 4  # words of more letters than this
NOT_PROSE = re.compile(r"\$ |\d \d|\.{3}|\([a-z]\)|\bundersigned\b|[●•“]|: |\bin (?:m|th|b)[a-z]+s\)")
KEEP = 0.75  # chance of each part
HEADING_WORDS = 8  # a line of so few words without a full stop, before a capital, is a heading
HEADING = re.compile(
    rf"^(?!.*[.,;:–—-]\s*$)((?:\S+\s+){{0,{HEADING_WORDS - 1}}}\S+)[ \t]*\n(?=\s*[A-Z“])", re.M
)
LAST_MENTIONS = 3  # a name that is found more often in a filing is asked for nowhere


class Blank(NamedTuple):
    """A sentence with something to ask for: what kind of thing, the answer, the kept words, its page."""

    kind: str
    answer: str
    noun: str
    clause: str
    page: int


def sentences(texts: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The narrative sentences of pages, with the page; those that stand on several pages are left out."""
    found = []
    for page, text in enumerate(texts):
        for sentence in SENTENCE.split(" ".join(HEADING.sub("\\1. ", text).split())):
            if is_prose(sentence):
                found.append((page, sentence))
    pages_of = Counter(sentence for _, sentence in dict.fromkeys(found))
    return ((page, sentence) for page, sentence in dict.fromkeys(found) if pages_of[sentence] == 1)


def is_prose(sentence: str) -> bool:
    """Whether it is a sentence of a narrative, and not a row of a table, a heading or a signature."""
    words = sentence.split()
    if not (WORDS[0] <= len(words) <= WORDS[1] and sentence[0].isupper() and words[0].isalpha()):
        return False
    if sentence[-1] != "." or NOT_PROSE.search(sentence):
        return False
    n_numbers = sum(any(map(str.isdigit, word)) for word in words)
    n_lower = sum(word.islower() and word.strip(".,;:()").isalpha() for word in words)
    return n_numbers <= N_NUMBERS and n_lower >= LETTERS * (len(words) - n_numbers)


def blank_of(page: int, sentence: str, whole: str, period_end: str, rng: random.Random) -> Blank | None:
    """One blank of a sentence, drawn at random among those it has; None if too few other words would be left.

    Args:
        page, sentence: the page and a sentence on it.
        whole: the filing's text: a name that occurs often in it is not asked for.
        period_end: day and month that end the filing's period, as written, which are not asked for.
        rng: draws.
    """
    found = [(kind, match) for kind, pattern in FOCUS.items() for match in pattern.finditer(sentence)]
    found = [
        (kind, match)
        for kind, match in found
        if not (kind == "date" and match[0].startswith(period_end))
        and not (kind == "name" and whole.count(match[0]) > LAST_MENTIONS)
    ]
    if not found:
        return None
    kind = rng.choice(sorted({kind for kind, _ in found}))
    match = rng.choice([match for one, match in found if one == kind])
    rest = f"{sentence[: match.start()]} ,{sentence[match.end() :].rstrip('.')}"
    parts = [part.strip(" .:()") for part in PARTS.split(rest)]
    kept = [part for part in parts if len(part) > 2 and rng.random() < KEEP]
    words = [SPOKEN.get(word.lower(), word) for word in " ".join(kept).split()]
    if (
        sum(len(word) > LONG and word.isalpha() for word in words) < LEAST_KEPT
        or len(kept) == len(parts)
        or match[0] in " ".join(words)
    ):
        return None
    clause = " ".join(words).strip(" ,")
    first = clause.split()[0]
    clause = clause if not first[1:].islower() or first in sentence[1:] else clause[0].lower() + clause[1:]
    return Blank(kind, match[0], match.groupdict().get("noun") or "", clause, page)
