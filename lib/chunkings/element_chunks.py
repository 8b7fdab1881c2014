"""Chunks of elements (Yepes et al., "Financial Report Chunking for Effective Retrieval Augmented Generation", 2024).

Their rule: text elements are merged until a chunk has about 2048 characters, an element is never broken, a title begins
a chunk, and a table begins a chunk that holds all of it. Theirs are the elements of a vision model, over a whole
filing; ours come from the PDF's fonts, places and rules, and a chunk stays on its page. Titles that nothing but a
table follows stay with the table, as they name it. Running heads and page numbers, which their model leaves out, make
no chunk of their own: they go with the chunk that they stand beside, so that no text of the page is lost.
"""

import re
from collections.abc import Sequence

import pandas as pd

from lib.chunkings.elements import elements
from lib.data.chunks import chunk_key
from lib.study import Study
from lib.words import CHUNK_COLUMNS, chunk_id

CHARACTERS = 2048
MAX_FURNITURE = 120
MIN_PAGES = 5
MIN_SHARE = 0.2
NUMBERS = re.compile(r"\d+")
MARK = re.compile(r"\W*(?:table of contents|page \d+(?: of \d+)?|\w{0,2}-?\d+|[ivx]+|\w?)\W*", re.I)


def table(study: Study) -> pd.DataFrame:
    """CHUNK_COLUMNS of the element chunks of every page."""
    return merge(elements(study))


def merge(found: pd.DataFrame) -> pd.DataFrame:
    """CHUNK_COLUMNS of elements (ELEMENT_COLUMNS): spans of a page without blanks at their ends."""
    found = found.assign(kind=found["kind"].mask(is_furniture(found), "furniture"))
    rows = []
    for (doc_name, page), part in found.groupby(["doc_name", "page"], sort=False):
        groups = groups_of(part["kind"].tolist(), part["text"].str.len().tolist(), CHARACTERS)
        texts, starts = part["text"].tolist(), part["start"].tolist()
        for number, (first, end) in enumerate(groups):
            whole = "".join(texts[first:end])
            start, text = starts[first] + len(whole) - len(whole.lstrip()), whole.strip()
            ids = chunk_id(doc_name, page, number), chunk_key(text, doc_name, page)
            rows.append((*ids, doc_name, page, text, start, start + len(text)))
    return pd.DataFrame(rows, columns=list(CHUNK_COLUMNS))


def is_furniture(found: pd.DataFrame) -> pd.Series:
    """Which elements are page numbers, marks, or heads that a fifth of their filing's pages repeat."""
    short = found["text"].str.len() <= MAX_FURNITURE
    shape = found["text"].where(short, "").str.strip().str.lower().str.replace(NUMBERS, "#", regex=True)
    n_alike = shape.groupby([found["doc_name"], shape]).transform("size")
    n_pages = found.groupby("doc_name")["page"].transform("nunique")
    is_repeated = (shape != "") & (n_alike >= (MIN_SHARE * n_pages).clip(lower=MIN_PAGES))
    is_mark = found["text"].str.strip().map(lambda text: MARK.fullmatch(text) is not None)
    return (found["kind"] != "table") & (is_mark | is_repeated)


def groups_of(kinds: Sequence[str], lengths: Sequence[int], characters: int) -> list[tuple[int, int]]:
    """Which elements of a page make a chunk: the first element of each, and the element behind its last one.

    Args:
        kinds, lengths: title, text, table or furniture, and the characters of each, in the page's order.
        characters: that a chunk of text and titles has at most, unless one element alone has more.
    """
    starts: list[int] = []
    held: set[str] = set()
    size = 0
    for number, (kind, length) in enumerate(zip(kinds, lengths, strict=True)):
        is_full = kind != "text" or size + length > characters
        begins = kind != "furniture" and held and ("table" in held or (is_full and held != {"title"}))
        if begins or not starts:
            starts.append(number)
            held, size = set(), 0
        held |= {kind} - {"furniture"}
        size += length
    return list(zip(starts, [*starts[1:], len(kinds)], strict=False))
