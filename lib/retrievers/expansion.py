"""Deterministic query expansion: finance acronyms spelt out, fiscal years written one way.

A lexicon in place of learned expansion terms (survey: Carpineto & Romano, ACM Computing Surveys 2012).
"""

import re

import numpy as np

from lib.method import Search
from lib.retrievers.dense import score_texts
from lib.text.acronyms import LEXICON

#: Expansion of each acronym, and a pattern of it as a word of its own, in the plural too; M&A is not in MD&A.
ACRONYMS = [
    (row.expansion, re.compile(rf"(?<![\w&]){re.escape(row.acronym)}s?(?![\w&])", re.I if row.case == "any" else 0))
    for row in LEXICON.itertuples()
]
# FY2018, FY18, FY '18, FY'18, fiscal 2018, fiscal year 2018; two digits after "fiscal" need their apostrophe
_FISCAL_YEAR = re.compile(
    r"(?<![A-Za-z])"
    r"(?:FY\s?(?P<fy>['’]?\d{2}|\d{4})|fiscal(?:\s+year)?\s+(?P<fiscal>['’]\d{2}|\d{4}))"
    r"(?![\d,.]*\d)"  # FY18,000 and FY20181 name no year
    r"(?P<glued>[A-Za-z])?",
    re.IGNORECASE,
)


def expand(question: str) -> str:
    """The question with fiscal years rewritten and the expansions of its acronyms appended.

    ``FY18 CAPEX of 3M?`` becomes ``fiscal year 2018 CAPEX of 3M? (capital expenditure)``. An expansion that the
    question already holds is not repeated, so that expanding twice changes nothing.
    """
    text = _FISCAL_YEAR.sub(_fiscal_year, question)
    expansions = dict.fromkeys(expansion for expansion, pattern in ACRONYMS if pattern.search(text))
    new = [expansion for expansion in expansions if expansion.lower() not in text.lower()]
    return f"{text} ({'; '.join(new)})" if new else text


def _fiscal_year(match: re.Match) -> str:
    """``fiscal year`` and four digits, set apart from what stood against it (as in Q2FY18 or FY18Q2)."""
    digits = (match["fy"] or match["fiscal"]).lstrip("'’")
    century = "" if len(digits) == 4 else "19" if int(digits) >= 70 else "20"
    before, after = " " * match.string[: match.start()][-1:].isdigit(), f" {match['glued']}" if match["glued"] else ""
    return f"{before}fiscal year {century}{digits}{after}"


def expanded_questions(search: Search) -> list[str]:
    """The questions with acronyms and fiscal years spelt out."""
    return [*map(expand, search.questions["question"])]


def score(search: Search, candidates: np.ndarray) -> np.ndarray:
    """``dense`` with the expanded questions, shape (n_questions, n_chunks)."""
    return score_texts(search, expanded_questions(search))
