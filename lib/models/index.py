"""The index: unit vectors of the windows of a chunk table, one Chroma collection, in a folder or on a server.

The space is the inner product, which gives vectors back bit for bit. The first window of a filing is written last. It
carries a digest of what the vectors were made from, and a checksum of them: a filing that is half-written or damaged
counts as missing.

An embedded Chroma is for one process that writes or for several that read, and a damaged segment ends the process that
loads it. So a lock is held while it is open, and segments are compared with their checksums before that.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import numpy as np
import pandas as pd
from filelock import ReadWriteLock, Timeout

from lib.files import PATIENCE_S, ROOT, digest_of_file, report, write_atomically
from lib.schema import StudyError

SERVER = "CHROMA"  # the variable that names a served Chroma, host:port
HNSW = {"space": "ip", "ef_search": 1000, "max_neighbors": 32}
AT_ONCE = 4000  # records of a request; Chroma takes 5,461
FILINGS_AT_ONCE = 8
WRITTEN = "index_metadata.pickle"  # in a segment; a small collection has none, and is in SQLite alone
SEAL = "sealed.json"  # checksums of the segments; there while no process writes
LEAST_FREE = 64 * 2**20  # bytes of disk that are free before a filing is written


class Index:
    """An open collection; a record is a window, ``<chunk_id>#w03``, with its filing and page. See :func:`open_index`.

    Every method raises a StudyError where Chroma fails.
    """

    def __init__(self, client, name: str, place: str | Path):
        self.place, self.is_served, self.has_failed = place, isinstance(place, str), False
        given = {"name": name, "configuration": {"hnsw": HNSW}, "embedding_function": None}
        self.records = self._call(client.get_or_create_collection, **given)

    def filings(self) -> dict[str, str]:
        """From the name of every filing that was written to its end to the digest that it was written with."""
        firsts = (window for part in self._pages({"place": 0}) for window in part["metadatas"])
        return {window["doc_name"]: window["digest"] for window in firsts if "digest" in window}

    def put(self, doc_name: str, digest: str, chunk_ids: Sequence[str], vectors: np.ndarray) -> None:
        """Write a filing in place of what is there: the chunk of each window, and its vector (n_windows, dimension)."""
        if not self.is_served and shutil.disk_usage(self.place).free < LEAST_FREE:
            raise StudyError(f"{self.place}: disk full; results so far are kept")
        self.drop([doc_name])
        ids = window_ids(chunk_ids)
        metadatas = [{"doc_name": doc_name, "page": page_of(id), "place": place} for place, id in enumerate(ids)]
        metadatas[0] |= {"digest": digest, "sha256": _checksum(ids, vectors)}
        for start in reversed(range(0, len(ids), AT_ONCE)):
            part = slice(start, start + AT_ONCE)
            self._call(self.records.add, ids=ids[part], embeddings=vectors[part], metadatas=metadatas[part])

    def drop(self, doc_names: Sequence[str]) -> None:
        """Remove filings."""
        for name in doc_names:
            self._call(self.records.delete, where={"doc_name": name})

    def read(self, doc_names: Sequence[str]) -> dict[str, tuple[list[str], np.ndarray]]:
        """The window ids and vectors (float32) of those filings that are as they were written, in their order."""
        found = {}
        for start in range(0, len(doc_names), FILINGS_AT_ONCE):
            names = {"$in": [*doc_names[start : start + FILINGS_AT_ONCE]]}
            parts = [part for part in self._pages({"doc_name": names}, "embeddings") if part["ids"]]
            if not parts:
                continue
            table = pd.DataFrame([window for part in parts for window in part["metadatas"]])
            table["id"] = [id for part in parts for id in part["ids"]]
            vectors = np.concatenate([part["embeddings"] for part in parts]).astype(np.float32)
            for name, rows in table.sort_values("place").groupby("doc_name", sort=False):
                ids, of_filing = rows["id"].tolist(), vectors[rows.index]
                is_whole = rows.get("sha256", pd.Series([""])).iloc[0] == _checksum(ids, of_filing)
                if is_whole and rows["page"].tolist() == list(map(page_of, ids)):
                    found[name] = ids, of_filing
        return found

    def damaged(self) -> list[str]:
        """The filings that are not as they were written, those that are half-written too."""
        names = sorted({window["doc_name"] for part in self._pages() for window in part["metadatas"]})
        parts = (names[start : start + FILINGS_AT_ONCE] for start in range(0, len(names), FILINGS_AT_ONCE))
        return [name for part in parts for name in {*part} - self.read(part).keys()]

    def nearest(self, vector: np.ndarray, n: int, where: Mapping[str, object] | None = None) -> pd.Series:
        """The cosines of about the n nearest windows of a unit vector, falling, by window id; all of the windows that
        ``where`` admits if these are fewer."""
        given = {"query_embeddings": [vector], "n_results": n, "include": ["distances"]}
        found = self._call(self.records.query, where=where, **given)
        return pd.Series(1 - np.array(found["distances"][0]), found["ids"][0])

    def _pages(self, where: Mapping[str, object] | None = None, *more: str) -> Iterator[dict]:
        start, n_found = 0, AT_ONCE
        while n_found == AT_ONCE:
            page = {"limit": AT_ONCE, "offset": start}
            part = self._call(self.records.get, where=where, include=["metadatas", *more], **page)
            yield part
            start, n_found = start + AT_ONCE, len(part["ids"])

    def _call(self, call: Callable, **given: object):
        from chromadb.errors import ChromaError
        from httpx import HTTPError

        try:
            return call(**given)
        except (ChromaError, HTTPError) as error:
            self.has_failed = True
            repair = "start it again with the same --path" if self.is_served else "free disk space or remove the folder"
            raise StudyError(f"{self.place}: Chroma failed ({error}); {repair}; results so far are kept") from None


@contextmanager
def open_index(
    name: str, folder: Path, writes: bool = True, say: Callable[[str], None] = report
) -> Iterator[Index | None]:
    """The collection of that name: on the server that SERVER names, else in a folder of its own in ``folder``.

    Other processes wait while one ``writes``, which also recovers what it can from an index that is damaged or was left
    by a killed process. One that only reads creates nothing: it gets None where there is no index, and a StudyError
    where that is damaged.
    """
    if server := os.environ.get(SERVER):
        yield Index(_served(server), name, f"{SERVER}={server}")
        return
    home = folder / name
    if not (writes or home.is_dir()):
        yield None
        return
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / f"{name}.lock", writes, say):
        client, damaged = _sound_client(home), None
        if not (client or writes):
            raise StudyError(f"{home} is damaged, or a process that wrote to it was killed; run make index")
        if client is None:
            damaged = home.replace(folder / f"damaged-{name}-{uuid.uuid4().hex[:6]}")
            client = _embedded(home)
        if writes:
            (home / SEAL).unlink(missing_ok=True)
        index = Index(client, name, home)
        try:
            if damaged:
                n_filings = _rescue(damaged, index)
                say(f"{home} was damaged, or a process that wrote to it was killed: {n_filings} filings were recovered")
            yield index
        finally:
            client.close()
            if writes and not index.has_failed:
                with suppress(OSError):  # without a seal the filings are written to a new collection the next time
                    write_atomically(home / SEAL, json.dumps(_segments(home), indent=1))


def window_ids(chunk_ids: Sequence[str]) -> list[str]:
    """The id of each window, numbered in its chunk: ``3M_2018_10K#p0049#c00#w00``."""
    chunks = pd.Series(chunk_ids, dtype=object)
    return [f"{id}#w{number:02d}" for id, number in zip(chunks, chunks.groupby(chunks).cumcount(), strict=True)]


