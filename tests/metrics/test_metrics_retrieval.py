"""Recall over chunks and ranked measures over pages: by hand, and against the libraries."""

import math
from dataclasses import replace

import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.metrics import retrieval as m


def run_of(**chunks: list[tuple[str, int]]) -> pd.DataFrame:
    """A run of the (filing, page) of each question's chunks, best first; trec_eval would reorder its equal scores."""
    rows = [
        (question, rank, f"{doc}#p{page:04d}#c{rank:02d}", doc, page, 0.5)
        for question, pages in chunks.items()
        for rank, (doc, page) in enumerate(pages, start=1)
    ]
    return pd.DataFrame(rows, columns=["question_id", "rank", "chunk_id", "doc_name", "page", "score"])


def questions_of(**gold: tuple[str, list[int]]) -> pd.DataFrame:
    rows = [(question, doc, pages) for question, (doc, pages) in gold.items()]
    return pd.DataFrame(rows, columns=["question_id", "doc_name", "gold_pages"])


def values(frame: pd.DataFrame, metric: str, k: int) -> dict[str, float]:
    return frame[(frame["metric"] == metric) & (frame["k"] == k)].set_index("question_id")["value"].to_dict()


RUN = run_of(q1=[("B", 4), ("A", 7), ("A", 4), ("A", 4), ("A", 0)], q2=[("A", 4), ("A", 0)])
QUESTIONS = questions_of(q1=("A", [0, 4]), q2=("B", [4]), q3=("A", [0]))


def test_a_gold_page_is_of_the_gold_filing_and_counts_from_where_it_is_first_seen():
    # A#p4 comes at rank 3 and again at 4; A#p0 at rank 5; B#p4 is the right number in the wrong filing.
    assert m.gold_ranks(RUN, QUESTIONS)["rank"].fillna(0).tolist() == [5, 3, 0, 0]
    assert m.is_gold(RUN, QUESTIONS).tolist() == [False, False, True, True, True, False, False]
    for k, hit in ((2, 0.0), (3, 1.0)):
        assert m.page_hit(RUN, QUESTIONS, k).tolist() == [hit, 0.0, 0.0]


def test_measures_over_pages_and_filings_by_hand():
    # Distinct pages of q1: B4, A7, A4 (gold), A0 (gold): gold at ranks 3 and 4. Filings: B, then A.
    found = m.retrieval_metrics(RUN, QUESTIONS).set_index(["question_id", "metric", "k"])["value"]
    ideal = 1 / math.log2(2) + 1 / math.log2(3)
    by_hand = {"ndcg": (1 / math.log2(4) + 1 / math.log2(5)) / ideal, "mrr": 1 / 3, "map": (1 / 3 + 2 / 4) / 2}
    by_hand |= {"recall": 1.0, "doc_mrr": 1 / 2, "doc_ndcg": 1 / math.log2(3)}
    assert {metric: found["q1", metric, 10] for metric in by_hand} == pytest.approx(by_hand)
    assert [found["q1", "ndcg", 3], found["q1", "mrr", 3]] == pytest.approx([(1 / math.log2(4)) / ideal, 1 / 3])
    assert found["q2"].eq(0).all()  # a question counts without a right page, and without a row
    assert found["q3"].eq(0).all()
    assert len(found) == 3 * (len(m.CHUNK_METRICS) * len(m.DEPTHS) + 8 + 6)
    nothing = pd.DataFrame(columns=list(RUN.columns))
    assert m.retrieval_metrics(nothing, QUESTIONS)["value"].eq(0.0).all()
    assert m.gold_ranks(nothing, QUESTIONS)["rank"].isna().all()


pages = st.tuples(st.sampled_from("ABé"), st.integers(0, 3))
runs = st.dictionaries(st.sampled_from(["q1", "q2", "q 3"]), st.lists(pages, max_size=25))
# Pages 0 to 3 of three filings: at most 12 distinct pages, so that ranks 11 and 12 test the cutoff at 10.
golds = st.tuples(st.sampled_from("ABé"), st.lists(st.integers(0, 3), min_size=1, max_size=4))
golds = st.dictionaries(st.sampled_from(["q1", "q2", "q 3"]), golds, min_size=1)


@settings(max_examples=40)
@given(runs, golds, st.integers(1, 16))
def test_recall_is_that_of_sets_of_pages(chunks, gold, k):
    run, questions = run_of(**chunks).sample(frac=1, random_state=1), questions_of(**gold)
    docs, shares = m.doc_recall(run, questions, k), m.page_recall(run, questions, k)
    for question, (doc, gold_pages) in gold.items():
        top = chunks.get(question, [])[:k]
        wanted = {(doc, page) for page in gold_pages}
        assert docs[question] == float(any(d == doc for d, _ in top))
        assert shares[question] == len(wanted & set(top)) / len(wanted)
    assert list(docs.index) == list(shares.index) == list(gold)


@settings(max_examples=40)
@given(runs, golds)
def test_measures_equal_pytrec_eval_on_a_ranking_made_by_hand(chunks, gold):
    run = run_of(**chunks).sample(frac=1, random_state=1)  # in any order of its rows
    ours = m.rank_measures(run, questions_of(**gold), [*m.PAGE_METRICS, replace(m.PAGE_METRICS[3], depths=(5,))])
    qrels = {q: {f"{doc}/{page}": 1 for page in pages} for q, (doc, pages) in gold.items()}
    ranked = {}
    for question, pages in chunks.items():
        distinct = dict.fromkeys(f"{doc}/{page}" for doc, page in pages)
        ranked |= {question: {page: -float(i) for i, page in enumerate(distinct)}} if distinct else {}
    names = {"ndcg": "ndcg_cut_10", "recall": "recall_5", "map": "map_cut_10", "mrr": "recip_rank"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(names.values())).evaluate(ranked)
    for metric, k in (("ndcg", 10), ("recall", 5), ("map", 10), ("mrr", 10)):
        expected = {q: theirs.get(q, {}).get(names[metric], 0.0) for q in gold}
        if metric == "mrr":  # theirs has no cutoff
            expected = {q: value if value > 1 / 10.5 else 0.0 for q, value in expected.items()}
        assert values(ours, metric, k) == pytest.approx(expected)
