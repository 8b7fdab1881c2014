"""What each stage of an archive takes as it grows: seconds of a core, memory, disk.

Indexing is what the index noted of every filing while it was made (:class:`lib.archive.index.Indexer`), added up
filing by filing. What holds all pages at once, BM25's statistics and the vectors of exact search, is
measured at each size in a process of its own.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd
import psutil

from extras.archive.growth import NO_INDEX, Index
from extras.archive.stores import MIB, alone
from lib.analysis.growth import COST_COLUMNS, COSTS, ENGINE_COLUMNS, ENGINES
from lib.archive.index import STEPS, Shards
from lib.files import write_atomically
from lib.retrievers.bm25 import BM25
from lib.study import Study
from lib.words import StudyError

SIZES = (1000, 3000, 10_000, 30_000)
N_QUESTIONS = 20


def write_costs(home: Study, larger: Study, index: Index | None) -> pd.DataFrame:
    """COST_COLUMNS of every stage at SIZES and over all there is, kept in the folder of ``home``.

    Words are counted in ``larger``; the index says what indexing took, and gives the vectors.

    Raises:
        StudyError: no collection was indexed.
    """
    if index is None:
        raise StudyError(NO_INDEX)
    questions, rows = larger.questions["question"].tolist()[:N_QUESTIONS], []
    for n_pages, part in _parts(noted_costs(index.shards)):
        for step in STEPS:
            kind = {"write": "pages", "embed": "windows"}.get(step)
            paths = [index.shards.path(kind, name) for name in part["source"]] if kind else []
            disk = sum(path.stat().st_size for path in paths) / MIB
            rows.append((step, n_pages, part[f"{step}_s"].sum(), part["peak_mib"].max(), disk, np.nan))
    counts = larger.pages.groupby("doc_name", sort=False).size().rename("n_pages").reset_index()
    for n_pages, part in _parts(counts):
        texts = larger.pages["text"][larger.pages["doc_name"].isin(part["doc_name"])].tolist()
        seconds, memory, asked_s = alone(_measured, partial(BM25.of_texts, texts, 1.5, 0.75), _score, questions)
        rows.append(("words", n_pages, seconds, memory, 0.0, asked_s))
    for n_pages, part in _parts(counts[counts["doc_name"].isin(index.names)]):
        vectors = index.of(larger.chunks[larger.chunks["doc_name"].isin(part["doc_name"])])[1]
        seconds, memory, asked_s = alone(_measured, vectors.copy, _nearest, vectors[:N_QUESTIONS])
        rows.append(("vectors", n_pages, seconds, memory, 0.0, asked_s))
    return _kept(home, COSTS, rows, COST_COLUMNS)


def _kept(home: Study, name: str, rows: list[tuple], columns: list[str]) -> pd.DataFrame:
    found = pd.DataFrame(rows, columns=columns)
    write_atomically(home.home / name, found.to_csv(index=False))
    return found


def write_engines(home: Study, first: Shards, second: Shards) -> pd.DataFrame:
    """ENGINE_COLUMNS of two indexes of the same filings, compared byte by byte, kept in the study's folder.

    Raises:
        StudyError: they have no filing in common, or were made by different plans.
    """
    both = sorted({*first.names()} & {*second.names()})
    pair = (first, second)
    if not both or first.plan != second.plan:
        raise StudyError(f"{second.folder} is not another index of the filings of {first.folder}")
    made = [[[one.path(kind, name).read_bytes() for kind in ("pages", "windows")] for one in pair] for name in both]
    n_equal, rows = sum(mine == theirs for mine, theirs in made), []
    for shards in pair:
        noted = noted_costs(shards)
        noted = noted[noted["source"].isin(both)]
        engines = "+".join(sorted(noted["engine"].unique()))
        seconds = noted[[f"{step}_s" for step in STEPS]].sum().sum()
        counts = noted[["n_pages", "n_windows"]].sum()
        rows.append((engines, len(both), *counts, n_equal, seconds, noted["peak_mib"].max()))
    return _kept(home, ENGINES, rows, ENGINE_COLUMNS)


def noted_costs(shards: Shards) -> pd.DataFrame:
    """What was noted of each filing that is indexed, by name."""
    return pd.DataFrame([shards.record(name) | {"source": name} for name in shards.names()])


def _parts(counts: pd.DataFrame) -> Iterator[tuple[int, pd.DataFrame]]:
    """The first filings (n_pages) with so many pages, of each of SIZES that there are, and all: pages and filings."""
    total = counts["n_pages"].cumsum()
    for size in (*(size for size in SIZES if size < total.max()), total.max()):
        part = counts[: int((total < size).sum()) + 1]
        yield int(part["n_pages"].sum()), part


def _grown(make: Callable[[], object]) -> tuple[object, float, float]:
    """What is made, the seconds of a core that it took, and by how many MiB this process grew."""
    before, started = psutil.Process().memory_info().rss, time.process_time()
    made = make()
    return made, time.process_time() - started, (psutil.Process().memory_info().rss - before) / MIB


def _measured(make: Callable[[], object], search: Callable, questions: list) -> tuple[float, float, float]:
    """Of what is searched in memory: seconds to make it, memory, and seconds of a question."""
    made, seconds, memory = _grown(make)
    _, asked_s, _ = _grown(lambda: [search(made, question) for question in questions])
    return seconds, memory, asked_s / len(questions)


def _score(words: BM25, question: str) -> np.ndarray:
    return words.scores(words.tokens(question))


def _nearest(vectors: np.ndarray, one: np.ndarray) -> np.ndarray:
    return np.argpartition(-(vectors @ one), 10)[:10]
