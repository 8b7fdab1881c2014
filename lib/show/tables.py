"""The frames behind the tables of retrieval: ours, with n and intervals, and what the reproduced study reports."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pandas as pd
import yaml

from lib.analysis.frontier import cost
from lib.evaluation import summarise
from lib.methods import METHODS
from lib.metrics.frame import HEADLINE, METRIC_TITLES, at_depth, best, values_of
from lib.show.display import TESTED, Column, interval, number, printed, with_interval
from lib.stats import Resampling
from lib.study import Study

__all__ = ["HEADLINE", "METRIC_TITLES", "best", "values_of"]
REPORTED = "Reported D / P / B / R"


@cache
def _reported() -> dict:
    return yaml.safe_load(Path(__file__).with_name("reported_figures.yaml").read_text())


def reported_figures(dataset: str, *path: str) -> dict:
    """What the reproduced study reports: it measured FinanceBench, so for any other dataset this is empty.

    Args:
        dataset: the dataset's name.
        path: keys of the part that is wanted, such as ``"standard", "page_scorer"``; empty where there is none.
    """
    found = _reported() if dataset == "financebench" else {}
    for key in path:
        found = found.get(key, {})
    return found


def title(method: str) -> str:
    """A method's title."""
    return METHODS[method].title


def summary_at(
    study: Study, metrics: pd.DataFrame, k: int = 5, wanted: Sequence[str] = HEADLINE
) -> pd.DataFrame:
    """Means and intervals at one depth, see :func:`lib.evaluation.summarise`."""
    settings = study.profile.significance
    return summarise(at_depth(metrics, k, wanted), study.questions, settings.n_draws, settings.seed)


def metric_cells(part: pd.DataFrame, metrics: Sequence[str] = HEADLINE, form=with_interval) -> dict[str, str]:
    """The cells of one row: title of each metric to its mean as ``form`` (of mean, low and high) prints it.

    Args:
        part: the summary of one run, a row per metric.
        metrics: which, in order.
        form: :func:`with_interval`, or :func:`mean_alone`.
    """
    rows = part.set_index("metric")[["mean", "low", "high"]]
    return {METRIC_TITLES.get(metric, metric): form(*rows.loc[metric]) for metric in metrics}


def mean_alone(mean: float, low: float, high: float) -> str:
    """A mean without its interval."""
    return number(mean)


def reported_cell(reported: dict) -> str:
    """The reported figures in the order of HEADLINE, dashes where one is not reported."""
    return " / ".join(number(reported.get(metric, float("nan"))) for metric in HEADLINE) if reported else "–"


def results_table(
    study: Study, summary: pd.DataFrame, condition: str, methods: Iterable[str]
) -> pd.DataFrame:
    """One row per method: our means with intervals, the reported figures where the dataset has any, and n."""
    known, rows = reported_figures(study.dataset.name, condition), []
    for method in methods:
        part = summary[(summary["method"] == method) & (summary["condition"] == condition)]
        row = {"Method": title(method)} | metric_cells(part)
        if known:
            row[REPORTED] = reported_cell(known.get(method, {}))
        rows.append(row | {"n": int(part["n"].iloc[0])})
    return pd.DataFrame(rows)


def conditions_table(
    summary: pd.DataFrame, methods: Iterable[str], conditions: Iterable[str]
) -> pd.DataFrame:
    """One row per method and condition: means of the headline metrics, and n."""
    parts, conditions = dict(list(summary.groupby(["method", "condition"]))), list(conditions)
    return pd.DataFrame(
        [
            {"Method": title(method), "Condition": condition}
            | metric_cells(parts[method, condition], form=mean_alone)
            | {"n": int(parts[method, condition]["n"].iloc[0])}
            for method in methods
            for condition in conditions
        ]
    )


def oracle_page_check(study: Study, summary: pd.DataFrame, methods: Iterable[str]) -> pd.DataFrame:
    """Our metrics under oracle page by method, and below them what is reported."""
    parts = dict(list(summary[summary["condition"] == "oracle-page"].groupby("method")))
    rows = [{"Source": title(method)} | metric_cells(parts[method], form=mean_alone) for method in methods]
    if known := reported_figures(study.dataset.name, "oracle-page", "best"):
        rows.append({"Source": "published"} | {METRIC_TITLES[m]: number(known[m]) for m in HEADLINE})
    return pd.DataFrame(rows)


def comparison_table(
    study: Study,
    metrics: pd.DataFrame,
    reference: str,
    others: Sequence[str],
    metric: str,
    condition: str = "standard",
) -> pd.DataFrame:
    """Each method against a reference: difference with interval, Holm's p, and whether they can be told apart."""
    first = values_of(metrics, reference, condition, metric)
    values = {name: values_of(metrics, name, condition, metric) for name in others}
    return printed(
        Resampling.of(study).compare(first, values).reset_index(),
        Column("Method", "method", title),
        Column(METRIC_TITLES[metric], "mean", number),
        interval(f"Difference from {title(reference)}", "difference", "low", "high"),
        *TESTED,
        Column("n", "n"),
    )


def cost_table(study: Study, methods: Iterable[str]) -> pd.DataFrame:
    """Seconds to index the filings and milliseconds per question, by method, from the store's own clock.

    A method that reads another's run also pays for that one. Times are those of the machine that computed the entry.
    """
    rows = []
    for name in methods:
        found = cost(study, name, stages_only=True)
        rows.append((title(name), f"{found.index_s:.0f}", f"{1000 * found.question_s:.0f}"))
    return pd.DataFrame(rows, columns=["Method", "Index (s)", "Per question (ms)"])


def pool_table(study: Study, metrics: pd.DataFrame, methods: Sequence[str], k: int) -> pd.DataFrame:
    """For each reranking method: its first stage's page recall at k, the pool's ceiling, and what reranking reached.

    ``Pool misses`` is the gold that the pool does not contain, ``Inversions`` the gold that it contains and that
    stands below the first k after reranking.
    """
    depth, rows = study.profile.rerank.n, []
    for method in methods:
        first = METHODS[method].uses[0]
        if first not in set(metrics["method"]):
            continue
        before, ceiling, reached = (
            values_of(metrics, name, "standard", "page_recall", at).mean()
            for name, at in ((first, k), (first, depth), (method, k))
        )
        numbers = (before, ceiling, reached, 1 - ceiling, ceiling - reached)
        rows.append((title(method), *map(number, numbers)))
    heads = (f"First stage @{k}", f"Pool ceiling @{depth}", f"Reranked @{k}", "Pool misses", "Inversions")
    return pd.DataFrame(rows, columns=["Method", *heads])