def chunk_of(window_id: str) -> str:
    """The id of a window's chunk."""
    return window_id.rpartition("#")[0]


def page_of(window_id: str) -> int:
    """The page of a window, from 0."""
    return int(window_id.rsplit("#", 3)[1][1:])


def read_all(home: Path, name: str) -> None:
    """Load a collection and read every vector; run in a process of its own, which a damaged segment may end."""
    with closing(_embedded(home)) as client:
        index = Index(client, name, home)
        vectors = [one for part in index._pages(None, "embeddings") for one in part["embeddings"]]
        if vectors:
            index.nearest(vectors[0], 1)


def _checksum(ids: Sequence[str], vectors: np.ndarray) -> str:
    digest = hashlib.sha256("\n".join(ids).encode())
    digest.update(np.ascontiguousarray(vectors, np.float32))
    return digest.hexdigest()


def _segments(home: Path) -> dict[str, str]:
    """The checksum of each file of a segment that was written; SQLite's file changes when it is read."""
    paths = sorted(path for one in home.glob(f"*/{WRITTEN}") for path in one.parent.iterdir() if path.is_file())
    return {path.relative_to(home).as_posix(): digest_of_file(path) for path in paths}


def _is_sound(home: Path) -> bool:
    """Whether nothing is there, or the segments are those of the seal."""
    with suppress(OSError, ValueError):
        return json.loads((home / SEAL).read_text(encoding="utf-8")) == _segments(home)
    return not home.is_dir() or not any(home.iterdir())


