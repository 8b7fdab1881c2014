"""Whether a page's text layer can be read: a font without a right map of characters gives letters that spell no words.

Evidence is in bits: how much likelier the pairs of letters of words are in languages of Latin script than by chance. A
text has about one bit a letter for it, a text whose letters were exchanged one or two against it. ``letter_pairs.csv``
has tenths of a bit, by first and second letter, of words of 17 languages, half of them English, weighted by the root of
their frequency (wordfreq 3.1.1, R. Speer, 2022, CC BY-SA 4.0). Words of other scripts are no evidence.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from lib.text.characters import unaccented

LEAST_BITS = 45.0  # against words in one stretch of a page; those of 305 sound filings have 29 at most
MOST_BITS = 10.0  # of a word, so that no few product codes or tickers decide
LEAST_SHARE, LEAST_COUNT = 0.05, 5  # of characters without a meaning; sound pages have 2 % at most
LINE_BITS = 8.0  # against a line of a filing that has garbled pages
#: Replacement, private and control characters, and numbers of glyphs.
NO_CHARACTER = re.compile(r"[\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff\x00-\x08\x0e-\x1f\x7f-\x9f]|\(cid:\d+\)")
BULLET = re.compile(r"(?<!\S)[\ufffd\ue000-\uf8ff](?!\S)")  # a sign of its own, as of the font Wingdings
NO_WORD = re.compile(r"https?:|@|www\.|_|\.\w{2,4}/|(?:^|\W)[ivxlcIVXLC]+(?:\W|$)")
DIGITS_AND_SIGNS = re.compile(r"[\W\d_]+")
RARE_SIGN = re.compile(r"[\"#&'*+:;<=>?@\[\]\\^_`{|}~!]")
SIGN_BITS, SHORT = 3.0, 5
LETTERS = re.compile(r"[a-z]+")
PARTS = re.compile(r"[^\W\d_]+")
LONGEST = 30  # letters of a word
GARBLED, UNMAPPED = "letters that spell no words", "characters without a meaning"


def _letter_pairs() -> dict[str, dict[str, float]]:
    """Bits by first and second letter; a space is before and behind a word."""
    with Path(__file__).with_name("letter_pairs.csv").open(encoding="utf-8", newline="") as file:
        _, *seconds = next(rows := csv.reader(file))
        names = [" ", *seconds[1:]]
        return {
            first: dict(zip(names, (int(cell) / 10 for cell in cells), strict=True))
            for first, (_, *cells) in zip(names, rows, strict=True)
        }


BITS = _letter_pairs()


@lru_cache(maxsize=200_000)
def word_bits(word: str) -> float:
    """The evidence that a token has for words, at least -MOST_BITS; 0 of numbers, links, Roman numerals, other scripts.

    Of a token with digits or signs inside, such as ``5HYHQXH``, runs of three letters or more are evidence, and two
    different signs or more that are rare within words. An acronym is half of it.
    """
    if len(word) > LONGEST or NO_WORD.search(word):
        return 0.0
    bare = word.strip("()[]{}.,;:!?\"'“”‘’*-/&$%#+=<>|–—")
    rare = {*RARE_SIGN.findall(bare if PARTS.search(bare) else word)}
    bits = -SIGN_BITS * len(rare) if len(rare) > 1 else 0.0
    is_mixed = bool(re.search(r"[^\w.,;:'’&/–—-]|\d", bare))
    for run in PARTS.findall(bare):
        folded = "".join(LETTERS.findall(unaccented(run).lower()))
        if len(folded) > 2 or (len(folded) == 2 and not is_mixed):
            letters = folded if is_mixed else f" {folded} "
            bits += sum(BITS[first][second] for first, second in pairwise(letters))
    is_short = bare.isupper() and max(map(len, PARTS.findall(bare)), default=0) <= SHORT
    return max(bits, -MOST_BITS / 2 if is_short else -MOST_BITS)


def words_once(text: str) -> Iterator[str]:
    """The first token of a text with each word, in order: ``bps`` on every line is evidence once."""
    words = {}
    for token in text.split():
        words.setdefault(DIGITS_AND_SIGNS.sub("", token) or "".join(sorted({*RARE_SIGN.findall(token)})), token)
    return iter(words.values())


def garbled_bits(text: str) -> float:
    """The evidence against words in the stretch of a text that has most of it."""
    most = bits = 0.0
    for word in words_once(text):
        bits = max(0.0, bits - word_bits(word))
        most = max(most, bits)
    return most


def why_illegible(text: str) -> str:
    """Why a page's text layer cannot be trusted, GARBLED or UNMAPPED; empty where it can."""
    n_unmapped = len(NO_CHARACTER.findall(BULLET.sub("", text)))
    n_all = len("".join(NO_CHARACTER.sub("?", text).split()))
    if n_unmapped >= LEAST_COUNT and n_unmapped >= LEAST_SHARE * n_all:
        return UNMAPPED
    return GARBLED if garbled_bits(text) >= LEAST_BITS else ""


def legible(texts: Sequence[str]) -> tuple[list[str], dict[str, list[int]]]:
    """The texts of a filing's pages, blank where they cannot be trusted, and the numbers of those pages by why.

    Where a page is garbled, so are the lines in the same fonts of others, such as a title: they are left out.
    """
    why = list(map(why_illegible, texts))
    pages: dict[str, list[int]] = {}
    for number, reason in enumerate(why):
        if reason:
            pages.setdefault(reason, []).append(number)
    if pages:
        texts = ["" if reason else _without_garbled_lines(text) for text, reason in zip(texts, why, strict=True)]
    return list(texts), pages


def _without_garbled_lines(text: str) -> str:
    lines = text.split("\n")
    return "\n".join("" if sum(map(word_bits, words_once(line))) <= -LINE_BITS else line for line in lines)
