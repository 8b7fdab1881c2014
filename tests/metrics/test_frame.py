"""Look-ups in a frame of metrics: the values of one run at one depth, whatever the columns' types and order."""

import pandas as pd
import pytest

from lib.evaluation import METRIC_COLUMNS
from lib.metrics.frame import Metrics, best
from lib.words import StudyError

ROWS = [
    ("bm25", "standard", "q2", "page_recall", 5, 1.0),
    ("bm25", "standard", "q1", "page_recall", 5, 0.5),
    ("bm25", "standard", "q2", "page_recall", 10, 0.25),
    ("bm25", "oracle-page", "q2", "page_recall", 5, 0.0),
    ("ahead", "standard", "q2", "token_f1", None, 0.5),
]
TABLE = pd.DataFrame(ROWS, columns=METRIC_COLUMNS).astype({"k": "Int64"})


def categorical(table: pd.DataFrame) -> pd.DataFrame:
    """Texts as categories, in an order that is not that of their letters."""
    of = {name: pd.CategoricalDtype(sorted(set(table[name]))[::-1]) for name in METRIC_COLUMNS[:4]}
    return table.astype(of)


@pytest.fixture(params=[TABLE, categorical(TABLE)], ids=["texts", "categories"])
def metrics(request) -> Metrics:
    return Metrics(request.param)


def test_values_are_those_of_a_run_a_metric_and_a_depth_in_the_order_of_the_frame(metrics):
    expected = pd.Series([1.0, 0.5], pd.Index(["q2", "q1"], name="question_id"), name="value")
    pd.testing.assert_series_equal(metrics["bm25", "page_recall", 5], expected)
    assert metrics[("bm25", "oracle-page"), "page_recall", 5].to_dict() == {"q2": 0.0}
    assert metrics["ahead", "token_f1", None].to_dict() == {"q2": 0.5}
    for nothing in (("dense", "page_recall", 5), ("bm25", "token_f1", None)):
        pd.testing.assert_series_equal(metrics[nothing], expected[:0])
    more = metrics + Metrics(TABLE[:2].assign(method="dense"))
    assert more["dense", "page_recall", 5].equals(metrics["bm25", "page_recall", 5])


def test_what_was_measured_is_known(metrics):
    assert set(metrics.runs) == {("bm25", "standard"), ("bm25", "oracle-page"), ("ahead", "standard")}
    for known in ("bm25", ("bm25", "oracle-page"), (("bm25", "oracle-page"), "page_recall", 5)):
        assert known in metrics
    for unknown in (("ahead", "oracle-page"), ("bm25", "page_recall", 7)):
        assert unknown not in metrics
    assert metrics["bm25", "page_recall", 7].empty


def test_the_best_of_equals_is_the_first_by_name():
    rows = [("bm25", 0.5), ("ahead", 0.5), ("dense", 0.1)]
    summary = pd.DataFrame(rows, columns=["method", "mean"]).assign(metric="page_recall", condition="standard")
    assert best(summary)["method"] == "ahead"
    with pytest.raises(StudyError, match="no method has mrr under standard here"):
        best(summary, "mrr")
