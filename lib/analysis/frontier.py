"""What every row costs beside what it finds, and which rows no other one beats at both.

Costs are measured apart from the runs, all rows alike (``python -m lib time``): warm, one question at a time, the same
questions for every row. Rows are compared by the median of their seconds per question.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from lib.metrics.frame import Metrics
from lib.study import Study
from lib.typed import read_csv

TIMES = "times.csv"
#: Medians and quartiles of seconds per question, mean tokens of a language model and pairs of a cross-encoder per
#: question, and seconds to index all filings (NaN where a stage was not timed).
TIME_COLUMNS = (
    "method n_questions question_s low_s high_s tokens_written tokens_read pairs_scored index_s machine"
).split()


def known_file(study: Study, name: str) -> Path | None:
    """A file of the study's own folder, or else of what was published; None where there is none."""
    path, published = study.home / name, study.published
    if not path.is_file() and published and name in published.manifest["files"]:
        path = published.file(name)
    return path if path.is_file() else None


def known_table(study: Study, name: str) -> pd.DataFrame | None:
    """A table of :func:`known_file`; None where there is none."""
    return read_csv(path) if (path := known_file(study, name)) else None


def costs(study: Study, metrics: Metrics, methods: Iterable[str], metric: str, k: int) -> pd.DataFrame:
    """Measured cost, and quality under the standard condition, of those rows that were timed.

    Columns are TIME_COLUMNS, ``quality``, and whether a row is on the frontier of seconds per question (``is_best``).
    There are no rows where nothing was timed.
    """
    known = known_table(study, TIMES)
    known = pd.DataFrame(columns=TIME_COLUMNS) if known is None else known
    table = known[known["method"].isin(list(methods))].reset_index(drop=True)
    table["quality"] = np.array([metrics[name, metric, k].mean() for name in table["method"]], float)
    return table.assign(is_best=on_frontier(table["question_s"], table["quality"]))


def on_frontier(cost: np.ndarray, quality: np.ndarray) -> np.ndarray:
    """Whether no other point is better at cost or quality and not worse at the other; bool, shape (n,). A point without
    a cost (NaN) is on no frontier."""
    cost, quality = (np.asarray(values, float) for values in (cost, quality))
    saved, gain = cost[:, None] - cost[None], quality[None] - quality[:, None]  # by the other
    is_beaten = (saved >= 0) & (gain >= 0) & ((saved > 0) | (gain > 0))
    return ~is_beaten.any(axis=1) & np.isfinite(cost)
