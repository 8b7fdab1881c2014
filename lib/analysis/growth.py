"""What is left of each method's recall as a collection grows, and what an archive of any size costs.

Measured once over more filings than the study's own, by code that stands in commit d4ceab42, and published.
"""

from collections.abc import Sequence

import pandas as pd

from lib.analysis.measured import known_table
from lib.stats import Resampling
from lib.study import Study

GROWTH, STORES, COSTS, ENGINES = "growth.csv.gz", "stores.csv", "costs.csv", "engines.csv"
GROWTH_COLUMNS = "kind draw n_filings n_pages method question_id k doc_recall page_recall".split()
MIXED = "mixed"
ASKED = "make ask"  # in the place of a method: pages as the command gives them
METRICS = ("doc_recall", "page_recall")


def measured(study: Study, k: int) -> pd.DataFrame:
    """GROWTH_COLUMNS of the methods at k chunks, here or as published; no rows where that was not measured."""
    known = known_table(study, GROWTH, GROWTH_COLUMNS)
    return known[(known["k"] == k) & (known["method"] != ASKED)].reset_index(drop=True)


def asked(study: Study) -> pd.DataFrame:
    """:func:`recalls` of what ``make ask`` finds by number of filings and pages, and k."""
    known = known_table(study, GROWTH, GROWTH_COLUMNS)
    return recalls(study, known[known["method"] == ASKED], ("n_filings", "n_pages", "k"))


def recalls(study: Study, found: pd.DataFrame, keys: Sequence[str] = GROWTH_COLUMNS[:5]) -> pd.DataFrame:
    """The mean recalls by ``keys``: doc_recall, page_recall, low and high of page recall, n, and doc_low and doc_high;
    without ``draw`` among the keys, values are means of draws."""
    draws, rows = Resampling.of(study), []
    for about, part in found.groupby(list(keys), sort=False):
        values = part.groupby("question_id", sort=False)[[*METRICS]].mean()
        doc, page = (draws.interval(values[name]) for name in METRICS)
        rows.append((*about, doc.mean, *page[:4], doc.low, doc.high))
    return pd.DataFrame(rows, columns=[*keys, *METRICS, "low", "high", "n", "doc_low", "doc_high"])


def by_size(study: Study, found: pd.DataFrame) -> pd.DataFrame:
    """:func:`recalls` of the mixed parts, a row a method and number of filings, n_pages being the mean of the draws."""
    mixed = found[found["kind"] == MIXED].astype({"n_pages": float})
    n_pages = mixed.groupby("n_filings")["n_pages"].transform("mean").round().astype(int)
    return recalls(study, mixed.assign(n_pages=n_pages), ("method", "n_filings", "n_pages"))
