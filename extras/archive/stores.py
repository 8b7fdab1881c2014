"""Stores of vectors side by side: agreement with exact search, milliseconds, searches a second, memory, disk, seconds.

Every store has a process of its own, holds the same vectors, and answers the same questions three ways: unfiltered,
inside the gold filing, and inside the filings of its company and year. All filters are applied before the search: a
filter over what a search found loses results.
"""

import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import psutil

from extras.archive.growth import Index, part_of
from lib.analysis.growth import STORE_COLUMNS
from lib.analysis.growth import STORES as STORES_FILE
from lib.analysis.measured import known_table
from lib.files import write_atomically
from lib.models.index import window_vectors
from lib.retrievers.dense import question_vectors
from lib.study import Study
from lib.words import StudyError

STORES = ("exact", "chroma", "chroma server", "lancedb")
FIELDS = ["doc_name", "company", "year"]
FILTERS = {"none": [], "gold filing": ["doc_name"], "company and year": ["company", "year"]}
K, MIB, CLIENTS, START_S = 10, 2**20, 4, 60
HNSW = {"space": "cosine", "ef_construction": 200, "ef_search": 200, "max_neighbors": 32}
PROBES, REFINE = 40, 20  # lists that a search of LanceDB reads; times k rows that are compared exactly


class Exact:
    """All vectors in memory, compared one by one."""

    def fill(self, vectors: np.ndarray, about: pd.DataFrame) -> None:
        """Add unit vectors (n, dimension) with FIELDS of their filings."""
        self.vectors, self.about = vectors, about

    def search(self, vector: np.ndarray, k: int, where: Mapping[str, object]) -> np.ndarray:
        """The rows of the best k vectors, best first, among those whose FIELDS have the values of ``where``."""
        fits = np.ones(len(self.vectors), bool)
        for name, value in where.items():
            fits &= (self.about[name] == value).to_numpy()
        rows = np.flatnonzero(fits)
        return rows[np.argsort(-(self.vectors[rows] @ vector), kind="stable")[:k]]


class Chroma:
    """A Chroma collection, approximate by HNSW, in a folder or on the server at ``localhost:port``."""

    def __init__(self, folder: Path, port: int = 0):
        import chromadb

        settings = chromadb.Settings(anonymized_telemetry=False)
        client = chromadb.HttpClient if port else chromadb.PersistentClient
        self.client = client(*(("localhost", port) if port else (folder,)), settings=settings)
        self.collection = self.client.get_or_create_collection("windows", configuration={"hnsw": HNSW})

    def fill(self, vectors: np.ndarray, about: pd.DataFrame) -> None:
        """As of :class:`Exact`; what the folder has already is not added again."""
        ids, records = [str(row) for row in range(len(vectors))], about[FIELDS].to_dict("records")
        batch = self.client.get_max_batch_size()
        for start in range(self.collection.count(), len(vectors), batch):
            part = slice(start, start + batch)
            self.collection.add(ids=ids[part], embeddings=vectors[part], metadatas=records[part])

    def search(self, vector: np.ndarray, k: int, where: Mapping[str, object]) -> np.ndarray:
        """As of :class:`Exact`."""
        wanted = {"$and": [{name: value} for name, value in where.items()]} if len(where) > 1 else dict(where) or None
        found = self.collection.query(query_embeddings=[vector], n_results=k, include=[], where=wanted)
        return np.array(found["ids"][0], int)


class Lance:
    """A LanceDB table in a folder, read from disk: inverted lists of product-quantised vectors, refined exactly."""

    def __init__(self, folder: Path):
        try:
            import lancedb
        except ImportError:
            raise StudyError("LanceDB is not installed: run make archive") from None
        self.database = lancedb.connect(str(folder))

    def fill(self, vectors: np.ndarray, about: pd.DataFrame) -> None:
        """As of :class:`Chroma`, with indexes of the vectors and of what filters use."""
        import pyarrow as pa
        from lancedb.index import BTree, IvfPq

        if self.database.list_tables().tables:
            return
        table = pa.Table.from_pandas(about[FIELDS], preserve_index=False)
        flat = pa.FixedSizeListArray.from_arrays(vectors.astype(np.float32).ravel(), vectors.shape[1])
        table = table.append_column("row", pa.array(range(len(vectors)))).append_column("vector", flat)
        made = self.database.create_table("windows", table)
        made.create_index("vector", config=IvfPq(distance_type="cosine"))
        for field in FIELDS:
            made.create_index(field, config=BTree())

    def search(self, vector: np.ndarray, k: int, where: Mapping[str, object]) -> np.ndarray:
        """As of :class:`Exact`."""
        search = self.database.open_table("windows").search(vector.astype(np.float32)).distance_type("cosine")
        search = search.nprobes(PROBES).refine_factor(REFINE).limit(k).select(["row", "_distance"])
        if where:
            search = search.where(" AND ".join(map(equals, where, where.values())), prefilter=True)
        return search.to_arrow()["row"].to_numpy()


Store = Exact | Chroma | Lance


def equals(name: str, value: object) -> str:
    """``name = value`` in SQL, a text quoted."""
    text = "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
    return f"{name} = {text}"


