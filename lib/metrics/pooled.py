"""Page recall where pages beyond the annotators' answer, too: gold pages are pooled over methods and judged.

Pooling is Spärck Jones & van Rijsbergen's (1975). ``pooled_gold/SET.csv`` has the labels of a question set, by two
readers, and a third where they differ, ``again`` a further reading of some that were drawn at random; a label without
readers is by the rule that ``protocol.md`` states.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pandas as pd

from lib.metrics.frame import Metric, long_frame
from lib.metrics.retrieval import PAGE, page_recall
from lib.typed import read_csv

FOLDER = Path(__file__).with_name("pooled_gold")
FULL, PART, NO = "full", "part", "no"  # whether a page answers its question
COLUMNS = [*PAGE, "reader_1", "reader_2", "reader_3", "label", "again"]


@cache
def pooled_gold(question_set: str) -> pd.DataFrame:
    """The judged pages of a question set, COLUMNS; none where nobody judged any."""
    path = FOLDER / f"{question_set}.csv"
    return read_csv(path) if path.is_file() else pd.DataFrame(columns=COLUMNS)


def page_recall_pooled(run: pd.DataFrame, questions: pd.DataFrame, judged: pd.DataFrame, k: int) -> pd.Series:
    """1.0 if a page of the top k chunks answers in full, else page recall; indexed by question_id."""
    full, top = judged[judged["label"] == FULL], run[run["rank"] <= k]
    recall, answered = page_recall(run, questions, k), top.merge(full[PAGE], on=PAGE)["question_id"]
    return recall.mask(recall.index.isin(answered), 1.0).rename("page_recall_pooled")


def pages_unjudged(
    run: pd.DataFrame, questions: pd.DataFrame, judged: pd.DataFrame, company_of: pd.Series, k: int
) -> pd.Series:
    """The share of the pages of the top k chunks that are of the question's company (``company_of`` a doc_name) and
    were not judged, 0 without pages; indexed by question_id."""
    asked = questions.set_index("question_id")["doc_name"]
    top = run.loc[run["rank"] <= k, PAGE].drop_duplicates().merge(judged[[*PAGE, "label"]], on=PAGE, how="left")
    is_own = top["doc_name"].map(company_of) == top["question_id"].map(asked).map(company_of)
    share = (is_own & top["label"].isna()).groupby(top["question_id"]).mean()
    return share.reindex(asked.index, fill_value=0.0).rename("pages_unjudged")


def pooled_metrics(
    run: pd.DataFrame, questions: pd.DataFrame, judged: pd.DataFrame, company_of: pd.Series, ks: Sequence[int]
) -> pd.DataFrame:
    """All of METRICS for one run as a long frame; ks are depths in chunks."""
    parts = []
    for k in ks:
        both = page_recall_pooled(run, questions, judged, k), pages_unjudged(run, questions, judged, company_of, k)
        parts += [long_frame(values, values.name, k) for values in both]
    return pd.concat(parts, ignore_index=True)


METRICS = (
    Metric(
        "page_recall_pooled", "Page recall, pooled gold", "Spärck Jones & van Rijsbergen (1975)", page_recall_pooled
    ),
    Metric("pages_unjudged", "Pages not judged", "Buckley & Voorhees (SIGIR 2004)", pages_unjudged),
)
