"""What an archive is searched by before a question comes: places of pages, words by weight, vectors, identities.

All are in one file of the index, written when filings are indexed, or when an index without it is opened: its name is
of exactly these filings, as they are, and settings. Words take most of the time to open an archive without it. What
each page's text says by itself (:mod:`lib.ahead.facts`) is beside the filing's pages.
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
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from lib.ahead.facts import facts_of
from lib.archive.index import Shards
from lib.corpus import edited
from lib.files import aside, digest_of, write_atomically
from lib.profile import Settings
from lib.retrievers.bm25 import BM25
from lib.retrievers.identity import Identity, filing_identities, without_records

VERSION, VERSION_OF_FACTS = 1, 1
KEY = b"of"  # what facts were made from, in their file
PARTS = ("data", "indices", "indptr", "shape")  # of a sparse matrix


class Described(NamedTuple):
    """An archive without its texts."""

    pages: pd.DataFrame  # doc_name and page
    words: BM25  # of the pages
    filed: list[Identity]  # of filings, in the pages' order
    owners: np.ndarray  # the row of each window's page, not falling
    vectors: np.ndarray  # of windows


def described(shards: Shards, names: Sequence[str], settings: Settings) -> Described:
    """What is known of some filings' pages, with BM25's ``settings``: read, or made and, of a whole index, written."""
    files = {name: shards.record(name)["files"] for name in names}
    key = digest_of({"version": VERSION, "files": files, "k1": settings.k1, "b": settings.b})[:20]
    path = shards.folder / f"described-{key}.npz"
    with suppress(OSError, EOFError, ValueError, KeyError, BadZipFile):
        return _read(path)
    pages = pages_of(shards, names)
    places = pages[["doc_name", "page"]]
    filed = filing_identities(without_records(places[["doc_name"]].drop_duplicates()), pages)
    tables, vectors = zip(*(shards.windows(name, [*places]) for name in names), strict=True)
    owners = pd.MultiIndex.from_frame(places).get_indexer(pd.MultiIndex.from_frame(pd.concat(tables)[[*places]]))
    words = BM25.of_texts(pages["text"], settings.k1, settings.b)
    made = Described(places, words, filed, owners, np.concatenate(vectors))
    for name, texts in pages.groupby("doc_name")["text"]:
        filing_facts(shards, name, texts)
    if set(names) == set(shards.names()):
        with suppress(OSError):  # an index that cannot be written to is searched all the same
            _write(path, made)
    return made


def _write(path: Path, made: Described) -> None:
    for old in path.parent.glob(f"described-{'[0-9a-f]' * 20}.npz"):
        old.unlink(missing_ok=True)
    known = {"terms": list(made.words.vocabulary), "filed": [one._asdict() for one in made.filed]}
    known["n_pages"] = made.pages.groupby("doc_name", sort=False).size().tolist()
    arrays = {part: np.asarray(getattr(made.words.weights, part)) for part in PARTS}
    text, temporary = json.dumps(known, default=date.isoformat).encode(), aside(path)
    arrays |= {"owners": made.owners, "vectors": made.vectors, "page": made.pages["page"].to_numpy(int)}
    np.savez(temporary, known=np.frombuffer(text, np.uint8), **arrays)
    temporary.replace(path)


def _read(path: Path) -> Described:
    with np.load(path) as found:
        known = json.loads(found["known"].tobytes())
        *arrays, shape = (found[part] for part in PARTS)
        owners, vectors, page = (found[name] for name in ("owners", "vectors", "page"))
    filed = list(map(_identity, known["filed"]))
    names = np.repeat([one.doc_name for one in filed], known["n_pages"]).astype(object)
    words = BM25.of_weights(known["terms"], sparse.csr_array(tuple(arrays), shape=tuple(shape)))
    return Described(pd.DataFrame({"doc_name": names, "page": page}), words, filed, owners, vectors)


def pages_of(shards: Shards, names: Sequence[str]) -> pd.DataFrame:
    """PAGE_COLUMNS of filings of an index."""
    return pd.concat((pd.read_parquet(shards.path("pages", name)) for name in names), ignore_index=True)


def filing_facts(shards: Shards, name: str, texts: Sequence[str]) -> pd.DataFrame:
    """:func:`lib.ahead.facts.facts_of` the pages of a filing: read, or made and written."""
    key = digest_of([VERSION_OF_FACTS, shards.record(name)["files"]["pages"], edited("ahead")]).encode()
    with suppress(OSError, pa.ArrowInvalid):
        table = pq.read_table(shards.path("facts", name))
        if (table.schema.metadata or {}).get(KEY) == key:
            return table.to_pandas()
    made, packed = facts_of([*texts]), pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pandas(made, preserve_index=False).replace_schema_metadata({KEY: key}), packed)
    with suppress(OSError):
        write_atomically(shards.path("facts", name), packed.getvalue().to_pybytes())
    return made


def _identity(known: dict) -> Identity:
    dates, names = list(map(date.fromisoformat, known["dates"])), tuple(known["names"])
    return Identity(**known | {"dates": dates, "names": names})
