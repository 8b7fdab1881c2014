"""What is left of each method's recall as a collection grows, and what an archive of any size costs.

Measured once over more filings than the study's own, by code that stands in commit d4ceab42, and published.
"""

from collections.abc import Sequence

import pandas as pd

from lib.stats import Resampling
from lib.study import Study

GROWTH, STORES, COSTS, ENGINES = "growth.csv.gz", "stores.csv", "costs.csv", "engines.csv"
GROWTH_COLUMNS = "kind draw n_filings n_pages method question_id k doc_recall page_recall".split()
MIXED = "mixed"
ASKED = "make ask"  # in the place of a method: pages as the command gives them
METRICS = ("doc_recall", "page_recall")


def recalls(study: Study, found: pd.DataFrame, keys: Sequence[str] = GROWTH_COLUMNS[:5]) -> pd.DataFrame:
    """The mean recalls by ``keys``: doc_recall, page_recall, low and high of page recall, n, and doc_low and doc_high;
    without ``draw`` among the keys, values are means of draws."""
    draws, rows = Resampling.of(study), []
    for about, part in found.groupby(list(keys), sort=False):
        values = part.groupby("question_id", sort=False)[[*METRICS]].mean()
        doc, page = (draws.interval(values[name]) for name in METRICS)
        rows.append((*about, doc.mean, *page[:4], doc.low, doc.high))
    return pd.DataFrame(rows, columns=[*keys, *METRICS, "low", "high", "n", "doc_low", "doc_high"])
