"""What an archive is searched by before a question comes, beside its vectors: places of pages, words, identities.

All are in one file of the index, written when filings are indexed, or when an index without it is opened: its name is
of exactly these filings, as they are, and settings. Words take most of the time to open an archive without it.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
import pandas as pd
from scipy import sparse

from lib.archive.index import ArchiveIndex
from lib.files import digest_of, temporary_path
from lib.filings.identity import Identity, filing_identities, printed_form, with_fiscal_year, without_records
from lib.retrievers.bm25 import BM25
from lib.schema import PAGE_COLUMNS
from lib.text.characters import unaccented

VERSION = 2
PARTS = ("data", "indices", "indptr", "shape")  # of a sparse matrix


class SearchData(NamedTuple):
    """An archive without its texts."""

    pages: pd.DataFrame  # doc_name and page
    bm25: BM25  # of the pages
    filings: list[Identity]  # in the pages' order


def search_data(archive: ArchiveIndex, names: Sequence[str]) -> SearchData:
    """The search data of some filings: read, or computed and, of a whole index, written."""
    settings = archive.profile.bm25
    records = {name: archive.record(name) for name in names}
    digests = {name: record["pages"] for name, record in records.items()}
    key = digest_of({"version": VERSION, "pages": digests, "k1": settings.k1, "b": settings.b})[:20]
    path = archive.folder / f"described-{key}.npz"
    with suppress(OSError, EOFError, ValueError, KeyError, BadZipFile):
        return _read(path)
    texts = archive.pages(names, [*PAGE_COLUMNS])
    pages = texts[["doc_name", "page"]]
    filings = archive_identities(texts, {name: record.get("fiscal_years", {}) for name, record in records.items()})
    data = SearchData(pages, BM25.of_texts(map(unaccented, texts["text"]), settings.k1, settings.b), filings)
    if set(names) == set(archive.names()):
        with suppress(OSError):  # an index that cannot be written to is searched all the same
            _write(path, data)
    return data


def archive_identities(texts: pd.DataFrame, fiscal_years: Mapping[str, Mapping[str, int]]) -> list[Identity]:
    """The identity of each filing by its pages (PAGE_COLUMNS), with the printed form and the filing's own fiscal year.

    ``fiscal_years`` has those by filing and end date, as text.
    """
    covers = texts[texts["page"] < 2].groupby("doc_name", sort=False)["text"].agg("\n".join)
    filings = []
    for filing in filing_identities(without_records(texts[["doc_name"]].drop_duplicates()), texts):
        cover = covers.get(filing.doc_name, "")
        years = {date.fromisoformat(end): year for end, year in fiscal_years[filing.doc_name].items()}
        form = printed_form(filing.doc_name, filing.doc_type, cover)
        filings.append(with_fiscal_year(filing._replace(form=form), cover, years))
    return filings


def _write(path: Path, data: SearchData) -> None:
    for old in path.parent.glob(f"described-{'[0-9a-f]' * 20}.npz"):
        old.unlink(missing_ok=True)
    about = {"terms": list(data.bm25.vocabulary), "filed": [filing._asdict() for filing in data.filings]}
    about["n_pages"] = data.pages.groupby("doc_name", sort=False).size().tolist()
    arrays = {part: np.asarray(getattr(data.bm25.weights, part)) for part in PARTS}
    arrays["page"] = data.pages["page"].to_numpy(int)
    text, temporary = json.dumps(about, default=date.isoformat).encode(), temporary_path(path)
    np.savez(temporary, known=np.frombuffer(text, np.uint8), **arrays)
    temporary.replace(path)


def _read(path: Path) -> SearchData:
    with np.load(path) as arrays:
        about = json.loads(arrays["known"].tobytes())
        *weights, shape = (arrays[part] for part in PARTS)
        page = arrays["page"]
    filings = list(map(_identity, about["filed"]))
    names = np.repeat([filing.doc_name for filing in filings], about["n_pages"]).astype(object)
    bm25 = BM25.of_weights(about["terms"], sparse.csr_array(tuple(weights), shape=tuple(shape)))
    return SearchData(pd.DataFrame({"doc_name": names, "page": page}), bm25, filings)


def _identity(fields: dict) -> Identity:
    dates, names = list(map(date.fromisoformat, fields["dates"])), tuple(fields["names"])
    return Identity(**fields | {"dates": dates, "names": names})
