"""Chunks: every token in one, none across a page, ids and keys that last."""

import hashlib
from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from lib.data.chunks import chunk_key, load_tokenizer, spans_of, split_chunks, split_pages
from lib.schema import CHUNK_COLUMNS

WORD_LENGTHS = st.lists(st.integers(1, 9), max_size=25)
SIZES = st.integers(1, 10).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))
TEXT = st.text("abc $%,.\n0é中\x00\u200b", max_size=120) | st.lists(
    st.sampled_from(["net sales", "$1,577.0", "rose.", "zzz" * 9, "x" * 101, "\n\n", "中文", "café"]), max_size=20
).map(" ".join)


def pages_of(*texts: str, doc_name: str = "DOC", first: int = 0) -> pd.DataFrame:
    return pd.DataFrame({"doc_name": doc_name, "page": range(first, first + len(texts)), "text": texts})


@pytest.mark.parametrize(
    ("words", "size", "overlap", "spans"),
    [
        (range(10), 4, 1, [(0, 4), (3, 7), (6, 10)]),
        ([0, 1, 2, 2, 3, 4, 4, 5], 3, 1, [(0, 2), (1, 4), (2, 5), (4, 7), (5, 8)]),  # no word is cut
        ([0] * 5, 2, 0, [(0, 2), (2, 4), (4, 5)]),  # but one that is longer than a span
        ([None] * 3, 2, 0, [(0, 2), (2, 3)]),
        ([], 4, 1, []),
    ],
)
def test_spans_by_hand(words, size, overlap, spans):
    assert spans_of([(i, i + 1) for i in range(len(words))], size, overlap, words) == spans


@given(WORD_LENGTHS, SIZES)
def test_spans_cover_every_token_in_order_and_overlap(word_lengths, sizes):
    size, overlap = sizes
    words = [number for number, length in enumerate(word_lengths) for _ in range(length)]
    spans = spans_of([(i, i + 1) for i in range(len(words))], size, overlap, words)
    assert {token for start, end in spans for token in range(start, end)} == set(range(len(words)))
    assert all(1 <= end - start <= size for start, end in spans)
    for (start, end), (next_start, next_end) in pairwise(spans):
        assert start < next_start <= end - overlap
        assert end < next_end


@settings(max_examples=50)
@given(TEXT)
def test_chunks_of_a_page_hold_every_token_and_have_the_same_tokens_again(wordpiece, text):
    """A chunk's own text never has more than ``size`` tokens, so no encoder cuts it in silence (words are short)."""
    size, overlap = 64, 8
    chunks = split_pages(pages_of(text), wordpiece, size, overlap)
    assert tuple(chunks) == CHUNK_COLUMNS
    whole = wordpiece.encode(text, add_special_tokens=False)
    tokens, held = list(zip(whole.tokens, whole.offsets, strict=True)), set()
    for chunk in chunks.itertuples():
        inside = [(token, place) for token, place in tokens if chunk.start <= place[0] and place[1] <= chunk.end]
        assert text[chunk.start : chunk.end] == chunk.text
        assert wordpiece.encode(chunk.text, add_special_tokens=False).tokens == [token for token, _ in inside]
        assert len(inside) <= size
        held |= set(inside)
    assert held == set(tokens)


def test_ids_have_filing_page_and_number_and_parts_of_chunks_their_place(wordpiece):
    chunks = split_pages(pages_of("net sales rose in the year", doc_name="3M_2018_10K", first=49), wordpiece, 3, 1)
    assert chunks["chunk_id"].tolist() == [f"3M_2018_10K#p0049#c0{n}" for n in range(3)]
    assert chunks["text"].tolist() == ["net sales rose", "rose in the", "the year"]
    parts = split_pages(chunks, wordpiece, 2, 0)
    assert parts["chunk_id"].tolist() == [f"3M_2018_10K#p0049#c0{n}" for n in range(5)]
    assert parts["start"].tolist() == [0, 10, 10, 18, 18]


def test_no_chunk_crosses_a_page_and_there_may_be_more_than_a_batch(wordpiece):
    texts = [f"net sales {page}" for page in range(300)]
    chunks = split_pages(pages_of(*texts), wordpiece, 8, 2)
    assert chunks["page"].tolist() == [*range(300)]
    assert chunks["text"].tolist() == split_chunks(chunks, wordpiece, 8, 2)["text"].tolist() == texts


def test_key_is_sha1_of_normalised_text_filing_and_page():
    own = chunk_key("net sales", "DOC", 7)
    assert own == hashlib.sha1(b"net sales\x1fDOC\x1f7").hexdigest() == "f519d054aeeddfcdaf0da81abbb606b6c6b09192"
    assert {chunk_key(text, "DOC", 7) for text in ("net  sales", " net\nsales ", "net\t sales")} == {own}
    assert own not in {chunk_key(*other) for other in (("net sale", "DOC", 7), ("net sales", "DOD", 7))}


def test_a_loaded_tokenizer_neither_cuts_nor_pads(wordpiece, tmp_path):
    spoilt = Tokenizer.from_str(wordpiece.to_str())
    spoilt.enable_truncation(4)
    spoilt.enable_padding(length=16)
    spoilt.save(str(tmp_path / "tokenizer.json"))
    assert len(load_tokenizer(tmp_path).encode("net sales rose in the year", add_special_tokens=False).ids) == 6


@pytest.mark.parametrize("overlap", [3, -1])
def test_an_overlap_that_is_not_below_the_size_is_an_error(overlap):
    with pytest.raises(ValueError, match=f"{overlap}"):
        spans_of([(0, 1)] * 9, 3, overlap, range(9))
