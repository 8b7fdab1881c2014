"""Chunks: spans of a page's text, counted in the embedder's tokens, never across a page."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
from tokenizers import Encoding, Tokenizer

from lib.schema import CHUNK_COLUMNS, StudyError, chunk_id


def load_tokenizer(weights: Path) -> Tokenizer:
    """The tokenizer of a model directory, without truncation or padding; a StudyError where it has none."""
    try:
        tokenizer = Tokenizer.from_file(str(path := weights / "tokenizer.json"))
    except Exception as error:  # the library has no other for a file that is missing or broken
        raise StudyError(f"{path}: no tokenizer ({error}); restore the file") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def spans_of(
    offsets: Sequence[tuple[int, int]], size: int, overlap: int, words: Sequence[int | None]
) -> list[tuple[int, int]]:
    """Character spans of ``size`` tokens at most, each sharing ``overlap`` tokens, or a few more, with the one before.

    ``offsets`` are the character span of every token of a text, ``words`` the number of its word, or None. No span
    begins or ends inside a word, unless that alone is too long, so that a span's text has the same tokens again.

    A ValueError where ``overlap`` is not less than ``size``.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"spans of {size} tokens cannot share {overlap}")

    def word_start(position: int, lowest: int) -> int:
        start = position
        while start > 0 and words[start] is not None and words[start] == words[start - 1]:
            start -= 1
        return start if start >= lowest else position

    spans, begin, end = [], 0, 0
    while end < len(offsets):
        lowest, end = max(begin + overlap, end) + 1, min(begin + size, len(offsets))
        if end < len(offsets):
            end = word_start(end, lowest)
        spans.append((offsets[begin][0], offsets[end - 1][1]))
        begin = word_start(end - overlap, lowest=begin + 1) if end < len(offsets) else begin
    return spans


def chunk_key(text: str, doc_name: str, page: int) -> str:
    """SHA-1 of the chunk's whitespace-normalised text, its filing and its page."""
    return hashlib.sha1(f"{' '.join(text.split())}\x1f{doc_name}\x1f{page}".encode()).hexdigest()


def _encodings(texts: Sequence[str], tokenizer: Tokenizer) -> Iterator[Encoding]:
    """The encoding of each text without special tokens; a few hundred are in memory at once."""
    for first in range(0, len(texts), 256):
        yield from tokenizer.encode_batch(list(texts[first : first + 256]), add_special_tokens=False)


def split_pages(pages: pd.DataFrame, tokenizer: Tokenizer, size: int, overlap: int) -> pd.DataFrame:
    """CHUNK_COLUMNS of pages, see :func:`spans_of`, or of spans of pages with the ``start`` of each, such as chunks."""
    rows, begins = [], pages.get("start", [0] * len(pages))
    encodings = _encodings(pages["text"].tolist(), tokenizer)
    for page, begin, encoding in zip(pages.itertuples(), begins, encodings, strict=True):
        for start, end in spans_of(encoding.offsets, size, overlap, encoding.word_ids):
            rows.append((page.doc_name, page.page, page.text[start:end], begin + start, begin + end))
    return as_chunks(rows)


def as_chunks(rows: Sequence[tuple]) -> pd.DataFrame:
    """CHUNK_COLUMNS of rows of doc_name, page, text, start and end, with keys, and ids that count within a page."""
    chunks = pd.DataFrame(rows, columns=list(CHUNK_COLUMNS[2:]))
    numbers = chunks.groupby(["doc_name", "page"]).cumcount()
    ids = map(chunk_id, chunks["doc_name"], chunks["page"], numbers)
    keys = map(chunk_key, chunks["text"], chunks["doc_name"], chunks["page"])
    return chunks.assign(chunk_id=list(ids), key=list(keys))[list(CHUNK_COLUMNS)]


def split_chunks(chunks: pd.DataFrame, tokenizer: Tokenizer, size: int, overlap: int) -> pd.DataFrame:
    """Windows of chunks, in their order: ``chunk`` (its row number), ``text``, and ``start`` in the chunk; every chunk
    has at least one."""
    texts = chunks["text"].tolist()
    rows = [
        (row, texts[row][start:end], start)
        for row, encoding in enumerate(_encodings(texts, tokenizer))
        for start, end in spans_of(encoding.offsets, size, overlap, encoding.word_ids)
    ]
    return pd.DataFrame(rows, columns=["chunk", "text", "start"])


def count_tokens(texts: Sequence[str], tokenizer: Tokenizer) -> list[int]:
    """Tokens of each text, without special tokens."""
    return [len(encoding.ids) for encoding in _encodings(texts, tokenizer)]
