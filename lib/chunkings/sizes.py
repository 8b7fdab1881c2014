"""Chunks of fixed sizes, nested in the study's own: what chunk size does, measured on equal vectors.

``fixed_128`` are spans of 126 tokens and ``fixed_256`` of 254 (two are the encoder's own), cut from the study's chunks
as the children of ``parent_child`` and the windows of the index are; ``fixed_512`` are two neighbouring spans of 254 in
one; the study's chunks themselves are 1024. A chunk that is longer than the encoder's window scores as its best window,
so 256, 512 and 1024 are compared on the very same vectors: only what is returned, and how often a page can be, differs.
"""

import pandas as pd

from lib.data.chunks import chunk_key, load_tokenizer, spans_of
from lib.models.weights import fetch
from lib.words import CHUNK_COLUMNS

#: Tokens of a span, tokens that neighbours share, and spans that make a chunk.
SIZES = {"fixed_128": (126, 16, 1), "fixed_256": (254, 32, 1), "fixed_512": (254, 32, 2)}


def table(study, name: str) -> pd.DataFrame:
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
    rows, number_on = [], {}
    for first in range(0, len(chunks), 256):
        part = chunks.iloc[first : first + 256]
        encoded = tokenizer.encode_batch(part["text"].tolist(), add_special_tokens=False)
        for chunk, encoding in zip(part.itertuples(index=False), encoded, strict=True):
            spans = spans_of(encoding.offsets, size, overlap, encoding.word_ids)
            for group in (spans[at : at + n_spans] for at in range(0, len(spans), n_spans)):
                page = chunk.doc_name, chunk.page
                number = number_on[page] = number_on.get(page, -1) + 1
                rows.append(_row(chunk, group[0][0], group[-1][1], number))
    return pd.DataFrame(rows, columns=list(CHUNK_COLUMNS))


def _row(chunk, start: int, end: int, number: int) -> tuple:
    text = chunk.text[start:end]
    chunk_id = f"{chunk.doc_name}#p{chunk.page:04d}#c{number:02d}"
    key = chunk_key(text, chunk.doc_name, chunk.page)
    return chunk_id, key, chunk.doc_name, chunk.page, text, chunk.start + start, chunk.start + end
