"""On which page a quotation stands: letter by letter without spaces, hyphens and marks, else by most of its words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from lib.text.characters import plain, unaccented
from lib.text.tokens import word_weights, words_in_any_script

LEAST = 0.8  # share of a quotation's weighted words from which it was found
APART = 0.1  # by how much more of them than another page a page has that is meant
EACH = 0.15  # share of them that each of two pages adds
LEAST_LETTERS, LEAST_WORDS = 8, 8  # of a part on a page; of a quotation that is found by its words
MOST_PLACES = 4  # that are named
NO_LETTER = re.compile(r"[\W_]+")
WORD_END = re.compile(r"\s+")


class Place(NamedTuple):
    """One page or two that follow each other, the share of the quotation there, and its part on each."""

    doc_name: str
    pages: tuple[int, ...]
    share: float
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return f"{'and '.join(f'{page} ' for page in self.pages)}of {self.doc_name}"


class Found(NamedTuple):
    """Where a quotation stands, best first; it is found if one place has enough and no other about as much."""

    places: list[Place]
    is_found: bool


class Pages:
    """The pages of one filing, to be looked through for quotations."""

    def __init__(self, texts: Sequence[str]):
        self.texts = texts

    @cached_property
    def letters(self) -> list[str]:
        return [letters_of(text) for text in self.texts]

    @cached_property
    def words(self) -> list[set[str]]:
        return [words_of(text) for text in self.texts]

    @cached_property
    def weights(self) -> dict[str, float]:
        return word_weights(self.words)


def letters_of(text: str) -> str:
    """The letters and digits of a text in one form."""
    return NO_LETTER.sub("", unaccented(plain(text)).casefold())


def words_of(text: str) -> set[str]:
    """The words of a text in one form; those that a hyphen parts at the end of a line are one."""
    return words_in_any_script(unaccented(re.sub(r"(?<=[^\W\d_])-[ \t]*\n\s*(?=[^\W\d_])", "", plain(text))))


def find(quotation: str, filings: Mapping[str, Pages]) -> Found:
    """The places of a quotation in filings by name; those of all pages with all its letters, else the nearest."""
    letters = letters_of(quotation)
    if not letters:
        return Found([], False)
    exact = [place for name, pages in filings.items() for place in _exact(quotation, letters, name, pages)]
    if exact:
        return Found(exact, len(exact) == 1)
    near = [place for name, pages in filings.items() for place in _near(quotation, name, pages)]
    near = sorted(near, key=lambda place: -place.share)[:MOST_PLACES]
    is_first = len(near) == 1 or (len(near) > 1 and near[1].share <= near[0].share - APART)
    is_enough = bool(near) and near[0].share >= LEAST and len(words_of(quotation)) >= LEAST_WORDS
    return Found(near, is_enough and is_first)


def _exact(quotation: str, letters: str, name: str, pages: Pages) -> Iterator[Place]:
    """The pages that have all letters of a quotation in a row; else two of which one goes on from the other."""
    words = words_of(quotation)
    found = [page for page, text in enumerate(pages.letters) if letters in text and words & pages.words[page]]
    yield from (Place(name, (page,), 1.0, (quotation,)) for page in found)
    if found or len(letters) < 2 * LEAST_LETTERS:
        return
    for page, (here, behind) in enumerate(pairwise(pages.letters)):
        if letters[:LEAST_LETTERS] in here and letters[-LEAST_LETTERS:] in behind:
            n_here = _longest(lambda n, text=here: letters[:n] in text, len(letters))
            n_behind = _longest(lambda n, text=behind: letters[-n:] in text, len(letters))
            if n_here + n_behind >= len(letters):
                yield Place(name, (page, page + 1), 1.0, _split(quotation, min(n_here, len(letters) - LEAST_LETTERS)))


def _longest(is_in, most: int) -> int:
    """The largest number up to ``most`` for which something holds that holds for each less."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_in(middle) else (low, middle - 1)
    return low


def _split(quotation: str, n_letters: int) -> tuple[str, str]:
    """A quotation in two parts, of which the first ends with the word that has its letter ``n_letters``, from 1."""
    ends = [found.start() for found in WORD_END.finditer(quotation)] + [len(quotation)]
    at = min(ends, key=lambda end: abs(len(letters_of(quotation[:end])) - n_letters))
    return quotation[:at].strip(), quotation[at:].strip()


def _near(quotation: str, name: str, pages: Pages) -> list[Place]:
    """The pages with most of a quotation's words, and pairs of pages that have more than either."""
    words, most = words_of(quotation), max(pages.weights.values(), default=1.0)
    weight = {word: pages.weights.get(word, most) for word in words}
    total = sum(weight.values()) or 1.0
    share = lambda them: round(sum(map(weight.get, them)) / total, 6)  # noqa: E731
    on_page = [words & page for page in pages.words]
    shares = [share(them) for them in on_page]
    best = sorted(range(len(shares)), key=lambda page: -shares[page])[:MOST_PLACES]
    places = [Place(name, (page,), shares[page], (quotation,)) for page in best if shares[page]]
    if max(shares, default=0) >= LEAST:
        return places
    for page, (here, behind) in enumerate(pairwise(on_page)):
        both = share(here | behind)
        if both >= LEAST and min(both - shares[page], both - shares[page + 1]) >= EACH:
            places.append(Place(name, (page, page + 1), both, _by_words(quotation, here, behind)))
    return places


def _by_words(quotation: str, here: set[str], behind: set[str]) -> tuple[str, str]:
    """A quotation in two parts, so that most words of the first are on one page, and of the second on the other."""
    words = WORD_END.split(quotation.strip())
    of = [words_of(word) for word in words]
    before = list(accumulate(bool(word & here) for word in of))
    after = list(accumulate(bool(word & behind) for word in reversed(of)))[::-1]
    at = max(range(1, len(words)), key=lambda at: before[at - 1] + after[at], default=len(words))
    return " ".join(words[:at]), " ".join(words[at:])
