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


class OutsideSet(NamedTuple):
    """Page recall and document recall of an outside set, questions × methods, and draws of its companies."""

    pages: pd.DataFrame
    documents: pd.DataFrame
    draws: Resampling


def outside_sets(draws: Resampling, path: Path = PATH) -> dict[str, OutsideSet]:
    """Each outside set by its name; as many draws as ``draws`` has, with the same seed."""
    known = pd.read_csv(path, dtype={"question_id": str})
    return {name: _as_set(part, draws) for name, part in known.groupby("set", sort=False)}


def _as_set(part: pd.DataFrame, draws: Resampling) -> OutsideSet:
    methods = [*part["method"].unique()]
    recalls = part.pivot(index=["question_id", "company"], columns=["metric", "method"], values="value")
    recalls = recalls.reset_index("company")
    company = recalls.pop("company")
    pages, documents = (recalls[metric][methods] for metric in ("page_recall", "doc_recall"))
    return OutsideSet(pages, documents, replace(draws, company=company))
