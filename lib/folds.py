"""Folds by filing, by company and by template, and the checks that nothing leaks from training into a test fold.

Filings of one company share templates, layouts and whole sentences, so folds by company are stricter than those by
filing (grouped cross-validation; Roberts et al., Ecography 2017). The strictest are those by template: by company, and
training questions that ask what a test question asks are left out (:mod:`lib.filings.templates`). A check reads the
very texts that training reads, just before it.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from lib.schema import StudyError
from lib.text.tokens import word_weights

By = Literal["filing", "company", "template"]
NEAR_COPY = 0.95
WORD = re.compile(r"[a-z0-9]+")


class LeakError(StudyError):
    """Something of a test fold is in its training data; the message says what."""


@dataclass(frozen=True)
class Fold:
    """One fold of the questions."""

    by: By  # what is never split
    number: int  # from 0
    train: tuple[int, ...]  # rows of the questions to train on
    test: tuple[int, ...]  # rows of the questions that only this fold's model scores
    train_filings: frozenset[str]  # those whose pages training may read: they belong to no test group
    test_filings: frozenset[str]  # those of the test groups


def assign_folds(groups: Sequence[str], n_folds: int, seed: int) -> np.ndarray:
    """A fold number from 0 for each item: no group in two folds, and folds about equal in items (greedily).

    There are fewer folds where there are fewer groups; ``seed`` orders groups of equal size.
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


def make_folds(
    questions: pd.DataFrame, filings: pd.DataFrame, by: By, n_folds: int, seed: int, twins: np.ndarray | None = None
) -> list[Fold]:
    """Folds of the questions by their gold filing or its company, see :func:`assign_folds`.

    By template they are those by company, and training lacks the ``twins`` of test questions: boolean, of shape
    (n_questions, n_questions). A filing without a question may be read by every fold, unless its company is tested and
    the folds are not by filing.
    """
    group_of = filings.set_index("doc_name", drop=False)["doc_name" if by == "filing" else "company"].to_dict()
    groups = questions["doc_name"].map(group_of)
    assigned, folds = assign_folds(groups.tolist(), n_folds, seed), []
    for number in range(assigned.max() + 1):
        is_test = assigned == number
        held_out = set(groups[is_test])
        tested = frozenset(doc_name for doc_name, group in group_of.items() if group in held_out)
        is_train = ~is_test if by != "template" else ~is_test & ~twins[:, is_test].any(axis=1)
        train, test = (tuple(np.flatnonzero(rows).tolist()) for rows in (is_train, is_test))
        folds.append(Fold(by, number, train, test, frozenset(group_of) - tested, tested))
    return folds


def similarity(first: Sequence[str], second: Sequence[str]) -> np.ndarray:
    """How alike texts are in their words, from 0 to 1, shape (len(first), len(second)): a weighted Jaccard index.

    Words have the weights of :func:`lib.text.tokens.word_weights` over the distinct texts, so that a company's name or
    a year, which makes two
    questions of one template different questions, counts for more than ``what`` or ``the``.
    """
    bags = {text: frozenset(WORD.findall(text.lower())) for text in (*first, *second)}
    weight = word_weights(bags.values())

    def alike(a: str, b: str) -> float:
        shared = math.fsum(weight[word] for word in bags[a] & bags[b])
        return shared / (math.fsum(weight[word] for word in bags[a] | bags[b]) or 1.0)

    return np.array([[alike(a, b) for b in second] for a in first]).reshape(len(first), len(second))


def check_fold(
    fold: Fold,
    pairs: pd.DataFrame,
    questions: pd.DataFrame,
    filings: pd.DataFrame,
    pages: dict,
    twins: np.ndarray | None = None,
) -> dict:
    """Check a fold's training data against its test questions; a record for the manifest of what was compared.

    ``pairs`` are what the fold's training reads: ``question_id``, ``question``, ``doc_name``, ``page``, ``text`` (the
    page's text); ``pages`` the normalised text by doc_name and page; ``twins`` those of :func:`make_folds`, where folds
    are by template. A LeakError names what of a test question is in the pairs.
    """
    test, trained = questions.iloc[list(fold.test)], pairs["question"].drop_duplicates().tolist()
    read, asked = set(pairs["doc_name"]), set(test["doc_name"])
    held_out, company_of = asked | fold.test_filings, filings.set_index("doc_name")["company"]
    read_by, asked_by, held_out_by = (set(company_of[sorted(names)]) for names in (read, asked, held_out))
    alike = similarity(test["question"].tolist(), trained)
    gold = {pages[row.doc_name, page] for row in test.itertuples() for page in row.gold_pages}
    shared = np.zeros(len(test), bool)
    if fold.by == "template":
        shared = twins[list(fold.test)][:, questions["question_id"].isin(pairs["question_id"])].any(axis=1)
    same = pairs[pairs["text"].isin(gold - {""})].astype({"page": str})
    leaks = {
        "filings in training and in test": read & held_out,
        "companies in training and in test": read_by & held_out_by if fold.by != "filing" else (),
        "test questions with a near copy in training": test["question_id"][alike.max(axis=1) >= NEAR_COPY],
        "test questions with a twin in training": test["question_id"][shared],
        "training pages with the text of a test gold page": same["doc_name"] + " page " + same["page"],
    }
    for what, found in leaks.items():
        if names := ", ".join(sorted(set(found))):
            raise LeakError(f"fold {fold.number} by {fold.by}: {what}: {names}; training was not started")
    return {
        "by": fold.by,
        "fold": fold.number,
        "n_train_questions": len(trained),
        "n_train_pairs": len(pairs),
        "n_test_questions": len(test),
        "train_filings": sorted(read),
        "test_filings": sorted(asked),
        "train_companies": sorted(read_by),
        "test_companies": sorted(asked_by),
        "shared_filings": [],
        "shared_companies": sorted(read_by & asked_by),
        "nearest_question_similarity": round(float(alike.max()), 4),
        "near_copy_from": NEAR_COPY,
    }
