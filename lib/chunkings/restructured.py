"""Pages written anew before they are cut into chunks (Kim et al., 2025).

``markdown``: titles as ``# title`` and tables as ``| label | figure |``. ``annotated_tables``: each figure of a table
with the head of its column, in a line that begins with its row's label. Pages are cut as the study's own are; a page
without anything to restructure keeps its chunks as they are. Where a filing is given as text, its cells have no places,
and its tables stay as they stand. ``tables_only``: the tables alone; all other text is removed, the titles of tables
too, so that a page without a table cannot be found.
"""

import json

import numpy as np
import pandas as pd

from lib.chunkings.elements import elements
from lib.chunkings.grid import Grid, grid_of
from lib.data.chunks import split_pages
from lib.study import Study

NAMES = ("markdown", "annotated_tables", "tables_only")


def table(study: Study, name: str) -> pd.DataFrame:
    """CHUNK_COLUMNS of the pages written anew, one of :data:`NAMES`; the study is over its own chunks."""
    found, settings = elements(study), study.profile.chunks
    if name == "tables_only":
        tables = found[found["kind"] == "table"]
        return split_pages(tables, study.tokenizer, settings.size, settings.overlap)
    write = {"markdown": as_markdown, "annotated_tables": annotated}[name]
    texts = [
        write(one.kind, one.text, grid_of(json.loads(one.rows)) if one.rows and one.is_placed else None)
        for one in found.itertuples()
    ]
    return _with_new_pages(study, found.assign(new=texts))


def as_markdown(kind: str, text: str, grid: Grid | None) -> str:
    """An element in markdown; text, and a table without a grid, as they are."""
    if kind == "title":
        return f"# {' '.join(text.split())}\n"
    if grid is None:
        return text
    rows = [("", grid.heads), ("---", ["---"] * len(grid.heads)), *grid.rows]
    lines = [f"| {' | '.join([label, *texts])} |" for label, texts in rows]
    return "\n".join([" ".join(grid.before)] * bool(grid.before) + lines) + "\n"


def annotated(kind: str, text: str, grid: Grid | None) -> str:
    """A table with the head of its column before each figure: ``Net sales | 2018: 32,765 | 2017: 31,657``."""
    if grid is None:
        return text
    lines = [" ".join(grid.before)] if grid.before else []
    for label, texts in grid.rows:
        headed = zip(grid.heads, texts, strict=True)
        figures = [f"{head}: {one}" if head else one for head, one in headed if one]
        lines.append(" | ".join([label, *figures] if label else figures))
    return "\n".join(lines) + "\n"


def _with_new_pages(study: Study, found: pd.DataFrame) -> pd.DataFrame:
    """The study's chunks, with those of the pages whose elements' ``new`` text differs cut anew from it."""
    pages = found.groupby(["doc_name", "page"], sort=False)[["text", "new"]].sum().reset_index()
    pages = pages[pages["text"] != pages["new"]]
    kept = study.chunks[_place(study.chunks, pages) < 0]
    settings, new = study.profile.chunks, pages.assign(text=pages["new"])
    new = split_pages(new, study.tokenizer, settings.size, settings.overlap).assign(start=-1, end=-1)
    chunks = pd.concat([kept, new], ignore_index=True)
    return chunks.iloc[np.argsort(_place(chunks, study.pages), kind="stable")].reset_index(drop=True)


def _place(chunks: pd.DataFrame, pages: pd.DataFrame) -> np.ndarray:
    """For each chunk the number of its page among pages, -1 where it is none of them."""
    keys = ["doc_name", "page"]
    return pd.MultiIndex.from_frame(pages[keys]).get_indexer(pd.MultiIndex.from_frame(chunks[keys]))
