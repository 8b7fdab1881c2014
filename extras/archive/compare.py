"""Stores side by side: agreement with exact search, milliseconds, searches a second, memory, disk, seconds to build.

Every store has a process of its own, holds the same vectors, and answers the same questions three ways: unfiltered,
inside the gold filing, and inside the filings of its company and year.
"""

import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.pool import ThreadPool
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import psutil

from extras.archive.growth import Index, Part
from extras.archive.stores import FIELDS, Chroma, Exact, Lance, VectorStore
from lib.analysis.frontier import known_table
from lib.analysis.growth import STORE_COLUMNS
from lib.analysis.growth import STORES as STORES_FILE
from lib.files import write_atomically
from lib.models.index import window_vectors
from lib.retrievers.dense import question_vectors
from lib.study import Study
from lib.words import StudyError

STORES = ("exact", "chroma", "chroma server", "lancedb")
FILTERS = {"none": (), "gold filing": ("doc_name",), "company and year": ("company", "year")}
K, MIB, BATCH, CLIENTS, START_S = 10, 2**20, 5000, 4, 60


def write_stores(
    home: Study, larger: Study, index: Index | None, names: tuple[str, ...] = STORES
) -> pd.DataFrame:
    """:func:`compare_stores`, also put into STORES_FILE of the folder of ``home``, in place of what is there of a size.

    Args:
        home: whose table it is.
        larger: the study whose windows are searched.
        index: where their vectors are; by default they are the study's.
        names: of STORES.
    """
    searched = Part(larger, frozenset(larger.filings["doc_name"]), index) if index else larger
    path, parts = home.home / STORES_FILE, []
    for name in names:
        parts.append(compare_stores(searched, (name,)))
        both = pd.concat([known_table(home, STORES_FILE), parts[-1]])
        both = both.drop_duplicates(["store", "filter", "n_windows"], keep="last")
        write_atomically(path, both.to_csv(index=False))
    return pd.concat(parts, ignore_index=True)


def compare_stores(study: Study, names: tuple[str, ...] = STORES) -> pd.DataFrame:
    """STORE_COLUMNS for each store and filter, over the study's windows and questions.

    ``agreement`` is the mean share of exact search's best K that a store finds too, ``least_found`` the fewest results
    of a question as a share of those there are. A store is built in one process and searched in another, which opens
    what the first left: memory is by how much that process, with its server's, grew until all was searched.
    """
    owners, vectors = window_vectors(study)
    about = _about(study).iloc[owners].reset_index(drop=True)
    asked = _about(study, study.questions)
    given = vectors, about, question_vectors(study), asked
    exact, rows = _searches(filled(Exact(), vectors, about), *given[2:]), []
    for name in names:
        with TemporaryDirectory(prefix="stores-") as folder:
            with alone() as run:
                build_s = run(_built, name, Path(folder), given)
            with alone() as run:
                found = run(_measured, name, Path(folder), given, exact)
            about_it = build_s, os.getloadavg()[0] / os.cpu_count()
            rows += [(name, label, len(study.pages), len(vectors), *of, *about_it) for label, *of in found]
    return pd.DataFrame(rows, columns=STORE_COLUMNS)


def _about(study: Study, frame: pd.DataFrame | None = None) -> pd.DataFrame:
    """FIELDS of the filing of each row of a frame with ``doc_name``, by default the chunks."""
    filings = study.filings.assign(year=pd.to_numeric(study.filings["doc_period"], errors="coerce"))
    known = filings.assign(
        company=filings["company"].fillna("").astype(str), year=filings["year"].fillna(0).astype(int)
    )
    names = (study.chunks if frame is None else frame)["doc_name"]
    return known.set_index("doc_name").loc[names].reset_index()[[*FIELDS]]


