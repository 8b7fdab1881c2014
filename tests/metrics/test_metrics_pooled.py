"""Page recall by pooled gold pages: one full page is enough, and what nobody judged is counted."""

import pandas as pd
import pytest

from lib.metrics.pooled import FULL, NO, PART, pooled_gold, pooled_metrics
from lib.metrics.retrieval import PAGE
from lib.published import Published

QUESTIONS = pd.DataFrame({"question_id": ["q1", "q2"], "doc_name": ["A", "B"], "gold_pages": [[0, 4], [2]]})
RUN = pd.DataFrame(
    [("q1", "A", 0), ("q1", "A2", 7), ("q1", "A", 7), ("q1", "A", 7), ("q2", "A", 2), ("q2", "B", 9)], columns=PAGE
).assign(rank=[1, 2, 3, 4, 1, 2])
JUDGED = [("q1", "A2", 7, FULL), ("q1", "A", 0, PART), ("q2", "B", 9, NO), ("q2", "A", 2, NO)]
JUDGED = pd.DataFrame(JUDGED, columns=[*PAGE, "label"])
COMPANIES = pd.Series({"A": "ash", "A2": "ash", "B": "birch"})


def test_a_full_page_is_enough_else_gold_pages_count_and_what_nobody_judged_is_counted():
    found = pooled_metrics(RUN, QUESTIONS, JUDGED.iloc[:1], COMPANIES, [1, 2, 4])
    values = found.set_index(["metric", "question_id", "k"])["value"].to_dict()
    assert [values["page_recall_pooled", "q1", k] for k in (1, 2, 4)] == [0.5, 1.0, 1.0]
    assert {values["page_recall_pooled", "q2", k] for k in (1, 2, 4)} == {0.0}
    # neither a page of another company nor a second chunk of a page is one more page that nobody judged
    assert [values["pages_unjudged", "q1", 4], values["pages_unjudged", "q2", 4]] == [pytest.approx(2 / 3), 0.5]
    assert pooled_metrics(RUN.iloc[:0], QUESTIONS, JUDGED, COMPANIES, [4])["value"].eq(0).all()


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
