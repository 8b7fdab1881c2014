"""Where passages' texts stand: the pages that hold most of their runs of five words."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lib.text.characters import plain

N_WORDS = 5  # of a run of words
LEAST_WORDS = 8  # of a text that can be located
HELD, HELD_ALONE = 0.6, 0.2  # shares of a text: of its pages together, and of its second page alone
CLOSE = 0.02  # a page that holds as much within this share is as good
Place = tuple[str, int]  # filing and page, from 0
WORD = re.compile(r"\w+")


class Located(NamedTuple):
    """The pages of a text, from ``first`` to ``last`` (a passage may go over two); none where ``doc_name`` is empty,
    with the number of pages that hold it equally."""

    doc_name: str = ""
    first: int = -1
    last: int = -1
    n_equal: int = 0


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    """The runs of N_WORDS words of a text; none of a text of fewer than LEAST_WORDS."""
    words = WORD.findall(plain(text).casefold())
    return {*zip(*(words[start:] for start in range(N_WORDS)), strict=False)} if len(words) >= LEAST_WORDS else set()


def share_on(text: str, page: str) -> float:
    """The share of a text's runs of words that a page's text has; NaN of a text that is too short."""
    wanted = runs_of_words(text)
    return len(wanted & runs_of_words(page)) / len(wanted) if wanted else float("nan")


def locate(texts: Sequence[tuple[str, str]], pages: Mapping[Place, str]) -> list[Located]:
    """Where each text stands among pages; ``texts`` are pairs of a text and its filing's name, empty for any filing.

    A text that several pages hold equally stands on none of them.
    """
    wanted = [runs_of_words(text) for text, _ in texts]
    owners = defaultdict(list)
    for number, runs in enumerate(wanted):
        for one in runs:
            owners[one].append(number)
    held: list[Counter[Place]] = [Counter() for _ in texts]
    for place, text in pages.items():
        for one in runs_of_words(text) & owners.keys():
            for number in owners[one]:
                held[number][place] += 1
    found = zip(texts, wanted, held, strict=True)
    return [_located(runs, counts, doc_name, pages) for (_, doc_name), runs, counts in found]


def _located(runs: set[tuple], counts: Counter[Place], doc_name: str, pages: Mapping[Place, str]) -> Located:
    counts = {place: count / len(runs) for place, count in counts.items() if doc_name in ("", place[0])}
    if not counts:
        return Located()
    best = max(counts, key=counts.get)
    rest = runs - runs_of_words(pages[best])
    beside = [(best[0], best[1] + step) for step in (-1, 1) if (best[0], best[1] + step) in counts]
    alone = {place: len(rest & runs_of_words(pages[place])) / len(runs) for place in beside} if rest else {}
    second = max(alone, key=alone.get, default=None)
    is_over_two = second is not None and alone[second] >= HELD_ALONE
    if counts[best] + (alone[second] if is_over_two else 0) < HELD:
        return Located()
    n_equal = sum(share >= counts[best] - CLOSE for share in counts.values())
    if n_equal > 1 and not is_over_two:
        return Located(n_equal=n_equal)
    first, last = sorted((best[1], second[1] if is_over_two else best[1]))
    return Located(best[0], first, last, 1)
