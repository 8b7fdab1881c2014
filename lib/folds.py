"""Folds by filing and by company, and the checks that nothing leaks from training into a test fold.

Five filings of one company share templates, page layouts and whole sentences, so folds by company are the stricter
ones (grouped cross-validation; Roberts et al., Ecography 2017). A check reads the very texts that training reads, just
before it, and refuses to go on.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from lib.words import StudyError

By = Literal["filing", "company"]
NEAR_COPY = 0.95
WORD = re.compile(r"[a-z0-9]+")


class LeakError(StudyError):
    """Something of a test fold is in its training data; the message says what."""


@dataclass(frozen=True)
class Fold:
    """One fold of the questions.

    Attributes:
        by: what is never split: ``filing`` or ``company``.
        number: from 0.
        train: rows of the questions to train on.
        test: rows of the questions that only this fold's model scores.
        train_filings: filings whose pages training may read: those that belong to no test group.
        test_filings: filings of the test groups.
    """

    by: By
    number: int
    train: tuple[int, ...]
    test: tuple[int, ...]
    train_filings: frozenset[str]
    test_filings: frozenset[str]


def assign_folds(groups: Sequence[str], n_folds: int, seed: int) -> np.ndarray:
    """A fold for each item, no group in two folds, the folds as equal in items as a greedy choice makes them.

    Args:
        groups: the group of each item.
        n_folds: folds; fewer when there are fewer groups.
        seed: of the order in which groups of equal size are placed.

    Returns:
        Fold numbers from 0, shape (n_items,).

    Raises:
        StudyError: there are not two groups, so nothing can be held out.
    """
    sizes = Counter(groups)
    if len(sizes) < 2:
        raise StudyError(f"folds need two groups or more, and there is only {', '.join(sizes) or 'none'}")
    names = np.random.default_rng(seed).permutation(sorted(sizes))
    load, fold_of = [0] * min(n_folds, len(sizes)), {}
    for name in sorted(names.tolist(), key=lambda name: -sizes[name]):
        fold_of[name] = load.index(min(load))
        load[fold_of[name]] += sizes[name]
    return np.array([fold_of[name] for name in groups])


def make_folds(questions: pd.DataFrame, filings: pd.DataFrame, by: By, n_folds: int, seed: int) -> list[Fold]:
    """Folds of the questions by their gold filing or its company.

    Args:
        questions: with ``doc_name``.
        filings: with ``doc_name`` and ``company``; a filing without a question may be read by every fold, unless its
            company is being tested and the folds are by company.
        by: ``filing`` or ``company``.
        n_folds, seed: see :func:`assign_folds`.

    Raises:
        StudyError: an unknown ``by``, or only one group.
    """
    if by not in ("filing", "company"):
        raise StudyError(f"folds by {by!r}: choose filing or company")
    columns = {"filing": "doc_name", "company": "company"}
    group_of = dict(zip(filings["doc_name"], filings[columns[by]], strict=True))
    groups = questions["doc_name"].map(group_of).tolist()
    assigned = assign_folds(groups, n_folds, seed)
    folds = []
    for number in range(assigned.max() + 1):
        held_out = {group for group, fold in zip(groups, assigned, strict=True) if fold == number}
        tested = frozenset(doc_name for doc_name, group in group_of.items() if group in held_out)
        train, test = (
            tuple(np.flatnonzero(rows).tolist()) for rows in (assigned != number, assigned == number)
        )
        folds.append(Fold(by, number, train, test, frozenset(group_of) - tested, tested))
    return folds


def similarity(first: Sequence[str], second: Sequence[str]) -> np.ndarray:
    """How alike texts are in their words: the Jaccard index with rare words weighing more.

    A word's weight is ``log(1 + n / df)`` over the distinct texts of both lists, so that a company's name or a year,
    which makes two questions of one template different questions, counts for more than ``what`` or ``the``.

    Returns:
        Shape (len(first), len(second)), from 0 to 1; texts without words are alike to nothing.
    """
    bags = {text: frozenset(WORD.findall(text.lower())) for text in (*first, *second)}
    frequency = Counter(word for bag in bags.values() for word in bag)
    weight = {word: math.log(1 + len(bags) / count) for word, count in frequency.items()}

    def alike(a: str, b: str) -> float:
        shared = sum(weight[word] for word in bags[a] & bags[b])
        return shared / (sum(weight[word] for word in bags[a] | bags[b]) or 1.0)

    return np.array([[alike(a, b) for b in second] for a in first]).reshape(len(first), len(second))


def check_fold(
    fold: Fold, pairs: pd.DataFrame, questions: pd.DataFrame, filings: pd.DataFrame, pages: dict
) -> dict:
    """Check a fold's training data against its test questions.

    Args:
        fold: the fold.
        pairs: what training reads: ``question``, ``doc_name``, ``page``, ``text`` (the page's text).
        questions: all questions; the fold says which are tested.
        filings: ``doc_name`` and ``company``.
        pages: from (doc_name, page) to a page's normalised text; the test questions' gold pages are looked up.

    Returns:
        A record for the manifest: counts, what was compared and the nearest question found.

    Raises:
        LeakError: a filing (or company) on both sides, a test question that is nearly a training question, or a
            training page with the text of a test question's gold page.
    """
    test = questions.iloc[list(fold.test)]
    company_of = dict(zip(filings["doc_name"], filings["company"], strict=True))

    def companies(doc_names: set[str]) -> set[str]:
        return {company_of[doc_name] for doc_name in doc_names}

    def refuse(what: str, found: set[str]) -> None:
        if found:
            names = ", ".join(sorted(found))
            raise LeakError(f"fold {fold.number} by {fold.by}: {what}: {names}; training was not started")

    read, asked = set(pairs["doc_name"]), set(test["doc_name"])
    refuse("filings in training and in test", read & (asked | fold.test_filings))
    if fold.by == "company":
        shared = companies(read) & companies(asked | fold.test_filings)
        refuse("companies in training and in test", shared)
    trained = pairs["question"].drop_duplicates().tolist()
    alike = similarity(test["question"].tolist(), trained)
    copies = test["question_id"][alike.max(axis=1) >= NEAR_COPY]
    refuse("test questions with a near copy in training", set(copies))
    gold = {pages[row.doc_name, page] for row in test.itertuples() for page in row.gold_pages}
    same = pairs[pairs["text"].isin(gold - {""})]
    where = {f"{row.doc_name} page {row.page}" for row in same.itertuples()}
    refuse("training pages with the text of a test gold page", where)
    return {
        "by": fold.by,
        "fold": fold.number,
        "n_train_questions": len(trained),
        "n_train_pairs": len(pairs),
        "n_test_questions": len(test),
        "train_filings": sorted(read),
        "test_filings": sorted(asked),
        "train_companies": sorted(companies(read)),
        "test_companies": sorted(companies(asked)),
        "shared_filings": [],
        "shared_companies": sorted(companies(read) & companies(asked)),
        "nearest_question_similarity": round(float(alike.max()), 4),
        "near_copy_from": NEAR_COPY,
    }
