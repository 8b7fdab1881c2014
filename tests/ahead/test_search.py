"""The order of chunks, and a whole search on filings of invented companies."""

import numpy as np
import pandas as pd
import pytest

from lib import runs
from lib.ahead import pool as pools
from lib.ahead import search as ahead
from lib.ahead.features import Pool

from .conftest import BALANCE, CASH, INCOME, LEGAL


def test_best_chunk_of_every_page_comes_before_second_chunks():
    pool = Pool(np.zeros(2, int), np.array([0, 1]), pd.DataFrame())
    pages = np.array([0, 0, 1, 1, 2])
    chunk_scores = np.array([[0.1, 0.2, 0.9, 0.8, 1.0]])
    spread = ahead.spread_pages(pool, np.array([5.0, 4.0]), chunk_scores, pages)
    assert spread.tolist() == [[-2, 0, -1, -3, -np.inf]]


def test_chunks_that_are_no_candidates_are_not_scored():
    pool = Pool(np.zeros(1, int), np.array([0]), pd.DataFrame())
    spread = ahead.spread_pages(pool, np.array([1.0]), np.array([[-np.inf, 0.5]]), np.array([0, 0]))
    assert spread.tolist() == [[-np.inf, 0]]


@pytest.fixture
def asked(two_companies):
    folder = two_companies
    folder.question(
        "q1", "GLIMMERFEN_2021_10K", (1, BALANCE), question="What are Glimmerfen's total assets in FY2021?"
    )
    folder.question(
        "q2", "OSKARVALE_2021_10K", (3, CASH), question="What is Oskarvale's capital expenditure?"
    )
    folder.question(
        "q3", "OSKARVALE_2021_10K", (4, LEGAL), question="Is there any lawsuit against Oskarvale?"
    )
    return folder.write()


def test_two_filings_of_unknown_companies_are_searched_with_the_saved_combiner(study_of, asked):
    study = study_of(asked)
    assert not pools.is_own(study)
    candidates = np.ones((3, len(study.chunks)), bool)
    scores = ahead.score(study, candidates)
    assert scores.shape == candidates.shape
    run = runs.rank(scores, study.questions, study.chunks, 5)
    top = run[run["rank"] == 1].set_index("question_id")
    assert top["doc_name"].tolist() == study.questions["doc_name"].tolist()
    assert (top.loc["q1", "page"], top.loc["q2", "page"]) == (1, 3)
    assert not run.duplicated(["question_id", "doc_name", "page"]).any()


def test_only_candidates_are_scored(study_of, asked):
    study = study_of(asked)
    candidates = study.candidates("oracle-document")
    scores = ahead.score(study, candidates)
    assert np.array_equal(np.isfinite(scores), candidates)


def test_the_same_question_alone_has_the_same_order(study_of, asked):
    study = study_of(asked)
    questions = study.questions["question"].tolist()
    together, alone = pools.page_pool(study, questions), pools.page_pool(study, questions[1:2])
    mine = together.part(together.rows == 1)
    assert mine.columns.tolist() == alone.columns.tolist()
    assert np.allclose(mine.table, alone.table, atol=1e-4, equal_nan=True)


def test_questions_that_it_was_trained_on_are_not_answered_by_the_saved_combiner(
    study_of, asked, monkeypatch
):
    study = study_of(asked)
    monkeypatch.setattr(pools, "saved_record", lambda: {"question_ids": ["q2"]})
    assert pools.is_own(study)
    pool = pools.page_pool(study, study.questions["question"].tolist())
    assert np.array_equal(pools.pool_scores(study, pool), pool.table["chosen"])


def test_income_statement_of_a_report_without_records(study_of, folder):
    folder.pdf(
        "report", "FORM 10-Q quarterly report\nOskarvale plc\n(Exact name of registrant)", INCOME, CASH
    )
    folder.documents.clear()
    folder.question("q1", "report", (1, INCOME), question="What was net income?")
    study = study_of(folder.write())
    scores = ahead.score(study, np.ones((1, len(study.chunks)), bool))
    run = runs.rank(scores, study.questions, study.chunks, 3)
    assert run["page"].iloc[0] == 1
