"""Metrics in the order that the bootstrap depends on, and merged into the file that the book shows."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lib.evaluation import (
    ANSWER_COLUMNS,
    METRIC_COLUMNS,
    in_order,
    merge_answers,
    merge_metrics,
    read_metrics,
    summarise,
)
from lib.published import ANSWERS_FILE, METRICS_FILE
from lib.stats import Resampling
from lib.words import StudyError

QUESTIONS = pd.DataFrame({"question_id": ["q10", "q2", "q1"], "company": ["Acme", "Acme", "Bolt"]})
ORDER = [("page_recall", 5), ("page_recall", 10), ("mrr", 10), ("ctx_bleu", 5)]  # as in the table of metrics
CATEGORIES = dict.fromkeys(["method", "condition", "question_id", "metric"], "category")


def metrics(*rows: tuple, method: str = "bm25", condition: str = "standard") -> pd.DataFrame:
    """Rows of (question_id, metric, k, value)."""
    table = pd.DataFrame([(method, condition, *row) for row in rows], columns=METRIC_COLUMNS)
    return table.astype({"k": "Int64", "value": float})


def test_metrics_come_by_metric_depth_and_question_as_the_dataset_orders_them():
    rows = [(question_id, *place, 0.0) for question_id in ("q1", "q10", "q2") for place in ORDER[::-1]]
    ordered = in_order(metrics(*rows), QUESTIONS)
    expected = pd.DataFrame([(id_, *place) for place in ORDER for id_ in QUESTIONS["question_id"]])
    assert ordered[["question_id", "metric", "k"]].to_numpy().tolist() == expected.to_numpy().tolist()
    assert ordered.index.tolist() == list(range(12))
    categories = in_order(metrics(*rows).astype(CATEGORIES), QUESTIONS)
    pd.testing.assert_frame_equal(categories.astype(ordered.dtypes), ordered)


@pytest.fixture
def study(tmp_path):
    """Outputs in a folder."""

    def write(name, content):
        (tmp_path / name).write_bytes(content)

    asked = pd.DataFrame({"question_id": ["q1", "q2"]})
    given = {"store": SimpleNamespace(say=print), "dataset": SimpleNamespace(lacks=())}
    return SimpleNamespace(outputs=tmp_path, questions=asked, write=write, **given)


def test_merging_replaces_the_same_method_condition_and_metric_and_keeps_the_rest(study):
    first = metrics(("q1", "mrr", 10, 0.1), ("q2", "mrr", 10, 0.2), ("q1", "page_recall", 5, 0.3))
    merge_metrics(study, pd.concat([first, metrics(("q1", "mrr", 10, 0.4), method="dense")]))
    merge_metrics(study, metrics(("q1", "mrr", 10, 0.5)))
    other = metrics(("q1", "mrr", 10, 0.6), condition="oracle-page")
    merged, path = merge_metrics(study, other), study.outputs / METRICS_FILE
    rows = merged.set_index(["method", "condition", "question_id", "metric"])["value"].to_dict()
    assert rows == {
        ("bm25", "oracle-page", "q1", "mrr"): 0.6,
        ("bm25", "standard", "q1", "mrr"): 0.5,
        ("bm25", "standard", "q1", "page_recall"): 0.3,
        ("dense", "standard", "q1", "mrr"): 0.4,
    }
    pd.testing.assert_frame_equal(read_metrics(path), merged)
    before = path.read_bytes()
    merge_metrics(study, pd.concat([other, first[2:]])[::-1].astype(CATEGORIES))
    assert path.read_bytes() == before
    whole = merge_metrics(study, metrics(("q1", "mrr", 10, 0.2)), is_whole=True)  # of a metric, of every method
    assert whole[["method", "metric"]].to_numpy().tolist() == [["bm25", "mrr"], ["bm25", "page_recall"]]


def test_answers_are_merged_by_context_prompt_generator_and_metric(study):
    rows = [("none", "plain", "small", "q1", metric, 0.0) for metric in ("answer_right", "refusal")]
    first = pd.DataFrame(rows, columns=ANSWER_COLUMNS)
    merge_answers(study, first)
    merge_answers(study, first[:1].assign(generator="large", value=1.0))
    merged = merge_answers(study, first[:1].assign(value=0.5))
    found = merged.set_index(["generator", "metric"])["value"].to_dict()
    assert found == {("large", "answer_right"): 1.0, ("small", "answer_right"): 0.5, ("small", "refusal"): 0.0}
    pd.testing.assert_frame_equal(read_metrics(study.outputs / ANSWERS_FILE), merged)


def test_rows_of_questions_and_answers_that_the_set_no_longer_has_go(study):
    rows = [("q1", "answer_rouge_l", None, 1.0), ("q1", "ctx_bleu", 5, 1.0), ("gone", "mrr", 10, 0.1)]
    merge_metrics(study, metrics(*rows))
    study.dataset.lacks = ("answer",)
    merged = merge_metrics(study, metrics(("q1", "page_recall", 5, 0.2)))
    assert merged["metric"].tolist() == ["ctx_bleu", "page_recall"]


@pytest.mark.parametrize("content", [b"", b"no Parquet", b"PAR1 half PAR1"])
def test_a_damaged_file_of_metrics_is_one_sentence(study, content):
    (study.outputs / METRICS_FILE).write_bytes(content)
    with pytest.raises(StudyError, match=rf"{METRICS_FILE} is damaged .*; remove it, and built.json"):
        merge_metrics(study, metrics(("q1", "mrr", 10, 0.2)))


def test_a_summary_has_the_mean_of_every_metric_with_questions_and_companies_counted():
    table = metrics(("q10", "mrr", 10, 0.0), ("q2", "mrr", 10, 0.5), ("q1", "mrr", 10, 1.0))
    draws = Resampling(QUESTIONS.set_index("question_id")["company"], 200, 7)
    row = summarise(table, draws).iloc[0]
    assert (row["mean"], row["n"], row["n_companies"]) == (0.5, 3, 2)
    assert row["low"] <= 0.5 <= row["high"]
