"""Did the run find the gold filing and the gold pages? Recall over chunks, and ranked measures over pages.

Every function answers for *all* questions: one that the run has no rows for scores 0 and counts. Rows of other
questions are ignored. ``doc_recall``, ``page_recall`` and ``page_hit`` look at the top k *chunks*; the measures of
``ir_measures`` (MacAvaney, Macdonald & Ounis, ECIR 2022) at distinct *pages* or *filings*, each where its first chunk
stands.
"""

from collections.abc import Sequence

import ir_measures
import pandas as pd
from ir_measures import AP, RR, R, nDCG

from lib.metrics.frame import Metric, long_frame

DEPTHS = (1, 3, 5, 10, 20)
PAGE = ["question_id", "doc_name", "page"]  # of a run and of the judgements
PAGE_METRICS = (
    Metric("ndcg", "nDCG", "Järvelin & Kekäläinen (TOIS 2002)", nDCG, depths=(3, 5, 10)),
    Metric("mrr", "MRR", "Voorhees (TREC 1999)", RR, depths=(3, 5, 10)),
    Metric("map", "MAP", "Harman (TREC 1992)", AP, depths=(10,)),
    Metric("recall", "Recall of distinct pages", "Cleverdon (1967)", R, depths=(10,)),
)
DOC_METRICS = (
    Metric("doc_ndcg", "nDCG of filings", "Järvelin & Kekäläinen (TOIS 2002)", nDCG, depths=(3, 5, 10)),
    Metric("doc_mrr", "MRR of filings", "Voorhees (TREC 1999)", RR, depths=(3, 5, 10)),
)


def gold_pages(questions: pd.DataFrame) -> pd.DataFrame:
    """The judgements: question_id, doc_name and page of each distinct gold page, in the questions' order."""
    gold = questions[[*PAGE[:2], "gold_pages"]].explode("gold_pages").rename(columns={"gold_pages": "page"})
    return gold.astype({"page": "int64"}).drop_duplicates(ignore_index=True)


def is_gold(pairs: pd.DataFrame, questions: pd.DataFrame) -> pd.Series:
    """Whether each pair's chunk lies on a gold page of its question; pairs have question_id, doc_name and page."""
    gold = pd.MultiIndex.from_frame(gold_pages(questions)[PAGE])
    return pd.Series(pd.MultiIndex.from_frame(pairs[PAGE]).isin(gold), pairs.index)


def marked(run: pd.DataFrame, questions: pd.DataFrame, k: int) -> pd.DataFrame:
    """The first k chunks of each question of a run, with ``is_right``, of the gold filing, and ``is_gold``, of a gold
    page."""
    top, filing_of = run[run["rank"] <= k], questions.set_index("question_id")["doc_name"]
    return top.assign(is_right=top["doc_name"] == top["question_id"].map(filing_of), is_gold=is_gold(top, questions))


def gold_ranks(run: pd.DataFrame, questions: pd.DataFrame) -> pd.DataFrame:
    """:func:`gold_pages` with ``rank``, the best one at which a chunk of the page is seen; NaN if none is."""
    seen = run[[*PAGE, "rank"]].astype({"page": "int64", "rank": "int64"})  # an empty run has no types
    ranks = gold_pages(questions).merge(seen, on=PAGE, how="left")
    return ranks.groupby(PAGE, as_index=False, sort=False).min()


def doc_recall(run: pd.DataFrame, questions: pd.DataFrame, k: int) -> pd.Series:
    """1.0 if one of the top k chunks is from the question's gold filing, else 0.0; indexed by question_id."""
    return page_recall(*_by_filing(run[run["rank"] <= k], questions), k).rename("doc_recall")


