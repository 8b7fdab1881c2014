"""The elements of every page: titles, text and tables in the page's order, together the whole of its text.

Chunks of elements follow Yepes et al. ("Financial Report Chunking for Effective Retrieval Augmented Generation", 2024):
text is merged to about 2048 characters, an element is never broken, titles and tables begin a chunk. Theirs are of a
vision model, over a whole filing; ours come from the PDF's fonts, places and rules, and a chunk stays on its page. A
table keeps the titles right above it. Running heads and page numbers go with the chunk that they stand beside.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd
from tqdm.auto import tqdm

from lib.chunkings.layout import Row, rows_of_page, rows_of_text
from lib.chunkings.tables import MARKER, SENTENCE_END, joined_tables, tables_of
from lib.data.chunks import as_chunks
from lib.data.pdf import read_layout
from lib.files import end_with_parent
from lib.method import Search, memoized

VERSION = 1  # of the stored elements; raise it with those of the chunk tables that are made of them
N_WORKERS = 2
CHARACTERS = 2048  # of a chunk of text and titles, at most, unless one element alone has more
MAX_TITLE, MAX_TITLE_ROWS = 150, 3  # characters; a longer paragraph in bold is text
MAX_FURNITURE = 120  # characters
NO_TITLE = re.compile(r"table of contents|page \d+|.*\.{4,}.*", re.I)
HEADING = re.compile(r"(?:item|note|part|proposal)\s+[\dIVX]", re.I)
BLANK_LINE = re.compile(r"[^\S\n]*\n[^\S\n]*\n")
WORD = re.compile(r"[^\W\d_]{2,}")
MARK = re.compile(r"\W*(?:table of contents|page \d+(?: of \d+)?|\w{0,2}-?\d+|[ivx]+|\w?)\W*", re.I)


class Element(NamedTuple):
    """Characters of a page's text, from ``start`` to ``end``."""

    kind: Literal["title", "text", "table"]
    text: str
    start: int
    end: int
    rows: str  # of a table, JSON: a list of ``[text, left, right]`` for each row; empty for other kinds
    is_placed: bool  # whether the page's places are known, which they are not where a filing is given as text


ELEMENT_COLUMNS = ("doc_name", "page", *Element._fields)


def elements_of(text: str, rows: Sequence[Row]) -> list[Element]:
    """The elements of one page, in order, together all of its text; none where it has no letters."""
    tables = tables_of(rows)
    inside = {number for first, end in tables for number in range(first, end)}
    letters: Counter[float] = Counter()  # by font size, in points; one size of 0 where sizes are unknown
    for row in [row for number, row in enumerate(rows) if number not in inside] or rows:
        letters[round(row.size * 2) / 2] += len(row.text)
    body = max(letters, key=lambda size: (letters[size], size), default=0.0)
    begins, groups = {first for first, _ in tables}, []
    for number, row in enumerate(rows):
        kind = "table" if number in inside else "title" if is_title(row, body, text) else "text"
        is_same = groups and kind == groups[-1][0] and number not in begins
        if not is_same or _begins(row, kind, rows[number - 1], text):
            groups.append((kind, []))
        groups[-1][1].append(row)
    parts, edges = [], [0, *(held[0].start for _, held in groups[1:]), len(text)]
    for (kind, held), start, end in zip(groups, edges, edges[1:], strict=False):
        cells = [[(c.text, round(c.left, 1), round(c.right, 1)) for c in row.cells] for row in held]
        packed = json.dumps(cells, ensure_ascii=False) if kind == "table" else ""
        kind = "text" if kind == "title" and len(held) > MAX_TITLE_ROWS else kind
        parts.append(Element(kind, text[start:end], start, end, packed, held[0].is_placed))
    return parts


def is_title(row: Row, body: float, text: str) -> bool:
    """Whether a row reads as a title: short, no sentence, and bold, italic, in capitals or larger than the body."""
    words, most = row.text, MAX_TITLE if row.is_placed else 2 * MAX_TITLE // 3
    if len(words) > most or NO_TITLE.fullmatch(words) or not WORD.search(words) or words[0].islower():
        return False
    is_name = words.endswith((":", "Inc.", "Co.", "Corp.")) or HEADING.match(words)
    is_item = MARKER.fullmatch(row.cells[0].text) and not row.is_bold
    if (SENTENCE_END.search(words) and not is_name) or is_item or len(row.cells) > 2:
        return False
    is_upper = len(words) >= 4 and words.upper() == words
    if row.is_placed:
        is_short_italic = row.is_italic and len(words) <= MAX_TITLE // 2
        return row.is_bold or is_short_italic or row.size >= 1.15 * body or is_upper
    long = [word for word in WORD.findall(words) if len(word) > 3]
    is_named = is_upper or (long and sum(word[0].isupper() for word in long) >= 0.9 * len(long))
    return bool(is_named and (BLANK_LINE.match(text, row.end) or text[: row.start].endswith("\n\n")))


