"""Page recall where pages beyond the annotators' answer, too.

Either gold pages are pooled over methods and judged (Spärck Jones & van Rijsbergen, 1975): ``pooled_gold/SET.csv`` has
the labels of a question set, by two readers, and a third where they differ, ``again`` a further reading of some that
were drawn at random; a label without readers is by the rule that ``protocol.md`` states. Or the questions themselves
list further pages (FURTHER_PAGES), of their filing and of others.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pandas as pd

from lib.frames import read_csv
from lib.metrics.frame import Metric, long_frame
from lib.metrics.retrieval import PAGE, page_recall

FOLDER = Path(__file__).with_name("pooled_gold")
FULL, PART, NO = "full", "part", "no"  # whether a page answers its question
ELSEWHERE = "elsewhere"  # it does, but is of another filing than the one that is asked for
COLUMNS = [*PAGE, "reader_1", "reader_2", "reader_3", "label", "again"]


@cache
def pooled_gold(question_set: str) -> pd.DataFrame:
    """The judged pages of a question set, COLUMNS; none where nobody judged any."""
    path = FOLDER / f"{question_set}.csv"
    return read_csv(path) if path.is_file() else pd.DataFrame(columns=COLUMNS)


def answering_pages(question_set: str, questions: pd.DataFrame) -> pd.DataFrame:
    """The pages beyond the gold ones whose ``label`` is known (PAGE and label): those that were judged, else those that
    the questions list; none where there are neither."""
    if len(judged := pooled_gold(question_set)):
        return judged[[*PAGE, "label"]]
    rows = []
    for one in questions.itertuples():
        rows += [(one.question_id, one.doc_name, page, FULL) for page in one.also]
        places = (page.rpartition("#p") for page in one.other_filings)
        rows += [(one.question_id, doc_name, int(page), ELSEWHERE) for doc_name, _, page in places]
    return pd.DataFrame(rows, columns=[*PAGE, "label"])


def page_recall_pooled(run: pd.DataFrame, questions: pd.DataFrame, judged: pd.DataFrame, k: int) -> pd.Series:
    """1.0 if a page of the top k chunks answers in full, else page recall; indexed by question_id."""
    return _with_answering(run, questions, judged, (FULL,), k).rename("page_recall_pooled")


def page_recall_lenient(run: pd.DataFrame, questions: pd.DataFrame, judged: pd.DataFrame, k: int) -> pd.Series:
    """As :func:`page_recall_pooled`, where pages of other filings count, too."""
    return _with_answering(run, questions, judged, (FULL, ELSEWHERE), k).rename("page_recall_lenient")


def _with_answering(
    run: pd.DataFrame, questions: pd.DataFrame, judged: pd.DataFrame, labels: Sequence[str], k: int
) -> pd.Series:
    answering, top = judged[judged["label"].isin(labels)], run[run["rank"] <= k]
    recall, answered = page_recall(run, questions, k), top.merge(answering[PAGE], on=PAGE)["question_id"]
    return recall.mask(recall.index.isin(answered), 1.0)


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
    """Those of METRICS for one run that the labels allow, as a long frame; ks are depths in chunks.

    Where the questions list further pages, what is not listed was read and does not answer; where some of these are of
    other filings, recall is measured with them, too.
    """
    is_pool, has_others, parts = judged["label"].isin([PART, NO]).any(), (judged["label"] == ELSEWHERE).any(), []
    for k in ks:
        found = [page_recall_pooled(run, questions, judged, k)]
        found += [page_recall_lenient(run, questions, judged, k)] if has_others else []
        found += [pages_unjudged(run, questions, judged, company_of, k)] if is_pool else []
        parts += [long_frame(values, values.name, k) for values in found]
    return pd.concat(parts, ignore_index=True)


METRICS = (
    Metric(
        "page_recall_pooled", "Page recall, pooled gold", "Spärck Jones & van Rijsbergen (1975)", page_recall_pooled
    ),
    Metric("page_recall_lenient", "Page recall, also in other filings", "this study", page_recall_lenient),
    Metric("pages_unjudged", "Pages not judged", "Buckley & Voorhees (SIGIR 2004)", pages_unjudged),
)
