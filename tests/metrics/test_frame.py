"""Metrics looked up in a frame, and page recall by pooled gold pages: one full page is enough."""

import pandas as pd
import pytest

from lib.evaluation import METRIC_COLUMNS
from lib.metrics.frame import Metrics, best
from lib.metrics.pooled import FULL, NO, PART, answering_pages, pooled_gold, pooled_metrics
from lib.metrics.retrieval import PAGE
from lib.published import Published
from lib.schema import StudyError

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
    for nothing in (("dense", "page_recall", 5), ("bm25", "page_recall", 7), ("bm25", "token_f1", None)):
        pd.testing.assert_series_equal(metrics[nothing], expected[:0])
        assert nothing not in metrics
    assert (("bm25", "oracle-page"), "page_recall", 5) in metrics
    assert "bm25" in metrics
    assert ("ahead", "oracle-page") not in metrics
    more = metrics + Metrics(TABLE[:2].assign(method="dense"))
    assert more["dense", "page_recall", 5].equals(metrics["bm25", "page_recall", 5])


def test_the_best_of_equals_is_the_first_by_name():
    assert best(pd.Series({"dense": 0.1, "bm25": 0.5, "ahead": 0.5})) == "ahead"
    with pytest.raises(StudyError, match="no method"):
        best(pd.Series(dtype=float))


QUESTIONS = pd.DataFrame({"question_id": ["q1", "q2"], "doc_name": ["A", "B"], "gold_pages": [[0, 4], [2]]})
RUN = pd.DataFrame(
    [("q1", "A", 0), ("q1", "A2", 7), ("q1", "A", 7), ("q1", "A", 7), ("q2", "A", 2), ("q2", "B", 9)], columns=PAGE
).assign(rank=[1, 2, 3, 4, 1, 2])
JUDGED = [("q1", "A2", 7, FULL), ("q1", "A", 0, PART), ("q2", "B", 9, NO), ("q2", "A", 2, NO)]
JUDGED = pd.DataFrame(JUDGED, columns=[*PAGE, "label"])
COMPANIES = pd.Series({"A": "ash", "A2": "ash", "B": "birch"})


def test_a_full_page_is_enough_else_gold_pages_count_and_what_nobody_judged_is_counted():
    found = pooled_metrics(RUN, QUESTIONS, JUDGED.iloc[[0, 3]], COMPANIES, [1, 2, 4])
    values = found.set_index(["metric", "question_id", "k"])["value"].to_dict()
    assert [values["page_recall_pooled", "q1", k] for k in (1, 2, 4)] == [0.5, 1.0, 1.0]
    assert {values["page_recall_pooled", "q2", k] for k in (1, 2, 4)} == {0.0}
    # neither a page of another company nor a second chunk of a page is one more page that nobody judged
    assert [values["pages_unjudged", "q1", 4], values["pages_unjudged", "q2", 4]] == [pytest.approx(2 / 3), 0.5]
    assert pooled_metrics(RUN.iloc[:0], QUESTIONS, JUDGED, COMPANIES, [4])["value"].eq(0).all()


def test_further_pages_of_questions_count_and_those_of_other_filings_apart():
    listed = QUESTIONS.assign(also=[[7], []], other_filings=[["A2#p0007"], ["A#p0002"]])
    answering = answering_pages("a set that nobody judged", listed)
    found = pooled_metrics(RUN, listed, answering, COMPANIES, [1, 2, 3])
    values = found.pivot(index=["question_id", "k"], columns="metric", values="value")
    assert values.columns.tolist() == ["page_recall_lenient", "page_recall_pooled"]
    assert values["page_recall_pooled"].tolist() == [0.5, 0.5, 1.0, 0.0, 0.0, 0.0]
    assert values["page_recall_lenient"].tolist() == [0.5, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_published_labels_are_of_readers_or_the_rule_and_of_known_questions():
    published, judged = Published.of("financebench", "default"), pooled_gold("financebench")
    assert pooled_gold("demo").empty
    assert not judged.duplicated(PAGE).any()
    assert set(judged["label"]) == {FULL, PART, NO}
    assert set(judged["question_id"]) == set(published.dataset().questions["question_id"])
    is_read, is_agreed = judged["reader_1"].notna(), judged["reader_1"] == judged["reader_2"]
    assert judged.loc[~is_read, "label"].eq(NO).all()
    assert (judged["label"] == judged["reader_1"])[is_read & is_agreed].all()
    assert judged.loc[is_read & ~is_agreed, "reader_3"].notna().all()
