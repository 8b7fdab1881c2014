"""Pages by filing and number: their texts, their rows in a study's frame, and which one a chunk is on."""

import numpy as np

from lib.method import Search, memoized

PageKey = tuple[str, int]


@memoized
def page_rows(search: Search) -> dict[PageKey, int]:
    """From (doc_name, page) to the page's row in ``study.pages``."""
    keys = search.pages[["doc_name", "page"]].itertuples(index=False, name=None)
    return {key: row for row, key in enumerate(keys)}


@memoized
def texts_of_pages(search: Search) -> dict[PageKey, str]:
    """The text of every page, by doc_name and page."""
    return search.pages.set_index(["doc_name", "page"])["text"].to_dict()


@memoized
def pages_of_chunks(search: Search) -> np.ndarray:
    """The row in ``study.pages`` of each chunk's page, shape (n_chunks,)."""
    rows, chunks = page_rows(search), search.chunks
    return np.array([rows[key] for key in zip(chunks["doc_name"], chunks["page"], strict=True)], int)
