"""Two public question sets that were measured apart from this study, once, with its code and saved rankers."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from lib.stats import Resampling

FILE = Path(__file__).with_suffix(".csv")


def values() -> pd.DataFrame:
    """Recall at 5 by set, method, question_id (a number), company (a number: of filings, or companies) and metric."""
    return pd.read_csv(FILE, dtype={"question_id": str})


def means(measured: pd.DataFrame, significance: Mapping[str, int]) -> pd.DataFrame:
    """Page recall of each set and method with its interval: set, method, mean, low, high, n; and document recall."""
    rows = []
    for (name, method), part in measured.groupby(["set", "method"], sort=False):
        by = part.pivot(index="question_id", columns="metric", values="value")
        company = part.drop_duplicates("question_id").set_index("question_id")["company"]
        draws = Resampling(company, significance["n_draws"], significance["seed"])
        rows.append((name, method, *draws.interval(by["page_recall"])[:4], by["doc_recall"].mean()))
    return pd.DataFrame(rows, columns=["set", "method", "mean", "low", "high", "n", "doc_recall"])
