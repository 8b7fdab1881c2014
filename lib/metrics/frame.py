"""What a metric is, and the long frame of metrics (``lib.evaluation.METRIC_COLUMNS``)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from lib.words import StudyError

HEADLINE = ("doc_recall", "page_recall", "ctx_bleu", "ctx_rouge_l")


@dataclass(frozen=True)
class Metric:
    """One metric. A new one is a function and a row in the list of its module.

    The function of retrieval is ``(run, questions, k) -> Series`` by question_id, or a measure of ``ir_measures`` for
    ranked pages; of overlap ``(chunk, evidence) -> float``; of answers ``(prediction, answer, question) -> float``.
    """

    name: str  # in metrics.csv.gz
    title: str  # as tables and figures name it
    source: str  # where it is from
    function: Callable
    tolerance: float = 0.0  # how far a value may move between machines; 0 for what is a ranking only
    is_numeric: bool = False  # an answer metric that only questions with a number as answer have

    @property
    def in_words(self) -> str:
        """The title within a sentence: ``page recall``, but ``nDCG``."""
        return self.title if any(map(str.isupper, self.title[1:])) else self.title.lower()


def long_frame(values: pd.Series, metric: str, k: int | None = None) -> pd.DataFrame:
    """One value a question as rows of the metrics frame: question_id, metric, k (nullable Int64), value."""
    depths, numbers = pd.array([k] * len(values), dtype="Int64"), values.to_numpy(dtype=float)
    return pd.DataFrame({"question_id": values.index, "metric": metric, "k": depths, "value": numbers})


def at_depth(metrics: pd.DataFrame, k: int, wanted: Sequence[str] = HEADLINE) -> pd.DataFrame:
    """The rows of some metrics at one depth.

    Raises:
        StudyError: nothing was measured at this depth.
    """
    check_depth(metrics, k)
    return metrics[metrics["metric"].isin(wanted) & (metrics["k"] == k)]


def check_depth(metrics: pd.DataFrame, k: int) -> None:
    """Raise a StudyError where nothing was measured at a depth of k chunks."""
    if not (metrics["k"] == k).any():
        known = ", ".join(str(int(depth)) for depth in sorted(metrics["k"].dropna().unique()))
        what = f"choose one of {known}, or add {k} to metrics.ks in the profile"
        raise StudyError(f"nothing was measured at k = {k}: {what}")


def values_of(
    metrics: pd.DataFrame, method: str, condition: str, metric: str, k: int | None = 5
) -> pd.Series:
    """One method's values by question id, k None for metrics without a depth; empty for a method that was not run.

    Raises:
        StudyError: nothing was measured at this depth.
    """
    chosen = metrics["k"].isna() if k is None else metrics["k"] == k
    for column, value in (("method", method), ("condition", condition), ("metric", metric)):
        chosen &= metrics[column] == value
    found = metrics[chosen]
    if found.empty and k is not None:
        check_depth(metrics, k)
    return found.set_index("question_id")["value"]


def best(summary: pd.DataFrame, metric: str = "page_recall", condition: str = "standard") -> pd.Series:
    """The row of a summary at one depth with the highest mean; ties go to the first method's name.

    Raises:
        StudyError: no method was measured so.
    """
    part = summary[(summary["metric"] == metric) & (summary["condition"] == condition)]
    if part.empty:
        what = "add methods, or k to metrics.ks of the profile"
        raise StudyError(f"no method has {metric} under {condition} here: {what}")
    return part.sort_values(["mean", "method"], ascending=[False, True]).iloc[0]
