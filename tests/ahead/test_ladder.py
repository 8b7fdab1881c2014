"""The ladder's rungs, and the sorting of what is missed."""

import numpy as np
import pandas as pd
import pytest

from lib import runs
from lib.ahead import ladder
from lib.ahead import search as ahead
from lib.ahead.combiner import Combiner
from lib.ahead.linear import FEATURES
from lib.ahead.pool import SAVED, page_pool, saved_record, task_of
from lib.analysis.missed import SORTS, figures_of, missed
from lib.show.ladder import steps, steps_table

from .conftest import BALANCE, CASH


@pytest.fixture
def study(study_of, two_companies):
    folder = two_companies
    folder.question(
        "q1",
        "GLIMMERFEN_2021_10K",
        (1, BALANCE),
        question="What are Glimmerfen's total assets?",
        answer="535",
    )
    folder.question(
        "q2", "OSKARVALE_2021_10K", (3, CASH), (1, BALANCE), question="What is Oskarvale's capex?"
    )
    return study_of(folder.write())


def test_every_column_belongs_to_an_ingredient_and_none_is_lost(study):
    table = page_pool(study, ["What are total assets?"]).table
    assert ladder.columns_of(ladder.ALL, table) == list(table)
    for name in ladder.INGREDIENTS:
        others = [other for other in ladder.ALL if other != name]
        assert len(ladder.columns_of(others, table)) < table.shape[1]
    assert set(FEATURES) <= set(table)


def test_unknown_columns_are_refused():
    with pytest.raises(ValueError, match="'moon' belongs to no ingredient"):
        ladder.columns_of(["words"], pd.DataFrame({"moon": [1.0]}))


def test_without_an_ingredient_its_columns_are_gone(study):
    table = page_pool(study, ["What are total assets?"]).table
    rung = next(rung for rung in ladder.WITHOUT if rung.name == "no_words")
    assert not [column for column in ladder.columns_of(rung.ingredients, table) if column.startswith("words")]


def test_elsewhere_the_ladder_is_the_plain_rung(study):
    metrics = ladder.ladder_metrics(study)
    assert set(metrics["metric"]) == {"rung_doc_recall/routed", "rung_page_recall/routed"}
    assert len(metrics) == 4


def test_recall_of_the_first_pages(study):
    task = task_of(study)
    found = ladder.recalls(task, task.gold.astype(float), 2, 5)
    assert found["page_recall"].tolist() == [1, 1]
    first = ladder.recalls(task, task.gold.astype(float), 2, 1)
    assert first["page_recall"].tolist() == [1, 0.5]


def test_saved_combiner_reads_only_columns_that_there_are(study):
    table = page_pool(study, ["What are total assets?"]).table
    combiner = Combiner.load(SAVED)
    assert set(combiner.boosters[0].feature_name()) <= set(table)
    assert set(combiner.linear.features) <= set(table)
    assert len(saved_record()["question_ids"]) == saved_record()["n_questions"]


def test_steps_next_to_the_step_above(study):
    first = pd.Series([0.0, 0.5], ["q1", "q2"])
    frame = steps(study, {"a": first, "b": first + 0.5}, {"a": first, "b": first}, [None, "a"])
    assert frame["page_recall"].tolist() == [0.25, 0.75]
    assert np.isnan(frame["difference"].iloc[0])
    assert frame["difference"].iloc[1] == 0.5
    assert steps_table(frame, "Difference").shape == (2, 6)


def test_figures_of_an_answer_are_numbers_of_three_signs_that_are_no_years():
    assert figures_of("$1,577.0 million in 2018, 24.5%, up 12 and 7") == {"1577.0", "24.5"}


def test_what_is_missed_is_sorted_by_the_first_rule_that_holds(study):
    gold = study.questions.set_index("question_id")
    pages = study.chunks.set_index(["doc_name", "page"])["chunk_id"]

    def run_of(question_id, *keys):
        rows = [(question_id, n, pages[key], *key, -float(n)) for n, key in enumerate(keys, 1)]
        return pd.DataFrame(rows, columns=["question_id", "rank", "chunk_id", "doc_name", "page", "score"])

    glimmer, oskar = gold["doc_name"]
    run = pd.concat([run_of("q1", (oskar, 1)), run_of("q2", (oskar, 2), (oskar, 3))])
    assert missed(study, run, k=2)["sort"].tolist() == [SORTS[0], SORTS[1]]
    run = pd.concat([run_of("q1", (oskar, 1), (glimmer, 2)), run_of("q2", (oskar, 3), (oskar, 1))])
    assert missed(study, run, k=2)["sort"].tolist() == [SORTS[2]]
    run = pd.concat([run_of("q1", (glimmer, 2), (glimmer, 1)), run_of("q2", (oskar, 3), (oskar, 1))])
    found = missed(study, run, k=1, next_k=2)
    assert found["sort"].tolist() == [SORTS[3], SORTS[1]]
    assert found["best_rank"].tolist() == [2, 2]


def test_nothing_missed_is_an_empty_table(study):
    scores = np.where(study.candidates("oracle-page"), 1.0, -np.inf)
    assert missed(study, runs.rank(scores, study.questions, study.chunks, 5)).empty
    assert ahead.inputs(study)
