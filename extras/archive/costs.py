"""What each stage of an archive takes as it grows: seconds of a core, memory, disk.

Indexing is what the index noted of every filing while it was made (:class:`extras.archive.shards.Indexer`), added up
filing by filing. What holds all pages at once, BM25's statistics and the vectors of exact search, is
measured at each size in a process of its own.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import psutil

from extras.archive.compare import alone
from extras.archive.growth import Index
from extras.archive.shards import COSTS as NOTED
from extras.archive.shards import STEPS, Shards, vectors_of
from lib.analysis.growth import COST_COLUMNS, COSTS
from lib.files import write_atomically
from lib.retrievers.bm25 import BM25
from lib.study import Study
from lib.words import StudyError

SIZES = (1000, 3000, 10_000, 30_000)
MIB = 2**20
N_QUESTIONS = 20


def write_costs(home: Study, larger: Study, index: Index | None) -> pd.DataFrame:
    """COST_COLUMNS of every stage at SIZES and over all filings that are indexed, kept in the study's folder.

    Raises:
        StudyError: no collection was indexed.
    """
    if index is None:
        raise StudyError("costs are those of an index: make index DATASET=path, then --larger path")
    shards, questions = index.shards, larger.questions["question"].tolist()[:N_QUESTIONS]
    noted = noted_costs(shards)
    total = int(noted["n_pages"].sum())
    rows = []
    for n_pages in (*(size for size in SIZES if size < total), total):
        part = noted[: int((noted["n_pages"].cumsum() < n_pages).sum()) + 1]
        names, pages = part["source"].tolist(), int(part["n_pages"].sum())
        disk = {"write": _size(shards, "pages", names), "embed": _size(shards, "windows", names)}
        for step in STEPS:
            seconds, memory = part[f"{step}_s"].sum(), part["peak_mib"].max()
            rows.append((step, pages, seconds, memory, disk.get(step, 0.0), np.nan))
        for stage, measure in (("words", _words), ("vectors", _vectors)):
            with alone() as run:
                made_s, asked_s, memory = run(measure, shards, names, questions)
            rows.append((stage, pages, made_s, memory, 0.0, asked_s))
    found = pd.DataFrame(rows, columns=COST_COLUMNS)
    write_atomically(Path(home.home) / COSTS, found.to_csv(index=False))
    return found


def noted_costs(shards: Shards) -> pd.DataFrame:
    """What was noted of each filing that is indexed, in the order of indexing; of one that was made twice, the last."""
    lines = (shards.folder / NOTED).read_text().splitlines()
    noted = pd.DataFrame(map(json.loads, lines)).drop_duplicates("source", keep="last")
    return noted[noted["source"].isin(shards.names())].reset_index(drop=True)


def _size(shards: Shards, kind: str, names: list[str]) -> float:
    return sum((shards.folder / kind / f"{name}.parquet").stat().st_size for name in names) / MIB


def _grown(make: Callable[[], object]) -> tuple[object, float, float]:
    """What is made, the seconds of a core that it took, and by how many MiB this process grew."""
    before, started = psutil.Process().memory_info().rss, time.process_time()
    made = make()
    return made, time.process_time() - started, (psutil.Process().memory_info().rss - before) / MIB


def _words(shards: Shards, names: list[str], questions: list[str]) -> tuple[float, float, float]:
    """BM25's statistics of all pages: seconds to make them and to score a question, and memory."""
    texts = shards.pages(names)["text"]
    words, seconds, memory = _grown(lambda: BM25.of_texts(texts, 1.5, 0.75))
    _, asked_s, _ = _grown(lambda: [words.scores(words.tokens(question)) for question in questions])
    return seconds, asked_s / len(questions), memory


def _vectors(shards: Shards, names: list[str], questions: list[str]) -> tuple[float, float, float]:
    """All vectors in memory: seconds to read them and to compare a question with all, and memory."""

    def read() -> np.ndarray:
        return np.concatenate([vectors_of(shards.table(name, ["vector"])) for name in names])

    vectors, seconds, memory = _grown(read)
    asked = vectors[: len(questions)]
    _, asked_s, _ = _grown(lambda: [np.argpartition(-(vectors @ one), 10)[:10] for one in asked])
    return seconds, asked_s / len(questions), memory
