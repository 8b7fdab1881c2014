"""Chunks of fixed sizes, nested in the study's own, and several chunkings in one index (Yepes et al., 2024).

``fixed_128`` are spans of 126 tokens and ``fixed_256`` of 254 (two are the encoder's own), cut from the study's chunks
as the children of ``parent_child`` and the windows of the index are; ``fixed_512`` are two neighbouring spans of 254 in
one; the study's chunks themselves are 1024. A chunk that is longer than the encoder's window scores as its best window,
so 256, 512 and 1024 are compared on the very same vectors: only what is returned, and how often a page can be, differs.
"""

import numpy as np
import pandas as pd
from tokenizers import Tokenizer

from lib.data.chunks import chunk_key, load_tokenizer, split_chunks, split_pages
from lib.models.index import encode_texts
from lib.models.weights import fetch
from lib.study import Study
from lib.words import CHUNK_COLUMNS, chunk_id

#: Tokens of a span, tokens that neighbours share, and spans that make a chunk.
SIZES = {"fixed_128": (126, 16, 1), "fixed_256": (254, 32, 1), "fixed_512": (254, 32, 2)}
#: Chunks of 512 and 1024 tokens are not among them: they score as their best window of 254, which is there already.
PARTS = ("elements", "fixed_128", "fixed_256")


def tokenizer_of(study: Study) -> Tokenizer:
    """The tokenizer of the study's encoder."""
    return load_tokenizer(fetch(study.profile.embedder.weights))


def table(study: Study, name: str) -> pd.DataFrame:
    """CHUNK_COLUMNS of the chunks of one size, a name of :data:`SIZES`."""
    return joined([split(study.chunks, tokenizer_of(study), *SIZES[name])])


def split(
    spans: pd.DataFrame, tokenizer: Tokenizer, size: int, overlap: int, n_spans: int = 1
) -> pd.DataFrame:
    """Cut spans of pages (doc_name, page, text, start), such as chunks or tables, into smaller ones.

    Args:
        size, overlap: tokens, see :func:`lib.data.chunks.spans_of`.
        n_spans: neighbouring spans that are returned as one; the last of them may be fewer.

    Returns:
        CHUNK_COLUMNS, in order; ids are empty.
    """
    cut = split_pages(spans.assign(page=range(len(spans))), tokenizer, size, overlap)
    cut["group"] = cut.groupby("page").cumcount() // n_spans
    edges = cut.groupby(["page", "group"]).agg({"start": "first", "end": "last"})
    places = list(spans[["doc_name", "page", "text", "start"]].itertuples(index=False))
    rows = []
    for (row, _), start, end in edges.itertuples():
        doc_name, page, whole, begin = places[row]
        text = whole[start:end]
        rows.append(("", chunk_key(text, doc_name, page), doc_name, page, text, begin + start, begin + end))
    return pd.DataFrame(rows, columns=list(CHUNK_COLUMNS))


def joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Chunk tables one after the other, with ids that count the chunks within their page."""
    chunks = pd.concat(tables, ignore_index=True)
    number = chunks.groupby(["doc_name", "page"]).cumcount()
    ids = [chunk_id(*place) for place in zip(chunks["doc_name"], chunks["page"], number, strict=True)]
    return chunks.assign(chunk_id=ids)


def aggregate(study: Study) -> pd.DataFrame:
    """CHUNK_COLUMNS of all :data:`PARTS`, part after part, ranked together ("aggregation" in the source)."""
    return joined([study.with_chunks(name).chunks for name in PARTS])


def children(study: Study) -> pd.DataFrame:
    """The small spans that parent-child retrieval searches: chunk (row of the parent) and text, in order."""
    settings = study.profile.parent_child

    def cut() -> pd.DataFrame:
        return split_chunks(study.chunks, tokenizer_of(study), settings.size, settings.overlap)

    return study.memo("children", cut)


def child_vectors(study: Study) -> np.ndarray:
    """The unit vectors of all children, shape (n_children, dimension)."""
    return encode_texts(study, "embeddings/children", children(study)["text"].tolist(), is_pinned=True)
