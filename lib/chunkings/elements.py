"""The elements of every page: a stage of its own, which the chunk tables of elements and of tables are made from.

Rows of tables keep their cells with their edges, as JSON, for what restructures tables.
"""

import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pandas as pd
import pymupdf
from tqdm.auto import tqdm

from lib.chunkings import cells, kinds, layout, tables
from lib.chunkings.continued import joined_tables
from lib.chunkings.kinds import Element, elements_of
from lib.chunkings.layout import Row, rows_of_page, rows_of_text
from lib.code import code_hash
from lib.store import digest_of, digest_of_file

ELEMENT_COLUMNS = ("doc_name", "page", "kind", "text", "start", "end", "rows", "is_placed")
VERSION = 1


def elements(study, n_workers: int = 2) -> pd.DataFrame:
    """ELEMENT_COLUMNS of every page of a study, in order.

    ``start`` and ``end`` are characters of the page's text, of which a page's elements hold every one. ``rows``
    is the JSON of a table's rows, each a list of ``[text, left, right]``; empty for other kinds. ``is_placed``
    says whether the page's places are known, which they are not where a filing is given as text. A killed run
    goes on at the filing where it was.
    """
    code = [code_hash(module) for module in (cells, layout, tables, kinds)]
    params = {
        "dataset": study.dataset.fingerprint,
        "pages": study.pages_digest,
        "pymupdf": pymupdf.VersionBind,
    }

    def compute(target: Path) -> None:
        filings = find_elements(study, code, n_workers)
        pd.concat(filings, ignore_index=True).to_parquet(target / "elements.parquet", index=False)

    def read() -> pd.DataFrame:
        entry = study.store.get("elements", params | {"code": code}, compute, VERSION)
        return joined_tables(pd.read_parquet(entry.path / "elements.parquet"))

    return study.memo("elements", read)


def find_elements(study, code: Sequence[str], n_workers: int) -> list[pd.DataFrame]:
    """The elements of each filing, stored one by one; missing ones are computed in ``n_workers`` processes."""
    texts = {
        doc_name: part["text"].tolist() for doc_name, part in study.pages.groupby("doc_name", sort=False)
    }
    params = {
        doc_name: {
            "filing": digest_of_file(study.dataset.source(doc_name)),
            "pages": digest_of(texts[doc_name]),
            "pymupdf": pymupdf.VersionBind,
            "code": list(code),
        }
        for doc_name in texts
    }
    stage, store = "elements/filings", study.store
    missing = [name for name in texts if not store.find(stage, store.key(stage, params[name], VERSION))]
    with ProcessPoolExecutor(n_workers) as pool:
        found = pool.map(
            elements_of_filing, map(study.dataset.source, missing), (texts[name] for name in missing)
        )
        for doc_name, rows in zip(tqdm(missing, desc="elements", unit="filing"), found, strict=True):
            table = pd.DataFrame([(doc_name, *row) for row in rows], columns=list(ELEMENT_COLUMNS))
            store.get(stage, params[doc_name], partial(_write, table), VERSION)
    return [
        pd.read_parquet(store.get(stage, given, _never, VERSION).path / "elements.parquet")
        for given in params.values()
    ]


def _write(table: pd.DataFrame, target: Path) -> None:
    table.to_parquet(target / "elements.parquet", index=False)


def _never(target: Path) -> None:
    raise ValueError(f"{target}: the filing's elements were there a moment ago")


def elements_of_filing(source: Path, texts: Sequence[str]) -> list[tuple]:
    """The elements of one filing, as rows without its name.

    Args:
        source: its PDF, or its page text.
        texts: the text of each page, as the study has it. A page whose layout reads otherwise is taken as text.
    """
    if source.suffix != ".pdf":
        return [row for page, text in enumerate(texts) for row in _rows(page, text, rows_of_text(text))]
    pymupdf.TOOLS.mupdf_display_errors(False)
    found = []
    with pymupdf.open(source) as pdf:
        for number, (page, text) in enumerate(zip(pdf, texts, strict=True)):
            rows = rows_of_page(page, text)
            found += _rows(number, text, rows_of_text(text) if rows is None else rows)
    return found


def _rows(page: int, text: str, rows: Sequence[Row]) -> list[tuple]:
    return [
        (page, one.kind, text[one.start : one.end], one.start, one.end, _cells(one), one.rows[0].is_placed)
        for one in elements_of(text, rows)
    ]


def _cells(element: Element) -> str:
    if element.kind != "table":
        return ""
    rows = [
        [[cell.text, round(cell.left, 1), round(cell.right, 1)] for cell in row.cells] for row in element.rows
    ]
    return json.dumps(rows, ensure_ascii=False)
