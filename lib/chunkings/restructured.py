"""Pages written anew before they are cut into chunks (Kim et al., 2025).

``markdown``: titles as ``# title`` and tables as ``| label | figure |``. ``annotated_tables``: each figure with its
column's head. Pages without anything to restructure keep their chunks; tables without places stay as they stand.
``tables_only``: no text but the tables', so that a page without a table cannot be found.
"""

import json

import numpy as np
import pandas as pd

from lib.chunkings.elements import elements
from lib.chunkings.tables import Grid, grid_of
from lib.data.chunks import split_pages
from lib.method import Search

NAMES = ("markdown", "annotated_tables", "tables_only")


def table(search: Search, name: str) -> pd.DataFrame:
    """CHUNK_COLUMNS of the pages written anew, one of :data:`NAMES`; the study is over its own chunks."""
    frame, settings = elements(search), search.profile.chunks
    how = search.tokenizer, settings.size, settings.overlap
    if name == "tables_only":
        return split_pages(frame[frame["kind"] == "table"], *how)
    write = {"markdown": as_markdown, "annotated_tables": annotated}[name]
    grids = [grid_of(json.loads(one.rows)) if one.rows and one.is_placed else None for one in frame.itertuples()]
    frame = frame.assign(new=list(map(write, frame["kind"], frame["text"], grids)))
    pages = frame.groupby(["doc_name", "page"], sort=False)[["text", "new"]].sum().reset_index()
    pages = pages[pages["text"] != pages["new"]]
    new = split_pages(pages.assign(text=pages["new"]), *how).assign(start=-1, end=-1)
    chunks = pd.concat([search.chunks[_place(search.chunks, pages) < 0], new], ignore_index=True)
    return chunks.iloc[np.argsort(_place(chunks, search.pages), kind="stable")].reset_index(drop=True)


def _place(chunks: pd.DataFrame, pages: pd.DataFrame) -> np.ndarray:
    """For each chunk the number of its page among pages, -1 where it is none of them."""
    keys = ["doc_name", "page"]
    return pd.MultiIndex.from_frame(pages[keys]).get_indexer(pd.MultiIndex.from_frame(chunks[keys]))


def as_markdown(kind: str, text: str, grid: Grid | None) -> str:
    """An element in markdown; text, and a table without a grid, as they are."""
    if kind == "title":
        return f"# {' '.join(text.split())}\n"
    if grid is None:
        return text
    rows = [("", grid.heads), ("---", ["---"] * len(grid.heads)), *grid.rows]
    return "\n".join([*grid.before, *(f"| {' | '.join([label, *texts])} |" for label, texts in rows), ""])


def annotated(kind: str, text: str, grid: Grid | None) -> str:
    """A table with the head of its column before each figure: ``Net sales | 2018: 32,765 | 2017: 31,657``."""
    if grid is None:
        return text
    rows = [(label, zip(grid.heads, texts, strict=True)) for label, texts in grid.rows]
    lines = [[label, *(f"{head}: {one}" if head and one else one for head, one in headed)] for label, headed in rows]
    return "\n".join([*grid.before, *(" | ".join(filter(None, line)) for line in lines), ""])
