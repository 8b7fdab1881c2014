"""A page's and a question's words for matching: stems without stop words, the topic apart from whose and when it is."""

import re
from collections.abc import Iterable

from lib.ahead.page_kinds import stem

TERM = re.compile(r"[a-z][a-z&]*|\d[\d,.]*\d|\d")
POSSESSIVE = re.compile(r"'s\b")
STOP_WORDS = frozenset(
    "a an the of in on at for to from by with and or is are was were be been being has have had do does did what which"
    " who whom whose when where how why that this these those it its as if then than so not no any all each other such"
    " there their they we our us you your he she his her i me my will would can could may might should shall please"
    " into over under between about during per more most very much many also only own same both either neither use"
    " used using based give given state answer question round following company".split()
)
PERIOD = re.compile(r"(?:fy|cy|q[1-4]|h[12])?(?:19|20)?\d\d|q[1-4]|[1-4]q|fy|fiscal|year|usd|million|billion")


def terms(text: str) -> list[str]:
    """Stems of the words that are not stop words, and numbers without thousands' commas."""
    words = TERM.findall(POSSESSIVE.sub("", text.lower().replace("’", "'")))
    return [
        stem(word) if word[0].isalpha() else word.replace(",", "") for word in words if word not in STOP_WORDS
    ]


def topic_terms(question: str, names: Iterable[str]) -> list[str]:
    """A question's terms without its company, years and units: they tell the filing, which is matched otherwise.

    Args:
        question: the text.
        names: names of the companies that may be meant.
    """
    named = {term for name in names for term in terms(name)}
    return [term for term in terms(question) if term not in named and not PERIOD.fullmatch(term)]