def _sound_client(home: Path):
    """A client of a folder that is sound and opens, else None."""
    from chromadb.api.client import Client
    from chromadb.errors import ChromaError

    try:
        return _embedded(home) if _is_sound(home) else None
    except ChromaError:
        Client.clear_system_cache()  # else the next client of the folder gets what failed
        return None


def _rescue(damaged: Path, index: Index) -> int:
    """Copy the intact filings of an index that was set aside; gives their number. One that cannot be read stays."""
    command = [sys.executable, "-m", __name__, str(damaged.absolute()), index.records.name]
    if subprocess.run(command, capture_output=True, cwd=ROOT).returncode != 0:
        return 0
    with closing(_embedded(damaged)) as client:
        old = Index(client, index.records.name, damaged)
        for doc_name, digest in old.filings().items():
            for ids, vectors in old.read([doc_name]).values():
                index.put(doc_name, digest, list(map(chunk_of, ids)), vectors)
    shutil.rmtree(damaged)
    return len(index.filings())


@contextmanager
def _locked(path: Path, writes: bool, say: Callable[[str], None]) -> Iterator[None]:
    lock = ReadWriteLock(path, is_singleton=False)
    acquire = lock.acquire_write if writes else lock.acquire_read
    try:
        acquire(timeout=PATIENCE_S)
    except Timeout:
        say(f"{path.with_suffix('')}: another process has the index open; waiting for it to end")
        acquire()
    try:
        yield
    finally:
        lock.close()


def _embedded(home: Path):
    import chromadb  # takes seconds

    return chromadb.PersistentClient(str(home), chromadb.Settings(anonymized_telemetry=False))


def _served(server: str):
    import chromadb

    host, _, port = server.removeprefix("http://").rstrip("/").rpartition(":")
    if not (host and port.isdecimal()):
        raise StudyError(f"{SERVER} is {server!r}; give host:port of a served Chroma, such as localhost:8000")
    try:
        return chromadb.HttpClient(host, int(port), settings=chromadb.Settings(anonymized_telemetry=False))
    except ValueError as error:
        reason, start = str(error).strip().partition("\n")[0], f"start it with chroma run --path FOLDER --port {port}"
        raise StudyError(f"{SERVER}={server}: no answer ({reason}); {start}, or unset {SERVER}") from None


if __name__ == "__main__":
    read_all(Path(sys.argv[1]), sys.argv[2])
