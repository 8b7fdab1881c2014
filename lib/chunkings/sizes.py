"""Chunks of fixed sizes, nested in the study's own, and several chunkings in one index (Yepes et al., 2024).

``fixed_128`` are spans of 126 tokens and ``fixed_256`` of 254 (two are the encoder's own), cut from the study's chunks
as the children of ``parent_child`` and the windows of the index are; ``fixed_512`` are two neighbouring spans of 254 in
one; the study's chunks themselves are 1024. A chunk that is longer than the encoder's window scores as its best window,
so 256, 512 and 1024 are compared on the very same vectors: only what is returned, and how often a page can be, differs.
"""

import numpy as np
import pandas as pd

from lib.data.chunks import chunk_key, load_tokenizer, spans_of, split_chunks
from lib.models.index import encode_texts
from lib.models.weights import fetch
from lib.study import Study
from lib.words import CHUNK_COLUMNS, chunk_id

#: Tokens of a span, tokens that neighbours share, and spans that make a chunk.
SIZES = {"fixed_128": (126, 16, 1), "fixed_256": (254, 32, 1), "fixed_512": (254, 32, 2)}
#: Chunks of 512 and 1024 tokens are not among them: they score as their best window of 254, which is there already.
PARTS = ("elements", "fixed_128", "fixed_256")


def table(study: Study, name: str) -> pd.DataFrame:
    """CHUNK_COLUMNS of the chunks of one size.

    Args:
        study: over its own chunks.
        name: of :data:`SIZES`.
    """
    tokenizer = load_tokenizer(fetch(study.profile.embedder.weights))
    return split(study.chunks, tokenizer, *SIZES[name])


def split(chunks: pd.DataFrame, tokenizer, size: int, overlap: int, n_spans: int) -> pd.DataFrame:
    """Cut chunks into smaller ones.

    Args:
        chunks: CHUNK_COLUMNS, page after page.
        tokenizer: counts the tokens.
        size, overlap: tokens, see :func:`lib.data.chunks.spans_of`.
        n_spans: neighbouring spans of a chunk that are returned as one; its last may be fewer.

    Returns:
        CHUNK_COLUMNS, in order, numbered within the page.
    """
    rows = []
    for first in range(0, len(chunks), 256):
        part = chunks.iloc[first : first + 256]
        encoded = tokenizer.encode_batch(part["text"].tolist(), add_special_tokens=False)
        for chunk, encoding in zip(part.itertuples(index=False), encoded, strict=True):
            spans = spans_of(encoding.offsets, size, overlap, encoding.word_ids)
            for group in (spans[at : at + n_spans] for at in range(0, len(spans), n_spans)):
                start, end = group[0][0], group[-1][1]
                text, place = chunk.text[start:end], (chunk.doc_name, chunk.page)
                rows.append(
                    ("", chunk_key(text, *place), *place, text, chunk.start + start, chunk.start + end)
                )
    return numbered(pd.DataFrame(rows, columns=list(CHUNK_COLUMNS)))


def numbered(chunks: pd.DataFrame) -> pd.DataFrame:
    """Chunks with ids that count them within their page, in the order of the rows."""
    number = chunks.groupby(["doc_name", "page"]).cumcount()
    ids = [chunk_id(*place) for place in zip(chunks["doc_name"], chunks["page"], number, strict=True)]
    return chunks.assign(chunk_id=ids)


def aggregate(study: Study) -> pd.DataFrame:
    """CHUNK_COLUMNS of all :data:`PARTS`, part after part, ranked together ("aggregation" in the source)."""
    return joined([study.with_chunks(name).chunks for name in PARTS])


def joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Chunk tables one after the other, with ids that are unique again."""
    return numbered(pd.concat(tables, ignore_index=True))[list(CHUNK_COLUMNS)]


def children(study: Study) -> pd.DataFrame:
    """The small spans of every chunk that ``parent_child`` searches.

    Returns:
        chunk (row of the parent) and text, in order; the same at every call.
    """
    settings = study.profile.parent_child

    def split() -> pd.DataFrame:
        tokenizer = load_tokenizer(fetch(study.profile.embedder.weights))
        return split_chunks(study.chunks, tokenizer, settings.size, settings.overlap)

    return study.memo("children", split)


def child_vectors(study: Study) -> np.ndarray:
    """The unit vectors of all children, shape (n_children, dimension)."""
    return np.asarray(encode_texts(study, "embeddings/children", children(study)["text"].tolist()))