@contextmanager
def alone() -> Iterator[Callable]:
    """Calls of a function in a fresh process, so that its memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        yield lambda function, *given: pool.apply(function, given)


def _built(name: str, folder: Path, given: tuple) -> float:
    """Fill a store; the seconds of this."""
    with opened(name, folder) as (store, _):
        started = time.perf_counter()
        filled(store, *given[:2])
        return time.perf_counter() - started


def _measured(name: str, folder: Path, given: tuple, exact: dict) -> list[tuple]:
    vectors, about, questions, asked = given
    before, rows = psutil.Process().memory_info().rss, []
    with opened(name, folder) as (store, server):
        filled(store, vectors, about)  # of what does not lie in the folder
        found = _searches(store, questions, asked)
        rates = {label: _rate(store, questions, asked, fields) for label, fields in FILTERS.items()}
        memory = psutil.Process().memory_info().rss - before
        memory += psutil.Process(server.pid).memory_info().rss if server else 0
        disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        for label in FILTERS:
            pairs = list(zip(found[label], exact[label], strict=True))
            agreement = np.mean([len(np.intersect1d(a, b)) / len(b) for (a, _), (b, _) in pairs])
            least = min(len(a) / len(b) for (a, _), (b, _) in pairs)
            ms = 1000 * np.median([seconds for _, seconds in found[label]])
            rows.append((label, agreement, least, ms, rates[label], memory / MIB, disk / MIB))
    return rows


def filled(store: VectorStore, vectors: np.ndarray, about: pd.DataFrame) -> VectorStore:
    """A store with all rows; what it has already stays, so that a build that was killed goes on."""
    is_new = store.count() < len(vectors)
    for start in range(store.count(), len(vectors), BATCH):
        store.add(vectors[start : start + BATCH], about.iloc[start : start + BATCH], start)
    if is_new:
        store.finish()
    if store.count() != len(vectors):
        raise StudyError(
            f"{type(store).__name__} contains {store.count()} of {len(vectors)} rows; remove its folder"
        )
    return store


def _searches(store: VectorStore, questions: np.ndarray, asked: pd.DataFrame) -> dict[str, list[tuple]]:
    """The rows that each question finds by filter, and its seconds; a first search of each is not counted."""
    found = {}
    for label, fields in FILTERS.items():
        store.search(questions[0], K, _where(asked, 0, fields))
        found[label] = [_timed(store, vector, _where(asked, n, fields)) for n, vector in enumerate(questions)]
    return found


def _where(asked: pd.DataFrame, number: int, fields: tuple[str, ...]) -> dict:
    return {name: asked[name].tolist()[number] for name in fields}


def _timed(store: VectorStore, vector: np.ndarray, where: dict) -> tuple[np.ndarray, float]:
    started = time.perf_counter()
    rows = store.search(vector, K, where).rows
    return rows, time.perf_counter() - started


def _rate(store: VectorStore, questions: np.ndarray, asked: pd.DataFrame, fields: tuple[str, ...]) -> float:
    """Searches a second of CLIENTS at once."""
    given, started = [(vector, K, _where(asked, n, fields)) for n, vector in enumerate(questions)], 0.0
    with ThreadPool(CLIENTS) as clients:
        started = time.perf_counter()
        clients.starmap(store.search, given, chunksize=1)
        return len(given) / (time.perf_counter() - started)


@contextmanager
def opened(name: str, folder: Path) -> Iterator[tuple[VectorStore, subprocess.Popen | None]]:
    """A store of STORES in a folder, and the process of its server where it has one, which is ended.

    Raises:
        StudyError: there is no such store, or its server does not start.
    """
    if name == "exact":
        yield Exact(), None
    elif name == "chroma":
        yield Chroma("windows", folder), None
    elif name == "lancedb":
        yield Lance("windows", folder), None
    elif name == "chroma server":
        with chroma_server(folder) as (address, process):
            yield Chroma("windows", address=address), process
    else:
        raise StudyError(f"no store {name!r}: say one of {', '.join(STORES)}")


@contextmanager
def chroma_server(folder: Path, port: int = 0) -> Iterator[tuple[str, subprocess.Popen]]:
    """The server that Chroma's package ships, over a folder, and its address; ended at the end.

    Raises:
        StudyError: it does not answer within START_S.
    """
    if not port:
        with socket.socket() as free:
            free.bind(("localhost", 0))
            port = free.getsockname()[1]
    program = shutil.which("chroma", path=str(Path(sys.executable).parent)) or "chroma"
    command = [program, "run", "--path", str(folder), "--host", "localhost", "--port", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as process:
        try:
            _wait_for(port, process)
            yield f"localhost:{port}", process
        finally:
            process.terminate()


def _wait_for(port: int, process: subprocess.Popen) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("localhost", port), 1).close()
            return
        except OSError:
            time.sleep(0.2)
    raise StudyError(f"the Chroma server did not start on port {port}; try it: chroma run --path FOLDER")
