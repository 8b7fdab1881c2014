"""Other questions about the same filings: recalls at 5 chunks that were measured once, apart from this study.

``outside.csv`` is by the code of commit ``0733168`` with its saved rankers: set, method, question_id, company (or what
else clusters the questions), metric and value.
"""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from lib.stats import Resampling

PATH = Path(__file__).with_name("outside.csv")
CONTRASTS = {"Ahead − dense, metadata match": ("ahead", "dense_records"), "page kinds": ("ahead", "ahead_general")}


class OutsideSet(NamedTuple):
    """The name of the set, page recall and document recall, questions × methods, and draws of its companies."""

    name: str
    pages: pd.DataFrame
    documents: pd.DataFrame
    draws: Resampling


def outside_set(draws: Resampling) -> OutsideSet:
    """The outside set; as many draws as ``draws`` has, with the same seed."""
    known = pd.read_csv(PATH, dtype={"question_id": str})
    [name], methods = known["set"].unique(), [*known["method"].unique()]
    recalls = known.pivot(index=["question_id", "company"], columns=["metric", "method"], values="value")
    recalls = recalls.reset_index("company")
    company = recalls.pop("company")
    pages, documents = (recalls[metric][methods] for metric in ("page_recall", "doc_recall"))
    return OutsideSet(name, pages, documents, replace(draws, company=company))
