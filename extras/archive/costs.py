"""What each stage of an archive takes as it grows: seconds of a core, memory, disk.

Indexing is what the index noted of every filing while it was made (:class:`extras.archive.shards.Indexer`), added up
filing by filing. What holds all pages at once, BM25's statistics and the vectors of exact search, is
measured at each size in a process of its own.
"""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import psutil

from extras.archive.compare import alone
from extras.archive.growth import NO_INDEX, Index
from extras.archive.shards import COSTS as NOTED
from extras.archive.shards import STEPS, Shards
from lib.analysis.growth import COST_COLUMNS, COSTS, ENGINE_COLUMNS, ENGINES
from lib.files import write_atomically
from lib.retrievers.bm25 import BM25
from lib.study import Study
from lib.words import StudyError

SIZES = (1000, 3000, 10_000, 30_000)
MIB = 2**20
N_QUESTIONS = 20


def write_costs(home: Study, larger: Study, index: Index | None) -> pd.DataFrame:
    """COST_COLUMNS of every stage at SIZES and over all there is, kept in the study's folder.

    Args:
        home: whose table it is.
        larger: the collection whose words are counted.
        index: says what indexing took, and gives the vectors.

    Raises:
        StudyError: no collection was indexed.
    """
    if index is None:
        raise StudyError(NO_INDEX)
    rows, noted = [], noted_costs(index.shards)
    for part in _parts(noted, noted["n_pages"]):
        names, pages = part["source"].tolist(), int(part["n_pages"].sum())
        disk = {"write": _size(index.shards, "pages", names), "embed": _size(index.shards, "windows", names)}
        for step in STEPS:
            seconds, memory = part[f"{step}_s"].sum(), part["peak_mib"].max()
            rows.append((step, pages, seconds, memory, disk.get(step, 0.0), np.nan))
    questions = larger.questions["question"].tolist()[:N_QUESTIONS]
    counts = larger.pages.groupby("doc_name", sort=False).size().rename("n_pages").reset_index()
    for part in _parts(counts, counts["n_pages"]):
        texts = larger.pages["text"][larger.pages["doc_name"].isin(part["doc_name"])].tolist()
        rows.append(_alone("words", int(part["n_pages"].sum()), _words, texts, questions))
    known = counts[counts["doc_name"].isin(index.names)]
    for part in _parts(known, known["n_pages"]):
        vectors = index.of(larger.chunks[larger.chunks["doc_name"].isin(part["doc_name"])])[1]
        rows.append(_alone("vectors", int(part["n_pages"].sum()), _vectors, vectors, N_QUESTIONS))
    found = pd.DataFrame(rows, columns=COST_COLUMNS)
    write_atomically(Path(home.home) / COSTS, found.to_csv(index=False))
    return found


def write_engines(home: Study, first: Shards, second: Shards) -> pd.DataFrame:
    """ENGINE_COLUMNS of two indexes of the same filings, compared byte by byte, kept in the study's folder.

    Raises:
        StudyError: they have no filing in common, or were made by different plans.
    """
    both = sorted({*first.names()} & {*second.names()})
    if not both or first.plan != second.plan:
        raise StudyError(f"{second.folder} is not another index of the filings of {first.folder}")
    n_equal = sum(all(_equal(first, second, kind, name) for kind in ("pages", "windows")) for name in both)
    rows = []
    for shards in (first, second):
        noted = noted_costs(shards)
        noted = noted[noted["source"].isin(both)]
        engines = "+".join(sorted(noted["engine"].unique()))
        counts = noted[["n_pages", "n_windows"]].sum()
        seconds = noted[[f"{step}_s" for step in STEPS]].sum().sum()
        rows.append((engines, len(both), *counts, n_equal, seconds, noted["peak_mib"].max()))
    found = pd.DataFrame(rows, columns=ENGINE_COLUMNS)
    write_atomically(Path(home.home) / ENGINES, found.to_csv(index=False))
    return found


def _equal(first: Shards, second: Shards, kind: str, name: str) -> bool:
    """Whether a filing's shards of a kind have the same bytes."""
    one, other = (shards.folder / kind / f"{name}.parquet" for shards in (first, second))
    return one.read_bytes() == other.read_bytes()


def _parts(frame: pd.DataFrame, n_pages: pd.Series) -> Iterator[pd.DataFrame]:
    """The first filings with so many pages, of each of SIZES that there are, and all."""
    total = n_pages.cumsum()
    for size in (*(size for size in SIZES if size < total.max()), total.max()):
        yield frame[: int((total < size).sum()) + 1]


def _alone(stage: str, pages: int, measure: Callable, *given: object) -> tuple:
    """A row of COST_COLUMNS, measured in a process of its own."""
    with alone() as run:
        made_s, asked_s, memory = run(measure, *given)
    return stage, pages, made_s, memory, 0.0, asked_s


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


def _words(texts: list[str], questions: list[str]) -> tuple[float, float, float]:
    """BM25's statistics of all pages: seconds to make them and to score a question, and memory."""
    words, seconds, memory = _grown(lambda: BM25.of_texts(texts, 1.5, 0.75))
    _, asked_s, _ = _grown(lambda: [words.scores(words.tokens(question)) for question in questions])
    return seconds, asked_s / len(questions), memory


def _vectors(given: np.ndarray, n_questions: int) -> tuple[float, float, float]:
    """All vectors in memory: seconds to copy them and to compare a question with all, and memory."""
    vectors, seconds, memory = _grown(given.copy)
    asked = vectors[:n_questions]
    _, asked_s, _ = _grown(lambda: [np.argpartition(-(vectors @ one), 10)[:10] for one in asked])
    return seconds, asked_s / n_questions, memory