def _by_filing(run: pd.DataFrame, questions: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A run and its questions with each filing as its one page."""
    return run.assign(page=0), questions.assign(gold_pages=[[0]] * len(questions))


def page_recall(run: pd.DataFrame, questions: pd.DataFrame, k: int) -> pd.Series:
    """|gold pages among the pages of the top k chunks| / |gold pages|; indexed by question_id."""
    gold, top = gold_pages(questions), run[run["rank"] <= k]
    is_seen = pd.Series(pd.MultiIndex.from_frame(gold[PAGE]).isin(pd.MultiIndex.from_frame(top[PAGE])))
    return is_seen.groupby(gold["question_id"], sort=False).mean().rename("page_recall")


def page_hit(run: pd.DataFrame, questions: pd.DataFrame, k: int) -> pd.Series:
    """1.0 if one of the top k chunks is from a gold page, else 0.0; indexed by question_id."""
    return (page_recall(run, questions, k) > 0).astype(float).rename("page_hit")


def page_ranking(run: pd.DataFrame, depth: int | None = None) -> pd.DataFrame:
    """The run as a ranking of distinct pages, ``depth`` of each question or all: question_id, doc_name, page, rank
    (from 1), page_id, score.

    The score is minus the rank: trec_eval breaks ties by docno, so equal scores would not keep the run's order.
    """
    pages = run[[*PAGE, "rank"]].sort_values(["question_id", "rank"], kind="stable")
    pages = pages.drop_duplicates(PAGE, ignore_index=True)
    pages["rank"] = pages.groupby("question_id").cumcount() + 1
    pages = pages if depth is None else pages[pages["rank"] <= depth]
    ranks = pages["rank"]
    return pages[PAGE].assign(rank=ranks, page_id=_page_ids(pages), score=-ranks.astype(float))


def _page_ids(pages: pd.DataFrame) -> list[str]:
    return [f"{name}#p{page:04d}" for name, page in zip(pages["doc_name"], pages["page"], strict=True)]


def rank_measures(run: pd.DataFrame, questions: pd.DataFrame, metrics: Sequence[Metric] = PAGE_METRICS) -> pd.DataFrame:
    """Measures of ``ir_measures`` over the ranking of pages: question_id, metric, k (of ``depths``), value."""
    measures = {metric.function @ k: (metric.name, k) for metric in metrics for k in metric.depths}
    gold = gold_pages(questions)
    qrels = pd.DataFrame({"query_id": gold["question_id"], "doc_id": _page_ids(gold), "relevance": 1})
    depth = max(k for _, k in measures.values())
    pages = page_ranking(run[run["question_id"].isin(questions["question_id"])], depth)
    ranked = pages.rename(columns={"question_id": "query_id", "page_id": "doc_id"})
    value_of = {(m.measure, m.query_id): m.value for m in ir_measures.iter_calc(measures, qrels, ranked)}
    parts = []
    for measure, (name, k) in measures.items():
        values = pd.Series({q: value_of.get((measure, q), 0.0) for q in questions["question_id"]}, dtype=float)
        parts.append(long_frame(values, name, k))
    return pd.concat(parts, ignore_index=True)


def retrieval_metrics(run: pd.DataFrame, questions: pd.DataFrame, ks: Sequence[int] = DEPTHS) -> pd.DataFrame:
    """All of METRICS for one run as a long frame; ks are depths in chunks."""
    wanted = [(metric, k) for metric in CHUNK_METRICS for k in ks]
    parts = [long_frame(metric.function(run, questions, k), metric.name, k) for metric, k in wanted]
    filings = rank_measures(*_by_filing(run, questions), DOC_METRICS)
    return pd.concat([*parts, rank_measures(run, questions), filings], ignore_index=True)


CHUNK_METRICS = (
    Metric("doc_recall", "Document recall", "Kobeissi & Langlais (2026)", doc_recall),
    Metric("page_recall", "Page recall", "Kobeissi & Langlais (2026)", page_recall),
    Metric("page_hit", "Questions with a gold page", "this study", page_hit),
)
METRICS = (*CHUNK_METRICS, *PAGE_METRICS, *DOC_METRICS)
