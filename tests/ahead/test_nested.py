"""Nothing of a test fold is read in training, and choices are made inside."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from lib.ahead.nested import Task, choose, fold_combiner, ndcg, training_part
from lib.folds import LeakError, make_folds
from lib.profile import load_profile

from .test_combiner import made_pool

COMPANIES = ("ash", "birch", "cedar", "dogwood", "elm")


@pytest.fixture(scope="module")
def settings():
    small = {"n_trees": [5, 10], "shares": [0.0, 1.0], "seeds": [13], "inner_folds": 2, "min_pages": 5}
    return load_profile("default").replaced({f"ahead.{name}": value for name, value in small.items()}).ahead


@pytest.fixture
def task() -> Task:
    """Twenty questions, four a company; page p is of company p mod 5."""
    pool, gold = made_pool()
    asked = [f"{COMPANIES[row % 5]}_2020" for row in range(20)]
    pages = np.array([f"{COMPANIES[page % 5]}_2020" for page in range(12)])
    return Task(pool, gold, np.ones(20, int), asked, pages, {f"{name}_2020": name for name in COMPANIES})


def folds_of(task):
    questions = pd.DataFrame({"question_id": range(20), "doc_name": task.asked})
    filings = pd.DataFrame({"doc_name": list(task.company_of), "company": list(task.company_of.values())})
    return make_folds(questions, filings, "company", 5, 13)


def test_training_reads_only_training_companies(task):
    for fold in folds_of(task):
        part = training_part(task, fold)
        tested = set(task.companies(fold.test))
        assert not tested & set(part.companies(part.questions))
        assert not tested & {part.company_of[name] for name in part.filings}


def test_a_question_of_the_test_fold_in_training_is_refused(task):
    first, second = folds_of(task)[:2]
    spoilt = dataclasses.replace(
        first, train=first.train + first.test[:1], train_filings=second.train_filings
    )
    with pytest.raises(LeakError, match="questions in training and in test"):
        training_part(task, spoilt)


def test_a_filing_of_the_tested_company_in_training_is_refused(task):
    fold = folds_of(task)[0]
    spoilt = dataclasses.replace(fold, train_filings=fold.train_filings | fold.test_filings)
    with pytest.raises(LeakError, match="companies in training and in test"):
        training_part(task, spoilt)


def test_record_says_what_was_chosen_and_on_whom(task, settings):
    fold = folds_of(task)[0]
    combiner, record = fold_combiner(task, fold, settings)
    assert record["n_trees"] in settings.n_trees
    assert record["share"] == combiner.share
    assert not set(record["train_companies"]) & set(record["test_companies"])
    assert len(record["curve"]) == 4


def test_choice_does_not_depend_on_the_test_questions_gold(task, settings):
    fold = folds_of(task)[0]
    tested = np.isin(task.pool.rows, fold.test)
    shuffled = dataclasses.replace(task, gold=np.where(tested, ~task.gold, task.gold))
    assert choose(training_part(task, fold), settings) == choose(training_part(shuffled, fold), settings)


def test_ndcg_of_a_gold_page_at_rank_two_and_of_one_that_is_missing(task):
    one = task.part(task.pool.rows == 0)
    scores = (
        np.where(one.gold, 1.0, np.arange(len(one.gold)) == (one.gold.argmax() + 1) % 12) + 0.5 * ~one.gold
    )
    assert ndcg(one, scores) == pytest.approx([1 / np.log2(3)])
    two = dataclasses.replace(one, n_gold=np.full(20, 2))
    assert ndcg(two, one.gold.astype(float)) == pytest.approx([1 / (1 + 1 / np.log2(3))])
