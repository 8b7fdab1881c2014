"""Look-ups in a frame of metrics: the values of one run at one depth, whatever the columns' types and order."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lib.evaluation import METRIC_COLUMNS, in_order, merge_metrics, summarise
from lib.metrics import METRICS
from lib.metrics.frame import Metrics
from lib.stats import Resampling
from lib.words import StudyError

ROWS = [
    ("bm25", "standard", "q2", "page_recall", 5, 1.0),
    ("bm25", "standard", "q1", "page_recall", 5, 0.5),
    ("bm25", "standard", "q2", "page_recall", 10, 0.25),
    ("bm25", "oracle-page", "q2", "page_recall", 5, 0.0),
    ("ahead", "standard", "q1", "mrr", 10, 0.75),
    ("ahead", "standard", "q2", "token_f1", None, 0.5),
]
TABLE = pd.DataFrame(ROWS, columns=METRIC_COLUMNS).astype({"k": "Int64"})
TEXTS = ["method", "condition", "question_id", "metric"]


def categorical(table: pd.DataFrame) -> pd.DataFrame:
    """Texts as categories, in an order that is not that of their letters."""
    orders = {name: sorted(table[name].unique(), reverse=name != "question_id") for name in TEXTS}
    return table.assign(**{name: pd.Categorical(table[name], order) for name, order in orders.items()})


@pytest.fixture(params=[lambda table: table, categorical], ids=["texts", "categories"])
def metrics(request) -> Metrics:
    return Metrics(request.param(TABLE))


def test_values_are_those_of_a_run_a_metric_and_a_depth_in_the_order_of_the_frame(metrics):
    expected = pd.Series([1.0, 0.5], pd.Index(["q2", "q1"], name="question_id"), name="value")
    pd.testing.assert_series_equal(metrics["bm25", "page_recall", 5], expected)
    assert metrics["bm25", "page_recall", 10].to_dict() == {"q2": 0.25}
    assert metrics[("bm25", "oracle-page"), "page_recall", 5].to_dict() == {"q2": 0.0}
    assert metrics["ahead", "token_f1", None].to_dict() == {"q2": 0.5}
    for nothing in (("dense", "page_recall", 5), ("bm25", "token_f1", None)):
        pd.testing.assert_series_equal(metrics[nothing], expected[:0])


def test_what_was_measured_is_known(metrics):
    assert set(metrics.runs) == {("bm25", "standard"), ("bm25", "oracle-page"), ("ahead", "standard")}
    assert "bm25" in metrics
    assert ("bm25", "oracle-page") in metrics
    assert ("ahead", "oracle-page") not in metrics
    assert (("bm25", "oracle-page"), "page_recall", 5) in metrics
    assert ("bm25", "page_recall", 7) not in metrics
    with pytest.raises(StudyError, match="nothing was measured at k = 7: choose one of 5, 10, or add 7"):
        metrics["bm25", "page_recall", 7]


def test_metrics_are_added(metrics):
    more = metrics + Metrics(TABLE[:2].assign(method="dense"))
    assert more["dense", "page_recall", 5].equals(metrics["bm25", "page_recall", 5])
    assert len(more.frame) == 8


def test_categories_change_neither_order_nor_means_nor_what_is_written(tmp_path):
    asked = pd.DataFrame({"question_id": ["q2", "q1"], "company": ["Acme", "Bolt"]})
    texts, categories = (in_order(table, asked) for table in (TABLE, categorical(TABLE)))
    pd.testing.assert_frame_equal(categories.astype(texts.dtypes), texts)
    order = texts["metric"].map(list(METRICS).index)
    assert order.is_monotonic_increasing
    draws = Resampling(asked.set_index("question_id")["company"], 100, 0)
    pd.testing.assert_frame_equal(summarise(categories, draws), summarise(texts, draws))
    study = SimpleNamespace(outputs=tmp_path, questions=asked, dataset=SimpleNamespace(lacks=()))
    study.store, study.write = SimpleNamespace(say=print), lambda name, content: written.append(content)
    written = []
    merge_metrics(study, categories)
    merge_metrics(study, texts)
    assert written[0] == written[1]
