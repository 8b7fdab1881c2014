"""Chunks of fixed sizes, nested in the study's own, alone and all in one index (Yepes et al., 2024).

``fixed_128`` are spans of 126 tokens (two are the encoder's own), cut from the study's chunks; neighbours share an
eighth, as the source states no overlap. Each has one vector, as in the source. ``fixed_aggregate`` has those of all
sizes in one index, and a text that two sizes give once; a text and the longer one around it remain two chunks.
"""

import numpy as np
import pandas as pd

from lib.data.chunks import as_chunks, split_chunks, split_pages
from lib.method import Search, memoized
from lib.models.vectors import chunk_vectors
from lib.schema import CHUNK_COLUMNS

#: By chunk table: tokens of a chunk, and tokens that neighbours share.
SIZES = {"fixed_128": (126, 16), "fixed_256": (254, 32), "fixed_512": (510, 64)}
NAMES = (*SIZES, "fixed_aggregate")


def table(search: Search, name: str) -> pd.DataFrame:
    """CHUNK_COLUMNS of the chunks of one size, a name of :data:`SIZES`."""
    return split_pages(search.chunks, search.tokenizer, *SIZES[name])


@memoized
def sizes_together(search: Search) -> tuple[pd.DataFrame, np.ndarray]:
    """The chunks of all :data:`SIZES`, size after size, and which of them are the first of a page with their text."""
    chunks = pd.concat([search.with_chunks(name).chunks for name in SIZES], ignore_index=True)
    return chunks, ~chunks["key"].duplicated().to_numpy()


def aggregate(search: Search) -> pd.DataFrame:
    """CHUNK_COLUMNS of the different texts of :func:`sizes_together` ("aggregation" in the source)."""
    chunks, is_first = sizes_together(search)
    return as_chunks(chunks.loc[is_first, list(CHUNK_COLUMNS[2:])].to_numpy().tolist())


@memoized
def children(search: Search) -> pd.DataFrame:
    """The small spans that parent-child retrieval searches: chunk (row of the parent) and text, in order."""
    settings = search.profile.parent_child
    return split_chunks(search.chunks, search.tokenizer, settings.size, settings.overlap)


@memoized
def child_vectors(search: Search) -> np.ndarray:
    """The unit vectors of all children, shape (n_children, dimension)."""
    table = children(search)
    return chunk_vectors(search, "children", table["chunk"].to_numpy(), table["text"], sections=["parent_child"])
