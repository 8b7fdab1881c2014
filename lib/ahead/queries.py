"""The words to search with: a question in three variants, and the terms of questions and pages.

Questions of analysts come with instructions (``Answer in USD millions``) whose words are on no page.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from lib.ahead.pages import PRIMARY, STATEMENTS, kinds, question_kinds, stem

ABBREVIATION = r"(?<!\b[A-Z]\.)(?<!Inc\.)(?<!Corp\.)(?<!Co\.)(?<!Ltd\.)(?<!vs\.)(?<!No\.)"
ASKING_WORD = r"(?i:what|how|which|who|when|where|why|did|does|do|is|was|are|were)\b"
SENTENCE = re.compile(rf"{ABBREVIATION}(?<=[.?!])\s+(?=[A-Z\"'“(])|(?<=:)\s+(?={ASKING_WORD})")
DEFINITION = re.compile(r"\b(?:defined? as|define|equals?|calculated as|means)\b", re.I)
TERM = re.compile(r"[a-z][a-z&]*|\d[\d,.]*\d|\d")
POSSESSIVE = re.compile(r"'s\b")
PERIOD = re.compile(r"(?:fy|cy|q[1-4]|h[12])?(?:19|20)?\d\d|q[1-4]|[1-4]q|fy|fiscal|year|usd|million|billion")
STOP_WORDS = frozenset(
    "a an the of in on at for to from by with and or is are was were be been being has have had do does did what which"
    " who whom whose when where how why that this these those it its as if then than so not no any all each other such"
    " there their they we our us you your he she his her i me my will would can could may might should shall please"
    " into over under between about during per more most very much many also only own same both either neither use"
    " used using based give given state answer question round following company".split()
)


def core(question: str) -> str:
    """A question's sentences with a question mark, or all if there is none."""
    sentences = SENTENCE.split(" ".join(question.split()))
    return " ".join(s for s in sentences if "?" in s) or " ".join(sentences)


def queries(questions: Sequence[str]) -> dict[str, list[str]]:
    """Three variants of each question.

    Returns:
        ``full``: the question. ``core``: its sentences with a question mark, or all if there is none. ``expanded``: the
        core with the question's definitions and the usual titles of the primary statements that it needs.
    """
    variants: dict[str, list[str]] = {"full": [], "core": [], "expanded": []}
    needed = np.logical_or(*question_kinds(questions))[:, PRIMARY]
    for question, is_needed in zip(questions, needed, strict=True):
        full = " ".join(question.split())
        sentences, asked = SENTENCE.split(full), core(full)
        definitions = " ".join(s for s in sentences if "?" not in s and DEFINITION.search(s))
        titles = [kinds()[name]["title"][0] for name in np.array(STATEMENTS)[is_needed]]
        variants["full"].append(full)
        variants["core"].append(asked)
        variants["expanded"].append(" ".join([asked, definitions, *titles]).strip())
    return variants


def terms(text: str) -> list[str]:
    """Stems of the words that are not stop words, and numbers without thousands' commas."""
    words = TERM.findall(POSSESSIVE.sub("", text.lower().replace("’", "'")))
    return [
        stem(word) if word[0].isalpha() else word.replace(",", "") for word in words if word not in STOP_WORDS
    ]


def topic_terms(question: str, names: Iterable[str]) -> list[str]:
    """A question's terms without those of company names, years and units, which identify the filing."""
    named = {term for name in names for term in terms(name)}
    return [term for term in terms(question) if term not in named and not PERIOD.fullmatch(term)]
