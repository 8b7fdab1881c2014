"""What every row costs beside what it finds, and which rows no other one beats at both.

A row's cost is what its stages took when they were computed: seconds to index the filings, and seconds per question,
its own and those of the rows whose runs it reads. To the stored stages are added what a language model wrote for it
(each record keeps its ``seconds``) and, for a reranker, its candidates at the measured speed of the cross-encoder:
scores of pairs are cached, so a stored run may have paid for none of them. Where a stage's time was not stored, the
cost is a lower bound: it is marked so, and the row is no candidate for the frontier.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.methods import METHODS
from lib.metrics.frame import values_of
from lib.study import Study

BENCHMARKS = "benchmarks.csv"
FOR_FILINGS = ("filing_context",)
OF_QUESTIONS = (  # stages that prepare questions; all others index the filings
    "embeddings/queries",
    "embeddings/passages",
    "embeddings/page_questions",
    "page_scorer/questions",
    "sparse/queries",
)
RERANKED = "rerank"
COLUMNS = ["method", "index_s", "question_s", "index_missing", "question_missing", "quality"]


class Cost(NamedTuple):
    """What a row costs."""

    index_s: float  # to index all filings
    question_s: float  # per question
    index_missing: tuple[str, ...]  # the stages of either whose time was not stored
    question_missing: tuple[str, ...]


def chain(name: str) -> list[str]:
    """A row and all those whose runs it reads, each once."""
    found = [name]
    for used in METHODS[name].uses:
        found += [one for one in chain(used) if one not in found]
    return found


def _file(study: Study, name: str) -> Path | None:
    """A file of the study's own folder, or else of what was published."""
    places = [study.home] + ([study.published.root] if study.published else [])
    return next((place / name for place in places if (place / name).is_file()), None)


def writing_seconds(study: Study) -> dict[str, tuple[float, int]]:
    """Kind of generation to the seconds that all its texts took and their number, here or where they were published."""

    def make() -> dict[str, tuple[float, int]]:
        totals: dict[str, tuple[float, int]] = {}
        for line in path.read_text().splitlines():
            record = json.loads(line)
            seconds, n = totals.get(record["kind"], (0.0, 0))
            totals[record["kind"]] = (seconds + (record.get("seconds") or 0.0), n + 1)
        return totals

    path = _file(study, "generations.jsonl")
    return study.memo(("writing_seconds", path.stat().st_mtime), make) if path else {}


def benchmarks(study: Study) -> pd.DataFrame | None:
    """What was measured, here or as published: part, variant, value, unit; None where nothing was measured yet."""
    path = _file(study, BENCHMARKS)
    return pd.read_csv(path) if path else None


def reranking_seconds(study: Study, name: str) -> float | None:
    """Seconds per question that a reranker needs for its candidates, at the measured speed; None if unknown."""
    speeds = benchmarks(study)
    if speeds is None:
        return None
    ours = speeds[speeds["part"].eq("Reranking") & speeds["variant"].str.contains("ours")]
    options = METHODS[name].options
    return float(options.get("n", study.profile.rerank.n) / ours["value"].iloc[0])


def cost(study: Study, name: str, stages_only: bool = False) -> Cost:
    """What a row costs, by the store's own clock; with ``stages_only`` without texts and candidates."""
    index: dict[str, float | None] = {}
    query: dict[str, float | None] = {}
    n_questions, entry = len(study.questions), study.run_entry(name)
    for reference in (f"{entry.stage}/{entry.key}", *entry.asked):
        stage, record = reference.rpartition("/")[0], study.store.record(reference)
        into = query if stage in OF_QUESTIONS or stage.startswith("runs/") else index
        into[stage] = record and record["wall_s"]
    for used in chain(name) if not stages_only else ():
        row = METHODS[used]
        for kind, share in row.writes.items():
            into = index if kind in FOR_FILINGS else query
            seconds, n_texts = writing_seconds(study).get(kind, (0.0, 0))
            into[f"generations/{kind}"] = seconds * share if n_texts else None
        if RERANKED in row.settings:
            seconds = reranking_seconds(study, used)
            query[f"pairs/{used}"] = None if seconds is None else seconds * n_questions
    sides = index, query
    totals = [sum(value for value in side.values() if value is not None) for side in sides]
    missing = (tuple(stage for stage, value in side.items() if value is None) for side in sides)
    return Cost(totals[0], totals[1] / n_questions, *missing)


def costs(study: Study, metrics: pd.DataFrame, methods: Iterable[str], metric: str, k: int) -> pd.DataFrame:
    """Cost and quality of rows under the standard condition: COLUMNS."""
    rows = []
    for name in methods:
        found = cost(study, name)
        missing = ", ".join(found.index_missing), ", ".join(found.question_missing)
        quality = values_of(metrics, name, "standard", metric, k).mean()
        rows.append((name, found.index_s, found.question_s, *missing, quality))
    return pd.DataFrame(rows, columns=COLUMNS)


def on_frontier(cost_s: pd.Series | np.ndarray, quality: pd.Series | np.ndarray) -> np.ndarray:
    """Whether no other point is as cheap and as good, and better at one of the two; bool, shape (n,)."""
    price, value = np.asarray(cost_s, float), np.asarray(quality, float)
    is_as_good = (price[None] <= price[:, None]) & (value[None] >= value[:, None])
    is_better = (price[None] < price[:, None]) | (value[None] > value[:, None])
    return ~(is_as_good & is_better).any(axis=1)


def frontier_of(table: pd.DataFrame, side: str) -> pd.Series:
    """Which rows of :func:`costs` are on the frontier of ``question`` or ``index``; lower bounds are not."""
    is_known = table[f"{side}_missing"].eq("")
    found = on_frontier(table.loc[is_known, f"{side}_s"], table.loc[is_known, "quality"])
    return pd.Series(found, table.index[is_known]).reindex(table.index, fill_value=False)
