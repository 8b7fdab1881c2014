"""What an archive is searched by before a question comes: its pages' words by weight, and its filings' identities.

Both are in one file of the index, written when filings are indexed, or when an index without it is opened: its name is
of exactly these filings, as they are, and settings. A page's words take most of the time to open an archive.
"""

import io
import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
import pandas as pd
from scipy import sparse

from lib.archive.index import Shards
from lib.files import digest_of, write_atomically
from lib.profile import Settings
from lib.retrievers.bm25 import BM25
from lib.retrievers.identity import Identity, filing_identities, without_records

VERSION = 1
PARTS = ("data", "indices", "indptr", "shape")  # of a sparse matrix


class Described(NamedTuple):
    """Pages' words, and the identity of each filing in their order."""

    words: BM25
    filed: list[Identity]


def described(shards: Shards, names: Sequence[str], pages: pd.DataFrame, settings: Settings) -> Described:
    """What is known of some filings' pages, with BM25's ``settings``: read, or made and, of a whole index, written."""
    files = {name: shards.record(name)["files"] for name in names}
    key = digest_of({"version": VERSION, "files": files, "k1": settings.k1, "b": settings.b})[:20]
    path = shards.folder / f"described-{key}.npz"
    with suppress(OSError, EOFError, ValueError, KeyError, BadZipFile):
        with np.load(path) as found:
            known = json.loads(found["known"].tobytes())
            *arrays, shape = (found[part] for part in PARTS)
        weights = sparse.csr_array(tuple(arrays), shape=tuple(shape))
        return Described(BM25.of_weights(known["terms"], weights), list(map(_identity, known["filed"])))
    filed = filing_identities(without_records(pages[["doc_name"]].drop_duplicates()), pages)
    made = Described(BM25.of_texts(pages["text"], settings.k1, settings.b), filed)
    if set(names) != set(shards.names()):
        return made
    with suppress(OSError):  # an index that cannot be written to is searched all the same
        for old in shards.folder.glob("described-*.npz"):
            old.unlink(missing_ok=True)
        known = {"terms": list(made.words.vocabulary), "filed": [one._asdict() for one in filed]}
        arrays = {part: np.asarray(getattr(made.words.weights, part)) for part in PARTS}
        text, packed = json.dumps(known, default=date.isoformat).encode(), io.BytesIO()
        np.savez(packed, known=np.frombuffer(text, np.uint8), **arrays)
        write_atomically(path, packed.getvalue())
    return made


def pages_of(shards: Shards, names: Sequence[str]) -> pd.DataFrame:
    """PAGE_COLUMNS of filings of an index."""
    return pd.concat((pd.read_parquet(shards.path("pages", name)) for name in names), ignore_index=True)


def describe(shards: Shards, settings: Settings) -> None:
    """Write what is known of the pages of a whole index, where it is not there."""
    names = shards.names()
    described(shards, names, pages_of(shards, names), settings)


def _identity(known: dict) -> Identity:
    dates, names = list(map(date.fromisoformat, known["dates"])), tuple(known["names"])
    return Identity(**known | {"dates": dates, "names": names})
