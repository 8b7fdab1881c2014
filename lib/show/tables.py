"""What chapters and pages print of methods: their titles, their means, and what the main study reports of them."""

from collections.abc import Sequence

import pandas as pd

from lib.analysis.facts import MAIN, Rows, facts
from lib.methods import METHODS
from lib.metrics import METRIC_TITLES
from lib.metrics.frame import HEADLINE
from lib.schema import CONDITIONS, IN_WORDS, Condition
from lib.show.display import with_interval


def reported_rows(dataset: str, table: str, source: str = MAIN) -> Rows:
    """The rows of one reported table by the paper's names; empty for datasets other than FinanceBench."""
    return facts(source).table(table) if dataset == "financebench" else {}


def reported_runs(dataset: str) -> dict[tuple[str, Condition], dict]:
    """What the main study reports of the runs that are ours too, by method and condition: its Table 3 and, for dense
    retrieval under the oracles, Table 2; empty as :func:`reported_rows` is."""
    known = facts().by_method("Table 3") if dataset == "financebench" else {}
    runs = {(method, "standard"): cells for method, cells in known.items()}
    return runs | {("dense", oracle): row for oracle, row in reported_rows(dataset, "Table 2").items()}


def reported_values(dataset: str, metric: str) -> dict[str, float]:
    """What the main study reports of a metric over all filings, by method; empty as :func:`reported_rows` is."""
    return {name: row[metric] for (name, condition), row in reported_runs(dataset).items() if condition == "standard"}


def title(method: str) -> str:
    """A method's title; a name that the method table lacks, such as a reader's own, stays as it is."""
    return METHODS[method].title if method in METHODS else method


def short_title(method: str) -> str:
    """A method's title for a figure."""
    return title(method).replace(" (as published)", "")


def metric_cells(part: pd.DataFrame) -> dict[str, str]:
    """Title of each headline metric to its mean with interval, of the summary of one run."""
    rows = part.set_index("metric")[["mean", "low", "high"]]
    known = [metric for metric in HEADLINE if metric in rows.index]
    return {METRIC_TITLES[metric]: with_interval(*rows.loc[metric]) for metric in known}


#: Where the versions of the reproduced study report answers: table and source.
VERSIONS = {"English": ("Table 5", "kobeissi2026_en"), "French": ("Table 6", "kobeissi2026_fr")}


def beside(frame: pd.DataFrame, index: str | list[str], columns: str) -> pd.DataFrame:
    """The intervals of a long frame (mean, low, high) beside each other: for each value x of ``columns`` x, x_low and
    x_high."""
    wide = frame.pivot(index=index, columns=columns, values=["mean", "low", "high"])
    return wide.set_axis([str(name) if end == "mean" else f"{name}_{end}" for end, name in wide.columns], axis=1)


def reported_versions(dataset: str) -> pd.DataFrame:
    """What VERSIONS report of answers by context: context, and a column for each metric and version, such as
    ``ROUGE-L, French``; no rows of other datasets than FinanceBench."""
    parts = []
    for name, (table, source) in VERSIONS.items():
        part = pd.DataFrame(reported_rows(dataset, table, source)).T
        parts.append(part.rename(columns=lambda metric, name=name: f"{METRIC_TITLES[metric]}, {name}"))
    found = pd.concat(parts, axis=1).rename_axis("context").reset_index()
    return found.assign(context=[IN_WORDS.get(name) or title(name) for name in found["context"]])


def reported_means(dataset: str, method: str, metrics: Sequence[str]) -> pd.DataFrame:
    """What the main study reports of a method by condition: CONDITIONS × titles of those metrics that it reports."""
    known = reported_runs(dataset)
    found = pd.DataFrame({condition: known.get((method, condition), {}) for condition in CONDITIONS}).T
    found = found.reindex(columns=metrics).dropna(axis=1, how="all")
    return found.rename(columns=METRIC_TITLES).add_prefix("Reported: ").rename_axis("condition")
