"""Page recall by pooled gold pages: one full page is enough, and what nobody judged is counted."""

import pandas as pd
import pytest

from lib.metrics.pooled import FOLDER, FULL, NO, PART, pooled_gold, pooled_metrics
from lib.metrics.retrieval import PAGE, gold_pages
from lib.published import Published

QUESTIONS = pd.DataFrame({"question_id": ["q1", "q2"], "doc_name": ["A", "B"], "gold_pages": [[0, 4], [2]]})
RUN = pd.DataFrame(
    [("q1", "A", 0), ("q1", "A2", 7), ("q1", "A", 7), ("q1", "A", 7), ("q2", "A", 2), ("q2", "B", 9)], columns=PAGE
).assign(rank=[1, 2, 3, 4, 1, 2])
JUDGED = pd.DataFrame(
    [("q1", "A2", 7, FULL), ("q1", "A", 0, PART), ("q2", "B", 9, NO), ("q2", "A", 2, NO)], columns=[*PAGE, "label"]
)
COMPANIES = pd.Series({"A": "ash", "A2": "ash", "B": "birch"})


def test_a_full_page_is_enough_else_gold_pages_count_and_what_nobody_judged_is_counted():
    found = pooled_metrics(RUN, QUESTIONS, JUDGED.iloc[:1], COMPANIES, [1, 2, 4])
    values = found.set_index(["metric", "question_id", "k"])["value"].to_dict()
    assert [values["page_recall_pooled", "q1", k] for k in (1, 2, 4)] == [0.5, 1.0, 1.0]
    assert {values["page_recall_pooled", "q2", k] for k in (1, 2, 4)} == {0.0}
    # neither a page of another company nor a second chunk of a page is one more page that nobody judged
    assert [values["pages_unjudged", "q1", 4], values["pages_unjudged", "q2", 4]] == [pytest.approx(2 / 3), 0.5]
    assert pooled_metrics(RUN.iloc[:0], QUESTIONS, JUDGED, COMPANIES, [4])["value"].eq(0).all()


def test_published_labels_are_of_readers_or_the_rule_and_of_known_pages():
    published, judged = Published.of("financebench", "default"), pooled_gold("financebench")
    assert pooled_gold("demo").empty
    assert not judged.duplicated(PAGE).any()
    assert set(judged["label"]) == {FULL, PART, NO}
    questions = published.dataset().questions
    assert set(judged["question_id"]) == set(questions["question_id"])
    n_pages = judged["doc_name"].map(published.filings.set_index("doc_name")["n_pages"])
    assert judged["page"].between(0, n_pages - 1).all()
    read = judged[judged["reader_1"].notna()]
    assert judged.drop(read.index)["label"].eq(NO).all()
    is_agreed = read["reader_1"] == read["reader_2"]
    assert (read["label"] == read["reader_1"])[is_agreed].all()
    assert read["reader_2"].notna().all()
    assert read.loc[~is_agreed, "reader_3"].notna().all()
    gold = gold_pages(questions).merge(judged, on=PAGE, how="left")
    assert gold["label"].isin([FULL, PART]).mean() > 0.99
    assert (FOLDER / "protocol.md").is_file()
