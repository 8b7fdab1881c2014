"""What becomes of gold pages: found, page not retrieved, or filing not retrieved.

Each function takes document recall and page recall, of questions (a Series, or a frame questions × methods) or their
means, and returns the parts by name, which add to 1:

    found = page recall;  page = document recall − page recall;  document = 1 − document recall
"""

from typing import TypeVar

import pandas as pd

from lib.metrics.frame import Metrics, Run

Recall = TypeVar("Recall", float, pd.Series, pd.DataFrame)


def losses(documents: Recall, pages: Recall) -> dict[str, Recall]:
    """``found``, ``page`` and ``document``."""
    return {"found": pages, "page": documents - pages, "document": 1 - documents}


def pooled_losses(documents: Recall, pages: Recall) -> dict[str, Recall]:
    """:func:`losses` of questions by pooled gold: the filing counts as retrieved where a page of another one answers
    in full."""
    return losses(documents.clip(lower=(pages == 1).astype(float)), pages)


def losses_of(metrics: Metrics, run: Run, k: int) -> dict[str, pd.Series]:
    """:func:`losses` of each question in the first k chunks of a run."""
    return losses(metrics[run, "doc_recall", k], metrics[run, "page_recall", k])
