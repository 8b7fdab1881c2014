"""The long frame of metrics (``lib.evaluation.METRIC_COLUMNS``): titles of the metrics, and what is read from it."""

from collections.abc import Sequence

import pandas as pd

from lib.metrics import METRICS
from lib.words import StudyError

METRIC_TITLES = {name: metric.title for name, metric in METRICS.items()}
HEADLINE = ("doc_recall", "page_recall", "ctx_bleu", "ctx_rouge_l")


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
