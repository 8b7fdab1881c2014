"""Which page a chunk is on, as rows of a study's frames."""

import numpy as np

from lib.method import Search, memoized

PageKey = tuple[str, int]


@memoized
def page_rows(search: Search) -> dict[PageKey, int]:
    """From (doc_name, page) to the page's row in ``study.pages``."""
    keys = search.pages[["doc_name", "page"]].itertuples(index=False, name=None)
    return {key: row for row, key in enumerate(keys)}


@memoized
def pages_of_chunks(search: Search) -> np.ndarray:
    """The row in ``study.pages`` of each chunk's page, shape (n_chunks,)."""
    rows, chunks = page_rows(search), search.chunks
    return np.array([rows[key] for key in zip(chunks["doc_name"], chunks["page"], strict=True)], int)
