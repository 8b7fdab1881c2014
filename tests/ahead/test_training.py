"""Nothing of a test fold is read in training, choices are made inside, and what is saved for other datasets."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from extras.ahead.train import train
from lib.ahead.combiner import Combiner
from lib.ahead.training import Task, choose, fold_combiner, ndcg, training_part
from lib.folds import LeakError, make_folds
from lib.profile import load_profile

from .test_combiner import made_pool

FILINGS = {f"{company}_2020": company for company in ("ash", "birch", "cedar", "dogwood", "elm")}


@pytest.fixture(scope="module")
def settings():
    small = {"n_trees": [5, 10], "shares": [0.0, 1.0], "seeds": [13], "inner_folds": 2, "min_pages": 5}
    return load_profile("default").replaced({f"ahead.{name}": value for name, value in small.items()}).ahead


@pytest.fixture
def task() -> Task:
    """Twenty questions, four per company; page p is of company p mod 5."""
    names = list(FILINGS)
    return Task(made_pool(), np.ones(20, int), np.resize(names, 20), np.resize(names, 12), FILINGS)


@pytest.fixture
def folds(task):
    questions = pd.DataFrame({"question_id": range(20), "doc_name": task.gold_filings})
    filings = pd.DataFrame({"doc_name": list(FILINGS), "company": list(FILINGS.values())})
    return make_folds(questions, filings, "company", 5, 13)


def test_training_reads_only_training_companies(task, folds):
    for fold in folds:
        part = training_part(task, fold)
        read = {FILINGS[name] for name in part.page_filings[part.pool.columns]}
        assert not (read | set(part.companies(part.questions))) & set(task.companies(fold.test))


def test_leaks_are_refused(task, folds):
    fold, other = folds[:2]
    of_questions = {"train": fold.train + fold.test[:1], "train_filings": other.train_filings}
    with pytest.raises(LeakError, match="questions in training and in test"):
        training_part(task, dataclasses.replace(fold, **of_questions))
    of_filings = {"train_filings": fold.train_filings | fold.test_filings}
    with pytest.raises(LeakError, match="companies in training and in test"):
        training_part(task, dataclasses.replace(fold, **of_filings))


def test_record_of_the_choice_and_the_training_data(task, folds, settings):
    combiner, record = fold_combiner(task, folds[0], settings)
    assert record["n_trees"] in settings.n_trees
    assert record["share"] == combiner.share
    assert not set(record["train_companies"]) & set(record["test_companies"])
    assert len(record["curve"]) == 2 * 2  # n_trees times shares


def test_choice_does_not_depend_on_the_test_questions_gold(task, folds, settings):
    tested = np.isin(task.pool.rows, folds[0].test)
    changed = dataclasses.replace(task, pool=dataclasses.replace(task.pool, gold=task.pool.gold ^ tested))
    first, second = (choose(training_part(each, folds[0]), settings) for each in (task, changed))
    assert first == second


def test_ndcg_of_a_gold_page_at_rank_two_and_of_one_that_is_missing(task):
    one = task.part(task.pool.rows == 0)
    is_first = np.roll(one.pool.gold, 1)
    assert ndcg(one, 2.0 * is_first + one.pool.gold) == pytest.approx([1 / np.log2(3)])
    two = dataclasses.replace(one, n_gold=np.full(20, 2))
    assert ndcg(two, one.pool.gold.astype(float)) == pytest.approx([1 / (1 + 1 / np.log2(3))])


def test_the_combiner_for_other_datasets_is_saved_with_what_it_was_trained_on(study, tmp_path):
    changes = {"ahead.n_trees": [5], "ahead.min_pages": 2}
    about = train(study.with_changes(changes), tmp_path / "model")
    assert about["question_ids"] == study.questions["question_id"].tolist()
    assert Combiner.load(tmp_path / "model").n_trees == 5