def _begins(row: Row, kind: str, above: Row, text: str) -> bool:
    """Whether a row begins an element of the same kind: another style of title, or a new paragraph."""
    if kind == "title":
        return (row.is_bold, row.is_italic, round(row.size)) != (above.is_bold, above.is_italic, round(above.size))
    if kind == "table" or not row.is_placed:
        return kind == "text" and BLANK_LINE.match(text, above.end) is not None
    gap, height = row.top - above.bottom, row.bottom - row.top
    return gap < -2 or gap > 0.55 * height or bool(MARKER.fullmatch(row.cells[0].text))


@memoized
def elements(search: Search) -> pd.DataFrame:
    """ELEMENT_COLUMNS of every page, in order: a page's elements hold every character of its text."""
    import pymupdf

    params = {"pymupdf": pymupdf.VersionBind, "filings": search.digest("filings"), "pages": search.digest("pages")}
    return joined_tables(search.store.frame("elements", params, lambda: _read_elements(search), VERSION))


def _read_elements(search: Search) -> pd.DataFrame:
    """The elements before a table and its continuation are joined."""
    texts = {name: part["text"].tolist() for name, part in search.pages.groupby("doc_name", sort=False)}
    with ProcessPoolExecutor(N_WORKERS, initializer=end_with_parent) as pool:
        by_filing = pool.map(elements_of_filing, map(search.dataset.source, texts), texts.values())
        progress = tqdm(texts, desc="elements", unit="filing")
        rows = [(name, *row) for name, part in zip(progress, by_filing, strict=True) for row in part]
    return pd.DataFrame(rows, columns=list(ELEMENT_COLUMNS))


def elements_of_filing(source: Path, texts: Sequence[str]) -> list[tuple]:
    """The page and the fields of each Element of a filing; a page whose layout reads otherwise is taken as text."""
    layout, records = [None] * len(texts) if source.suffix == ".jsonl" else read_layout(source), []
    for number, (page, text) in enumerate(zip(layout, texts, strict=True)):
        rows = None if page is None else rows_of_page(*page, text)
        records += [(number, *one) for one in elements_of(text, rows_of_text(text) if rows is None else rows)]
    return records


def merge(frame: pd.DataFrame) -> pd.DataFrame:
    """CHUNK_COLUMNS of elements (ELEMENT_COLUMNS): spans of a page without blanks at their ends."""
    rows = []
    kinds = frame["kind"].mask(is_furniture(frame), "furniture")
    for place, part in frame.assign(kind=kinds).groupby(["doc_name", "page"], sort=False):
        texts, starts = part["text"].tolist(), part["start"].tolist()
        for first, end in groups_of(part["kind"].tolist(), list(map(len, texts))):
            whole = "".join(texts[first:end])
            start, text = starts[first] + len(whole) - len(whole.lstrip()), whole.strip()
            rows.append((*place, text, start, start + len(text)))
    return as_chunks(rows)


def is_furniture(frame: pd.DataFrame) -> pd.Series:
    """Which elements are page numbers, marks, or heads that a fifth of their filing's pages repeat, five at least."""
    text = frame["text"].str.strip()
    shape = text.where(frame["text"].str.len() <= MAX_FURNITURE, "").str.lower().str.replace(r"\d+", "#", regex=True)
    n_alike = shape.groupby([frame["doc_name"], shape]).transform("size")
    n_pages = frame.groupby("doc_name")["page"].transform("nunique")
    is_repeated = (shape != "") & (n_alike >= (0.2 * n_pages).clip(lower=5))
    return (frame["kind"] != "table") & (is_repeated | text.map(lambda text: MARK.fullmatch(text) is not None))


def groups_of(kinds: Sequence[str], lengths: Sequence[int]) -> list[tuple[int, int]]:
    """The chunks of a page's elements of these kinds and characters: the first of each, and the one behind its last."""
    starts, held, size = [], set(), 0
    for number, (kind, length) in enumerate(zip(kinds, lengths, strict=True)):
        is_full = kind != "text" or size + length > CHARACTERS
        begins = kind != "furniture" and held and ("table" in held or (is_full and held != {"title"}))
        if begins or not starts:
            starts.append(number)
            held, size = set(), 0
        held |= {kind} - {"furniture"}
        size += length
    return list(zip(starts, [*starts[1:], len(kinds)], strict=False))
