"""Folds: no group is split, the load is even, and nothing of a test fold can be in its training."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.folds import LeakError, assign_folds, check_fold, make_folds, similarity
from lib.words import StudyError

FILINGS = pd.DataFrame(
    [("A_1", "A"), ("A_2", "A"), ("B_1", "B"), ("B_2", "B"), ("C_1", "C")], columns=["doc_name", "company"]
)
QUESTIONS = pd.DataFrame(
    [
        ("q0", "What was the capital expenditure of Acme in 2020?", "A_1", [0]),
        ("q1", "Did Acme pay a dividend in 2021?", "A_2", [1, 2]),
        ("q2", "Which segment of Bolt grew in 2020?", "B_1", [3]),
        ("q3", "Who audits Cogs?", "C_1", [4]),
    ],
    columns=["question_id", "question", "doc_name", "gold_pages"],
)
PAGES = {(doc, page): f"text of page {page} of {doc}" for doc in FILINGS["doc_name"] for page in range(5)}


def folds_by(by, n_folds=2):
    return make_folds(QUESTIONS, FILINGS, by, n_folds, seed=1)


def fold_with(row, by="company"):
    """The fold that tests a question."""
    return next(fold for fold in folds_by(by) if row in fold.test)


def pairs_of(fold, questions=QUESTIONS):
    chosen = questions.iloc[list(fold.train)].explode("gold_pages").rename(columns={"gold_pages": "page"})
    return chosen.assign(text=[PAGES[key] for key in zip(chosen["doc_name"], chosen["page"], strict=True)])


def test_folds_are_filled_largest_group_first_and_the_same_for_the_same_seed_only():
    assert sorted(np.bincount(assign_folds("aaabbccd", 2, seed=0))) == [4, 4]
    groups = [f"g{n}" for n in range(20)]
    assert assign_folds(groups, 5, 1).tolist() == assign_folds(groups, 5, 1).tolist()
    assert assign_folds(groups, 5, 1).tolist() != assign_folds(groups, 5, 2).tolist()


@given(
    st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=40).filter(lambda g: len(set(g)) > 1), st.integers(2, 6)
)
def test_a_group_is_in_one_fold_and_no_fold_is_empty(groups, n_folds):
    assigned = assign_folds(groups, n_folds, seed=0)
    assert len(set(zip(groups, assigned.tolist(), strict=True))) == len(set(groups))
    load = np.bincount(assigned)
    assert len(load) == min(n_folds, len(set(groups)))
    assert load.max() - load.min() <= max(map(groups.count, groups))


def test_one_group_cannot_be_held_out_and_an_unknown_kind_of_fold_is_refused():
    with pytest.raises(StudyError, match="two groups or more, and there is only A"):
        assign_folds(["A", "A"], 5, seed=0)
    with pytest.raises(StudyError, match="choose filing or company"):
        make_folds(QUESTIONS, FILINGS, "sector", 2, 0)


def test_every_question_is_tested_once():
    folds = folds_by("filing", 3)
    assert sorted(row for fold in folds for row in fold.test) == [0, 1, 2, 3]
    assert all(set(fold.train) == {0, 1, 2, 3} - set(fold.test) for fold in folds)


def test_an_unasked_filing_of_a_tested_company_is_not_read():
    by_company, by_filing = fold_with(2, "company"), fold_with(2, "filing")
    assert {"B_1", "B_2"} <= by_company.test_filings
    assert "B_2" not in by_company.train_filings
    assert "B_2" in by_filing.train_filings


def test_similarity_is_a_weighted_jaccard_index():
    # four distinct texts; "cash" is in three of them, the others in one each
    alike = similarity(["Cash in", "cash out"], ["CASH!", "x"])
    cash, rare = math.log(1 + 4 / 3), math.log(1 + 4)
    assert alike == pytest.approx(np.array([[cash / (cash + rare), 0], [cash / (cash + rare), 0]]))
    assert similarity(["???"], ["???"]).item() == 0


@pytest.mark.parametrize("by", ["filing", "company"])
def test_an_honest_fold_passes_and_says_what_was_compared(by):
    for fold in folds_by(by):
        record = check_fold(fold, pairs_of(fold), QUESTIONS, FILINGS, PAGES)
        assert not set(record["train_filings"]) & set(record["test_filings"])
        assert record["shared_filings"] == []
        assert record["n_train_questions"] + record["n_test_questions"] == len(QUESTIONS)
        assert by == "filing" or not set(record["train_companies"]) & set(record["test_companies"])
        assert record["nearest_question_similarity"] < 0.95


def planted(fold, **changes):
    """The fold's pairs, and the first of them changed once more."""
    return pd.concat([pairs_of(fold), pairs_of(fold).head(1).assign(**changes)])


ASKED = "What was the capital expenditure of Acme in 2020?"
A_3 = pd.concat([FILINGS, pd.DataFrame({"doc_name": ["A_3"], "company": ["A"]})])
COPY = "near copy in training: q0; training was not started"


@pytest.mark.parametrize(
    ("by", "changes", "message"),
    [
        ("filing", {"doc_name": "A_1"}, "filings in training and in test: A_1"),
        ("company", {"doc_name": "A_3"}, "companies in training and in test: A"),
        ("company", {"question": ASKED}, COPY),
        ("company", {"question": "what was the capital expenditure of ACME, in 2020"}, COPY),
        ("company", {"question": "What was the 2020 capital expenditure of Acme in 2020?"}, COPY),
        ("company", {"text": PAGES["A_1", 0]}, "training pages with the text of a test gold page"),
    ],
)
def test_what_leaks_from_a_test_fold_into_training_is_refused(by, changes, message):
    fold = fold_with(0, by)
    with pytest.raises(LeakError, match=message):
        check_fold(fold, planted(fold, **changes), QUESTIONS, A_3, PAGES)


def test_the_same_template_about_another_company_is_no_copy():
    fold = fold_with(0)
    other = planted(fold, question=ASKED.replace("Acme", "Bolt"))
    assert check_fold(fold, other, QUESTIONS, FILINGS, PAGES)["n_train_pairs"] == len(pairs_of(fold)) + 1
