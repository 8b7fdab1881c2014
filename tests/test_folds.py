"""Folds: no group is split, the load is even, and nothing of a test fold can be in its training."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.folds import LeakError, assign_folds, check_fold, make_folds, similarity
from lib.schema import StudyError

FILINGS = pd.DataFrame({"doc_name": ["A_1", "A_2", "B_1", "B_2", "C_1"], "company": list("AABBC")})
ASKED = "What was the capital expenditure of Acme in 2020, in whole millions of US dollars, "
ASKED += "as its audited consolidated cash flow statement says?"
ROWS = [("q0", ASKED, "A_1", [0]), ("q1", "Did Acme pay a dividend in 2021?", "A_2", [1, 2])]
ROWS += [("q2", "Which segment of Bolt grew in 2020?", "B_1", [3]), ("q3", "Who audits Cogs?", "C_1", [4])]
QUESTIONS = pd.DataFrame(ROWS, columns=["question_id", "question", "doc_name", "gold_pages"])
PAGES = {(doc, page): f"text of page {page} of {doc}" for doc in FILINGS["doc_name"] for page in range(5)}


TWINS = np.eye(4, dtype=bool)
TWINS[[0, 3], [3, 0]] = True  # q0 asks of A what q3 asks of C


def folds_by(by):
    return make_folds(QUESTIONS, FILINGS, by, 2, seed=1, twins=TWINS)


def planted(fold, **changes):
    """The pairs that a fold trains on, and where there are changes the first of them once more with these."""
    pairs = QUESTIONS.iloc[list(fold.train)].explode("gold_pages").rename(columns={"gold_pages": "page"})
    pairs = pairs.assign(text=[PAGES[key] for key in zip(pairs["doc_name"], pairs["page"], strict=True)])
    return pd.concat([pairs, pairs.head(1).assign(**changes)]) if changes else pairs


@given(st.lists(st.sampled_from("abcdefgh"), min_size=2).filter(lambda g: len(set(g)) > 1), st.integers(2, 6))
def test_a_group_is_in_one_fold_and_folds_are_even(groups, n_folds):
    assigned = assign_folds(groups, n_folds, seed=0)
    assert len(set(zip(groups, assigned.tolist(), strict=True))) == len(set(groups))
    load = np.bincount(assigned)
    assert len(load) == min(n_folds, len(set(groups)))
    assert load.max() - load.min() <= max(map(groups.count, groups))


def test_the_largest_groups_are_placed_first_and_equal_ones_by_the_seed():
    assert sorted(np.bincount(assign_folds("aaabbccd", 2, seed=0))) == [4, 4]
    first, again, other = (assign_folds("abcdefghijklmnopqrst", 5, seed).tolist() for seed in (1, 1, 2))
    assert first == again != other
    with pytest.raises(StudyError, match="two groups or more, and there is only A"):
        assign_folds(["A", "A"], 5, seed=0)


def test_similarity_is_a_weighted_jaccard_index():
    # four distinct texts; "cash" is in three of them, the others in one each
    cash, rare = math.log(1 + 4 / 3), math.log(1 + 4)
    alike = [cash / (cash + rare), 0]
    assert similarity(["Cash in", "cash out"], ["CASH!", "x"]) == pytest.approx(np.array([alike, alike]))
    assert similarity(["???"], ["???"]).item() == 0


@pytest.mark.parametrize("by", ["filing", "company"])
def test_every_question_is_tested_once_by_an_honest_fold_that_says_what_was_compared(by):
    folds = folds_by(by)
    assert sorted(row for fold in folds for row in fold.test) == [0, 1, 2, 3]
    for fold in folds:
        assert set(fold.train) == {0, 1, 2, 3} - set(fold.test)
        assert ("B_2" in fold.train_filings) == (by == "filing" or 2 not in fold.test)  # about which nobody asks
        record = check_fold(fold, planted(fold), QUESTIONS, FILINGS, PAGES)
        assert not set(record["train_filings"]) & set(record["test_filings"])
        assert record["n_train_questions"] + record["n_test_questions"] == len(QUESTIONS)
        assert by == "filing" or not set(record["train_companies"]) & set(record["test_companies"])
        assert record["nearest_question_similarity"] < 0.95


def test_by_template_twins_of_test_questions_leave_the_folds_by_company_and_are_refused_in_training():
    for fold, by_company in zip(folds_by("template"), folds_by("company"), strict=True):
        assert fold.test == by_company.test
        assert fold.train_filings == by_company.train_filings
        twin = {0: 3, 3: 0}
        assert set(fold.train) == set(by_company.train) - {twin[row] for row in fold.test if row in twin}
        given = QUESTIONS, FILINGS, PAGES, TWINS
        assert check_fold(fold, planted(fold), *given)["n_train_questions"] == len(fold.train)
        if set(fold.train) != set(by_company.train):
            with pytest.raises(LeakError, match="by template: test questions with a twin in training: q[03]"):
                check_fold(replace(fold, train=by_company.train), planted(by_company), *given)


COPY = "near copy in training: q0; training was not started"


@pytest.mark.parametrize(
    ("by", "changes", "message"),
    [
        ("filing", {"doc_name": "A_1"}, "filings in training and in test: A_1"),
        ("company", {"doc_name": "A_3"}, "companies in training and in test: A"),
        ("company", {"question": ASKED.upper().replace("?", "")}, COPY),
        ("company", {"question": f"Which? {ASKED}"}, COPY),  # .953 alike
        ("company", {"text": PAGES["A_1", 0]}, "training pages with the text of a test gold page"),
        ("company", {"question": ASKED.replace("Acme", "Bolt")}, ""),  # a template about another company is no copy
    ],
)
def test_what_leaks_from_a_test_fold_into_training_is_refused(by, changes, message):
    [fold] = [fold for fold in folds_by(by) if 0 in fold.test]
    given = planted(fold, **changes), QUESTIONS, pd.concat([FILINGS, FILINGS.head(1).assign(doc_name="A_3")]), PAGES
    if message:
        with pytest.raises(LeakError, match=message):
            check_fold(fold, *given)
    else:
        assert check_fold(fold, *given)["n_train_pairs"] == len(planted(fold)) + 1