@contextmanager
def opened(name: str, folder: Path) -> Iterator[tuple[Store, int]]:
    """A store of STORES in a folder, and the process id of its server (0 for none), which is ended at the end."""
    if name != "chroma server":
        yield (Exact() if name == "exact" else {"chroma": Chroma, "lancedb": Lance}[name](folder)), 0
        return
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    program = shutil.which("chroma", path=str(Path(sys.executable).parent)) or "chroma"
    command = [program, "run", "--path", str(folder), "--host", "localhost", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(port, process)
            yield Chroma(folder, port), process.pid
        finally:
            process.terminate()


def _wait_for(port: int, process: subprocess.Popen) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), socket.create_connection(("localhost", port), 1):
            return
        time.sleep(0.2)
    raise StudyError(f"the Chroma server did not start on port {port}; try it: chroma run --path FOLDER")


def alone(function: Callable, *given: object) -> object:
    """What a function gives in a fresh process, so that its memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, given)


def write_stores(home: Study, larger: Study, index: Index | None, names: tuple[str, ...] = ()) -> pd.DataFrame:
    """STORE_COLUMNS for each store (of STORES, by default all) and filter, also put into STORES_FILE of ``home``.

    The windows of ``larger`` are searched, whose vectors the index has, or else the study. A store is built in one
    process and searched in another, which opens what the first left: memory is by how much that process, with its
    server's, grew until all was searched.

    Raises:
        StudyError: there is no such store.
    """
    if unknown := {*names} - {*STORES}:
        raise StudyError(f"no store {unknown.pop()!r}: say some of {', '.join(STORES)}")
    study = part_of(larger, frozenset(larger.filings["doc_name"]), index) if index else larger
    owners, vectors = window_vectors(study)
    given = vectors, _about(study, study.chunks.iloc[owners])
    asked = question_vectors(study), _about(study, study.questions)
    exact, parts = Exact(), []
    exact.fill(*given)
    wanted = {label: [search() for search in _searches(exact, *asked, label)] for label in FILTERS}
    for name in names or STORES:
        with TemporaryDirectory(prefix="stores-") as folder:
            about = {"store": name, "build_s": alone(_built, name, Path(folder), given)}
            rows = alone(_measured, name, Path(folder), given, asked, wanted)
        about |= {"n_pages": len(study.pages), "n_windows": len(vectors), "load": os.getloadavg()[0] / os.cpu_count()}
        parts.append(pd.DataFrame(rows).assign(**about)[STORE_COLUMNS])
        both = pd.concat([known_table(home, STORES_FILE), parts[-1]])
        both = both.drop_duplicates(["store", "filter", "n_windows"], keep="last")
        write_atomically(home.home / STORES_FILE, both.to_csv(index=False))
    return pd.concat(parts, ignore_index=True)


def _about(study: Study, frame: pd.DataFrame) -> pd.DataFrame:
    """FIELDS of the filing of each row of a frame with ``doc_name``."""
    years = pd.to_numeric(study.filings["doc_period"], errors="coerce").fillna(0).astype(int)
    known = study.filings.assign(year=years, company=study.filings["company"].fillna("").astype(str))
    return known.set_index("doc_name").loc[frame["doc_name"]].reset_index()[FIELDS]


def _built(name: str, folder: Path, given: tuple) -> float:
    """Fill a store; the seconds of this."""
    with opened(name, folder) as (store, _):
        return _seconds(partial(store.fill, *given))[1]


def _measured(name: str, folder: Path, given: tuple, asked: tuple, exact: dict) -> list[dict]:
    """What was measured of a store, a row for each of FILTERS."""
    before, rows = psutil.Process().memory_info().rss, []
    with opened(name, folder) as (store, server):
        store.fill(*given)  # where it does not lie in the folder
        for label, best in exact.items():
            searches = _searches(store, *asked, label)
            searches[0]()  # the first is not counted
            found, seconds = zip(*map(_seconds, searches), strict=True)
            with ThreadPool(CLIENTS) as clients:
                all_s = _seconds(partial(clients.map, _seconds, searches, chunksize=1))[1]
            pairs = list(zip(found, best, strict=True))
            agreement = np.mean([len(np.intersect1d(mine, wanted)) / len(wanted) for mine, wanted in pairs])
            least = min(len(mine) / len(wanted) for mine, wanted in pairs)
            row = {"filter": label, "agreement": agreement, "least_found": least}
            rows.append(row | {"median_ms": 1000 * np.median(seconds), "clients_4_per_s": len(searches) / all_s})
        memory = psutil.Process().memory_info().rss - before
        memory += psutil.Process(server).memory_info().rss if server else 0
    disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return [row | {"memory_mib": memory / MIB, "disk_mib": disk / MIB} for row in rows]


def _searches(store: Store, questions: np.ndarray, asked: pd.DataFrame, label: str) -> list[Callable]:
    """A search for each question, filtered by what is known of its filing."""
    filters = [dict(zip(FILTERS[label], row, strict=True)) for row in asked[FILTERS[label]].to_numpy().tolist()]
    return [partial(store.search, vector, K, where) for vector, where in zip(questions, filters, strict=True)]


def _seconds(compute: Callable[[], object]) -> tuple[object, float]:
    started = time.perf_counter()
    return compute(), time.perf_counter() - started
