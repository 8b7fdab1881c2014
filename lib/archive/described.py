"""What an archive is searched by before a question comes, beside its vectors: places of pages, words, identities.

All are in one file of the index, written when filings are indexed, or when an index without it is opened: its name is
of exactly these filings, as they are, and settings. Words take most of the time to open an archive without it.
"""

import json
from collections.abc import Sequence
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
from lib.filings.identity import Identity, filing_identities, without_records
from lib.retrievers.bm25 import BM25
from lib.schema import PAGE_COLUMNS

VERSION = 1
PARTS = ("data", "indices", "indptr", "shape")  # of a sparse matrix


class Described(NamedTuple):
    """An archive without its texts."""

    pages: pd.DataFrame  # doc_name and page
    words: BM25  # of the pages
    filed: list[Identity]  # of filings, in the pages' order


def described(archive: ArchiveIndex, names: Sequence[str]) -> Described:
    """What is known of some filings' pages: read, or made and, of a whole index, written."""
    settings = archive.profile.bm25
    pages = {name: archive.record(name)["pages"] for name in names}
    key = digest_of({"version": VERSION, "pages": pages, "k1": settings.k1, "b": settings.b})[:20]
    path = archive.folder / f"described-{key}.npz"
    with suppress(OSError, EOFError, ValueError, KeyError, BadZipFile):
        return _read(path)
    texts = archive.pages(names, [*PAGE_COLUMNS])
    places = texts[["doc_name", "page"]]
    filed = filing_identities(without_records(places[["doc_name"]].drop_duplicates()), texts)
    made = Described(places, BM25.of_texts(texts["text"], settings.k1, settings.b), filed)
    if set(names) == set(archive.names()):
        with suppress(OSError):  # an index that cannot be written to is searched all the same
            _write(path, made)
    return made


def _write(path: Path, made: Described) -> None:
    for old in path.parent.glob(f"described-{'[0-9a-f]' * 20}.npz"):
        old.unlink(missing_ok=True)
    known = {"terms": list(made.words.vocabulary), "filed": [one._asdict() for one in made.filed]}
    known["n_pages"] = made.pages.groupby("doc_name", sort=False).size().tolist()
    arrays = {part: np.asarray(getattr(made.words.weights, part)) for part in PARTS}
    arrays["page"] = made.pages["page"].to_numpy(int)
    text, temporary = json.dumps(known, default=date.isoformat).encode(), temporary_path(path)
    np.savez(temporary, known=np.frombuffer(text, np.uint8), **arrays)
    temporary.replace(path)


def _read(path: Path) -> Described:
    with np.load(path) as found:
        known = json.loads(found["known"].tobytes())
        *arrays, shape = (found[part] for part in PARTS)
        page = found["page"]
    filed = list(map(_identity, known["filed"]))
    names = np.repeat([one.doc_name for one in filed], known["n_pages"]).astype(object)
    words = BM25.of_weights(known["terms"], sparse.csr_array(tuple(arrays), shape=tuple(shape)))
    return Described(pd.DataFrame({"doc_name": names, "page": page}), words, filed)


def _identity(known: dict) -> Identity:
    dates, names = list(map(date.fromisoformat, known["dates"])), tuple(known["names"])
    return Identity(**known | {"dates": dates, "names": names})
