"""Metrics merged into the file that the book shows."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lib.evaluation import METRIC_COLUMNS, merge_metrics, read_metrics
from lib.published import METRICS_FILE
from lib.words import StudyError
from tests.made import make_study

CATEGORIES = dict.fromkeys(["method", "condition", "question_id", "metric"], "category")


def metrics(*rows: tuple, method: str = "bm25", condition: str = "standard") -> pd.DataFrame:
    """Rows of (question_id, metric, k, value)."""
    table = pd.DataFrame([(method, condition, *row) for row in rows], columns=METRIC_COLUMNS)
    return table.astype({"k": "Int64", "value": float})


@pytest.fixture
def study(tmp_path):
    """Outputs in a folder."""
    given = {"store": SimpleNamespace(say=print), "dataset": SimpleNamespace(lacks=())}
    return make_study(outputs=tmp_path, questions=pd.DataFrame({"question_id": ["q1", "q2"]}), **given)


def test_merging_replaces_the_same_method_condition_and_metric_and_keeps_the_rest(study):
    first = metrics(("q1", "mrr", 10, 0.1), ("q2", "mrr", 10, 0.2), ("q1", "page_recall", 5, 0.3))
    merge_metrics(study, pd.concat([first, metrics(("q1", "mrr", 10, 0.4), method="dense")]))
    merge_metrics(study, metrics(("q1", "mrr", 10, 0.5)))
    other = metrics(("q1", "mrr", 10, 0.6), condition="oracle-page")
    merged, path = merge_metrics(study, other), study.outputs / METRICS_FILE
    rows = merged.set_index(["method", "condition", "question_id", "metric"])["value"].to_dict()
    wanted = {("bm25", "standard", "q1", "mrr"): 0.5, ("bm25", "standard", "q1", "page_recall"): 0.3}
    wanted |= {("bm25", "oracle-page", "q1", "mrr"): 0.6, ("dense", "standard", "q1", "mrr"): 0.4}
    assert rows == wanted
    pd.testing.assert_frame_equal(read_metrics(path), merged)
    before = path.read_bytes()
    merge_metrics(study, pd.concat([other, first[2:]])[::-1].astype(CATEGORIES))
    assert path.read_bytes() == before
    whole = merge_metrics(study, metrics(("q1", "mrr", 10, 0.2)), is_whole=True)  # of a metric, of every method
    assert whole[["method", "metric"]].to_numpy().tolist() == [["bm25", "mrr"], ["bm25", "page_recall"]]


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
