"""What a metric is, and the long frame of metrics (``lib.evaluation.METRIC_COLUMNS``)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from lib.words import StudyError

HEADLINE = ("doc_recall", "page_recall", "ctx_bleu", "ctx_rouge_l")


@dataclass(frozen=True)
class Metric:
    """One metric. A new one is a function and a row in the list of its module.

    Attributes:
        name: in metrics.csv.gz.
        title: as tables and figures name it.
        source: where it is from.
        function: retrieval: ``(run, questions, k) -> Series`` by question_id; overlap: ``(chunk, evidence) -> float``;
            answers: ``(prediction, answer, question) -> float``; a measure of ``ir_measures`` for ranked pages.
        tolerance: how far a value may move between machines; 0 for what is a ranking only.
        is_numeric: an answer metric that only questions with a number as answer have.
    """

    name: str
    title: str
    source: str
    function: Callable
    tolerance: float = 0.0
    is_numeric: bool = False

    @property
    def in_words(self) -> str:
        """The title within a sentence: ``page recall``, but ``nDCG``."""
        return self.title if any(map(str.isupper, self.title[1:])) else self.title.lower()


def long_frame(values: pd.Series, metric: str, k: int | None = None) -> pd.DataFrame:
    """One value a question as rows of the metrics frame: question_id, metric, k (nullable Int64), value."""
    return pd.DataFrame(
        {
            "question_id": values.index,
            "metric": metric,
            "k": pd.array([k] * len(values), dtype="Int64"),
            "value": values.to_numpy(dtype=float),
        }
    )


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
        raise StudyError(
            f"nothing was measured at k = {k}: choose one of {known}, or add {k} to metrics.ks in the profile"
        )


def values_of(
    metrics: pd.DataFrame, method: str, condition: str, metric: str, k: int | None = 5
) -> pd.Series:
    """One method's values by question id; empty for a method that was not run.

    Args:
        metrics: METRIC_COLUMNS.
        method, condition: the run.
        metric: a metric's name.
        k: depth in chunks; None for metrics without a depth.

    Raises:
        StudyError: nothing was measured at this depth.
    """
    chosen = (
        (metrics["method"] == method) & (metrics["condition"] == condition) & (metrics["metric"] == metric)
    )
    found = metrics[chosen & (metrics["k"].isna() if k is None else metrics["k"] == k)]
    if found.empty and k is not None:
        check_depth(metrics, k)
    return found.set_index("question_id")["value"]


def best(summary: pd.DataFrame, metric: str = "page_recall", condition: str = "standard") -> pd.Series:
    """The row with the highest mean; ties go to the first method's name.

    Args:
        summary: method, condition, metric and mean, at one depth.
        metric, condition: what is compared.

    Raises:
        StudyError: no method was measured so.
    """
    part = summary[(summary["metric"] == metric) & (summary["condition"] == condition)]
    if part.empty:
        raise StudyError(
            f"no method has {metric} under {condition} here: add methods, or k to metrics.ks of the profile"
        )
    return part.sort_values(["mean", "method"], ascending=[False, True]).iloc[0]
