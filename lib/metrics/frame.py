"""What a metric is, and the long frame of metrics (``lib.evaluation.METRIC_COLUMNS``) with look-ups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from lib.schema import CONDITIONS, Condition, StudyError

HEADLINE = ("doc_recall", "page_recall", "ctx_bleu", "ctx_rouge_l")
NO_DEPTH = -1
#: A method and its condition, or the method alone, for the standard condition.
Run = str | tuple[str, Condition]


@dataclass(frozen=True)
class Metric:
    """One metric, higher is better. A new one is a function and a row in the list of its module; raise
    ``lib.evaluation.VERSION`` with it, so that stored metrics are measured again.

    The function of retrieval is ``(run, questions, k) -> Series`` by question_id, or a measure of ``ir_measures`` at
    ``depths``; of
    overlap ``(reference, chunk) -> float``; of answers ``(prediction, answer, question) -> float``.
    """

    name: str  # in frames of metrics and their files
    title: str  # as tables and figures name it
    source: str  # where it is from
    function: Callable
    tolerance: float = 0.0  # how far a value may move between machines; 0 for what is a ranking only
    depths: tuple[
        int, ...
    ] = ()  # of a measure over distinct pages or filings; other depths are the profile's, in chunks
    is_numeric: bool = False  # an answer metric that only questions with a number as answer have


def long_frame(values: pd.Series, metric: str, k: int | None = None) -> pd.DataFrame:
    """One value a question as rows of the metrics frame: question_id, metric, k (nullable Int64), value."""
    depths, numbers = pd.array([k] * len(values), dtype="Int64"), values.to_numpy(dtype=float)
    return pd.DataFrame({"question_id": values.index, "metric": metric, "k": depths, "value": numbers})


class Metrics:
    """A frame of metrics, grouped by run, metric and depth at the first look-up.

    ``metrics[run, metric, k]`` is the values by question_id, in the order of the frame (k is None without a depth),
    empty for a run that was not measured; ``in`` tells whether a run, or a metric of it, was measured. The frame
    (METRIC_COLUMNS, maybe more, maybe categorical) must not change.
    """

    def __init__(self, frame: pd.DataFrame):
        self.frame = frame

    @cached_property
    def _rows(self) -> dict[tuple[str, str, str, int], np.ndarray]:
        keys = ["method", "condition", "metric", pd.to_numeric(self.frame["k"]).fillna(NO_DEPTH)]
        return self.frame.groupby(keys, observed=True, sort=False).indices

    @cached_property
    def _ids(self) -> pd.Index:
        return pd.Index(self.frame["question_id"].to_numpy(), name="question_id")  # never categorical

    @cached_property
    def runs(self) -> tuple[tuple[str, Condition], ...]:
        """The runs that were measured, method and condition, in the order of the methods."""
        return tuple(dict.fromkeys(place[:2] for place in self._rows))

    def __getitem__(self, key: tuple[Run, str, int | None]) -> pd.Series:
        rows = self._rows.get(_place(*key), np.array([], int))
        return pd.Series(self.frame["value"].to_numpy()[rows], self._ids[rows], name="value")

    def __contains__(self, key: Run | tuple[Run, str, int | None]) -> bool:
        is_run = isinstance(key, str) or len(key) == 2
        return _pair(key) in self.runs if is_run else _place(*key) in self._rows

    def __add__(self, other: "Metrics") -> "Metrics":
        return Metrics(pd.concat([self.frame, other.frame], ignore_index=True))

    def means(self, metric: str, k: int | None) -> pd.Series:
        """The mean of a metric under the standard condition, by method."""
        methods = dict.fromkeys(method for method, *place in self._rows if place == [*_place("", metric, k)[1:]])
        return pd.Series({method: self[method, metric, k].mean() for method in methods}, dtype=float)

    def at_depth(self, k: int, wanted: Sequence[str] = HEADLINE) -> pd.DataFrame:
        """The rows of some metrics at one depth."""
        return self.frame[self.frame["metric"].isin(wanted) & (self.frame["k"] == k)]


def _pair(run: Run) -> tuple[str, Condition]:
    return (run, CONDITIONS[0]) if isinstance(run, str) else (run[0], run[1])


def _place(run: Run, metric: str, k: int | None) -> tuple[str, Condition, str, int]:
    return (*_pair(run), metric, NO_DEPTH if k is None else k)


def best(means: pd.Series) -> str:
    """The name with the highest mean; ties go to the first name. A StudyError of no mean."""
    if means.empty:
        raise StudyError("no method to choose the best from is measured here; add methods, or k to metrics.ks")
    return means.sort_index().round(12).idxmax()
