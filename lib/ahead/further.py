"""Views that the combiner does without: each is added alone, to see whether it would have helped."""

import numpy as np
import pandas as pd

from lib.ahead.features import FilingGroups, beside, standardised, view_features
from lib.ahead.pool import task_of
from lib.ahead.views import described_pages, pages_of_chunks
from lib.methods import METHODS
from lib.page_scorer.vectors import base_vectors

#: View and the method whose chunk scores it takes, a page being worth its best chunk; None: vectors of bare pages.
VIEWS = {"children": "parent_child", "sparse": "splade", "bare": None}


def page_matrix(study, view: str) -> np.ndarray:
    """A view of every page for every question, shape (n_questions, n_pages).

    Args:
        study: with filings.
        view: one of VIEWS.
    """
    if VIEWS[view] is None:
        queries, pages = base_vectors(study)
        return queries @ pages.T
    chunks = METHODS[VIEWS[view]].score(study, study.candidates("standard"))
    chunks = np.where(np.isfinite(chunks), chunks, chunks[np.isfinite(chunks)].min())
    owners, best = pages_of_chunks(study), np.full((len(chunks), len(study.pages)), chunks.min(), np.float32)
    for row, values in zip(best, chunks, strict=True):
        np.maximum.at(row, owners, values)
    return best


def view_columns(study, view: str) -> pd.DataFrame:
    """A view as the combiner's own views are told to it, one row a pair of the study's pool."""
    pool, groups = task_of(study).pool, FilingGroups(described_pages(study).filing)
    values = page_matrix(study, view)
    columns = view_features(view, values, groups) | {f"{view}_beside": beside(standardised(values), groups)}
    return pd.DataFrame(
        {name: found[pool.rows, pool.columns] for name, found in columns.items()}, np.arange(len(pool.rows))
    )
