"""Pages written anew before they are cut into chunks (Kim et al., 2025).

``markdown``: titles as ``# title`` and tables as ``| label | figure |``. ``annotated_tables``: each figure of a table
with the head of its column, in a line that begins with its row's label. ``extracted_tables``: tables taken out of the
text, as chunks of their own. Pages are cut as the study's own are; a page without anything to restructure keeps its
chunks as they are. Where a filing is given as text, its cells have no places, and its tables stay as they stand.
"""

import json

import pandas as pd

from lib.chunkings.elements import elements
from lib.chunkings.grid import Grid, grid_of
from lib.chunkings.sizes import joined
from lib.data.chunks import chunk_key, load_tokenizer, split_pages
from lib.models.weights import fetch
from lib.study import Study
from lib.words import PAGE_COLUMNS

NAMES = ("markdown", "annotated_tables", "extracted_tables")


def table(study: Study, name: str) -> pd.DataFrame:
    """CHUNK_COLUMNS of the pages written anew.

    Args:
        study: over its own chunks.
        name: one of :data:`NAMES`.
    """
    found = elements(study)
    if name == "extracted_tables":
        is_table = found["kind"] == "table"
        return _in_page_order(study, joined([_rest(study, found), _tables(study, found[is_table])]))
    write = {"markdown": as_markdown, "annotated_tables": annotated}[name]
    grids = [
        grid_of(json.loads(one.rows)) if one.rows and one.is_placed else None for one in found.itertuples()
    ]
    texts = [write(one.kind, one.text, grid) for one, grid in zip(found.itertuples(), grids, strict=True)]
    pages = whole_pages(found.assign(new=texts))
    return _with_new_pages(study, pages[pages["text"] != pages["new"]])


def as_markdown(kind: str, text: str, grid: Grid | None) -> str:
    """An element in markdown; text, and a table without a grid, as they are."""
    if kind == "title":
        return f"# {' '.join(text.split())}\n"
    if grid is None:
        return text
    lines = [" ".join(grid.before)] if grid.before else []
    lines += [_line("", grid.heads), _line("---", ["---"] * len(grid.heads))]
    lines += [_line(label, texts) for label, texts in grid.rows]
    return "\n".join(lines) + "\n"


def _line(label: str, texts: list[str]) -> str:
    return f"| {' | '.join([label, *texts])} |"


def annotated(kind: str, text: str, grid: Grid | None) -> str:
    """A table with the head of its column before each figure: ``Net sales | 2018: 32,765 | 2017: 31,657``."""
    if grid is None:
        return text
    lines = [" ".join(grid.before)] if grid.before else []
    for label, texts in grid.rows:
        figures = [
            f"{head}: {one}" if head else one for head, one in zip(grid.heads, texts, strict=True) if one
        ]
        lines.append(" | ".join([label, *figures] if label else figures))
    return "\n".join(lines) + "\n"


def whole_pages(found: pd.DataFrame) -> pd.DataFrame:
    """The elements' ``text`` and ``new`` text joined: doc_name, page, text, new."""
    return found.groupby(["doc_name", "page"], sort=False)[["text", "new"]].sum().reset_index()


def _with_new_pages(study: Study, pages: pd.DataFrame) -> pd.DataFrame:
    """The study's chunks, with those of some pages cut anew from their ``new`` text."""
    places = pd.MultiIndex.from_frame(pages[["doc_name", "page"]])
    kept = study.chunks[~pd.MultiIndex.from_frame(study.chunks[["doc_name", "page"]]).isin(places)]
    new = _split(study, pages.assign(text=pages["new"])[list(PAGE_COLUMNS)]).assign(start=-1, end=-1)
    return _in_page_order(study, pd.concat([kept, new], ignore_index=True))


def _rest(study: Study, found: pd.DataFrame) -> pd.DataFrame:
    """The chunks of all that is no table."""
    pages = whole_pages(found.assign(new=found["text"].where(found["kind"] != "table", "")))
    return _with_new_pages(study, pages[pages["text"] != pages["new"]])


def _tables(study: Study, found: pd.DataFrame) -> pd.DataFrame:
    """Each table cut as a page would be, if it is longer than a chunk; spans of its real page."""
    chunks = _split(study, found[list(PAGE_COLUMNS)].assign(page=range(len(found))))
    of = found.iloc[chunks["page"]]
    start, page = of["start"].to_numpy(), of["page"].to_numpy()
    chunks = chunks.assign(page=page, start=chunks["start"] + start, end=chunks["end"] + start)
    keys = zip(chunks["text"], chunks["doc_name"], chunks["page"], strict=True)
    return chunks.assign(key=[chunk_key(*one) for one in keys])


def _split(study: Study, pages: pd.DataFrame) -> pd.DataFrame:
    settings = study.profile.chunks
    tokenizer = load_tokenizer(fetch(study.profile.embedder.weights))
    return split_pages(pages, tokenizer, settings.size, settings.overlap)


def _in_page_order(study: Study, chunks: pd.DataFrame) -> pd.DataFrame:
    """Chunks in the order of the study's pages."""
    pages = study.pages[["doc_name", "page"]]
    order = pd.Series(range(len(pages)), index=pd.MultiIndex.from_frame(pages))
    place = order.loc[pd.MultiIndex.from_frame(chunks[["doc_name", "page"]])].to_numpy()
    return chunks.iloc[pd.Series(place).argsort(kind="stable")].reset_index(drop=True)
