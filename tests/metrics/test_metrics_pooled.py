"""Page recall by pooled gold pages: one full page is enough, and what nobody judged is counted."""

import pandas as pd
import pytest

from lib.metrics.pooled import FOLDER, FULL, NO, PART, page_recall_pooled, pages_unjudged, pooled_gold, pooled_metrics
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


@pytest.mark.parametrize(("k", "recall"), [(1, [0.5, 0.0]), (2, [1.0, 0.0])])
def test_a_full_page_is_enough_else_the_share_of_gold_pages_counts(k, recall):
    found = page_recall_pooled(RUN, QUESTIONS, JUDGED, k)
    assert found.to_dict() == dict(zip(["q1", "q2"], recall, strict=True))


def test_a_page_of_another_company_and_a_second_chunk_of_a_page_are_no_unjudged_pages():
    found = pages_unjudged(RUN, QUESTIONS, JUDGED.iloc[:1], COMPANIES, 4)
    assert found.to_dict() == {"q1": pytest.approx(2 / 3), "q2": 0.5}
    assert pages_unjudged(RUN.iloc[:0], QUESTIONS, JUDGED, COMPANIES, 4).eq(0).all()


def test_every_question_and_depth_has_both_metrics():
    found = pooled_metrics(RUN, QUESTIONS, JUDGED, COMPANIES, [1, 5])
    assert found.groupby(["metric", "k"]).size().to_dict() == {
        (name, k): 2 for name in ("page_recall_pooled", "pages_unjudged") for k in (1, 5)
    }


def test_published_labels_are_of_readers_or_the_rule_and_of_known_pages():
    published, judged = Published.of("financebench", "default"), pooled_gold("financebench")
    assert pooled_gold("demo").empty
    assert not judged.duplicated(PAGE).any()
    assert set(judged["label"]) == {FULL, PART, NO}
    assert set(judged["question_id"]) == set(published.dataset().questions["question_id"])
    n_pages = judged["doc_name"].map(published.filings.set_index("doc_name")["n_pages"])
    assert (judged["page"] < n_pages).all()
    assert (judged["page"] >= 0).all()
    by_rule = judged["reader_1"].isna()
    assert judged.loc[by_rule, "label"].eq(NO).all()
    assert judged.loc[~by_rule, "reader_2"].notna().all()
    apart = judged["reader_1"] != judged["reader_2"]
    same = judged[~by_rule & ~apart]
    assert (same["label"] == same["reader_1"]).all()
    assert judged.loc[~by_rule & apart, "reader_3"].notna().all()
    gold = gold_pages(published.dataset().questions).merge(judged, on=PAGE, how="left")
    assert gold["label"].isin([FULL, PART]).mean() > 0.99
    assert (FOLDER / "protocol.md").is_file()
