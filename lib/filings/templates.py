"""Questions that share a template: the same question, asked of another company or for another period.

FinanceBench asks one question of many companies, so that folds by company alone let training read a test question's
twin. Two questions are twins where the words of their templates are alike, by the Jaccard index. No label is read.
Twins need not be twins of one another's twins: chains of them would join a third of all questions. What leaves a
training set are therefore twins of a test question themselves, and in a published template every two are twins.
"""

import re
from calendar import month_abbr, month_name
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from lib.filings.identity import Identity
from lib.filings.names import alphanumeric, forms

VERSION = 1  # raised when other questions are twins than before
ALIKE = 0.4  # the least Jaccard index of twins
TOKEN = re.compile(r"[A-Za-z0-9]+(?:[&.-][A-Za-z0-9]+)*")
POSSESSIVE = re.compile(r"['’]s?\b")
#: Words of periods and units, which say for when and in what, not what is asked.
PERIODS = frozenset(
    "year years yearly annual annually fiscal quarter quarters quarterly half month months monthly week weeks day days"
    " date dated ended ending end fy cy ytd yoy first second third fourth last latest prior previous current".split()
) | {name.lower() for name in (*month_name, *month_abbr) if name}
UNITS = frozenset(
    "usd us dollar dollars cent cents million millions billion billions thousand thousands percent percentage percents"
    " bps basis points mn bn mm".split()
)


def template_words(question: str, names: Collection[str] = ()) -> frozenset[str]:
    """The words of a question's template in lower case: without what has a digit, single letters, PERIODS, UNITS, and
    what is written with a capital and is of a company's ``names``, or an abbreviation of one."""
    known = [forms(name) for name in names]
    own = {word for _, whole, words, _ in known for word in (*whole, *words)}
    kept = set()
    for token in TOKEN.findall(POSSESSIVE.sub("", question)):
        word = alphanumeric(token)
        is_name = token[0].isupper() and (word in own or any(short.fullmatch(word) for *_, short in known))
        if word.isalpha() and len(word) > 1 and word not in PERIODS | UNITS and not is_name:
            kept.add(word)
    return frozenset(kept)


def likeness(templates: Sequence[Collection[str]]) -> np.ndarray:
    """The Jaccard index of every two sets of words, shape (n, n); 0 beside an empty one, 1 of each with itself."""
    columns = {word: column for column, word in enumerate(sorted(set().union(*templates)))}
    has = np.zeros((len(templates), len(columns)))
    for row, words in zip(has, templates, strict=True):
        row[[columns[word] for word in words]] = 1
    shared, sizes = has @ has.T, has.sum(axis=1)
    alike = shared / np.maximum(sizes[:, None] + sizes - shared, 1)
    np.fill_diagonal(alike, 1.0)
    return alike


def likeness_of(questions: pd.DataFrame, identities: Sequence[Identity]) -> np.ndarray:
    """:func:`likeness` of questions (``question``, ``doc_name``), whose companies have the names in the identities of
    all their filings."""
    company_of = {one.doc_name: one.company for one in identities}
    names: dict[str, set[str]] = {}
    for one in identities:
        names.setdefault(one.company, set()).update(one.names)
    asked = zip(questions["question"], questions["doc_name"].map(company_of), strict=True)
    return likeness([template_words(text, sorted(names[company])) for text, company in asked])


def twins(questions: pd.DataFrame, identities: Sequence[Identity]) -> np.ndarray:
    """Which two of the questions share a template, boolean, shape (n, n)."""
    return likeness_of(questions, identities) >= ALIKE


def template_numbers(alike: np.ndarray) -> np.ndarray:
    """The template of each question, from 0 by first question: by complete linkage of :func:`likeness`, so that every
    two questions of one are twins."""
    if len(alike) < 2:
        return np.zeros(len(alike), int)
    distance = squareform(1 - alike, checks=False)
    return pd.factorize(fcluster(linkage(distance, "complete"), 1 - ALIKE + 1e-9, "distance"))[0]
