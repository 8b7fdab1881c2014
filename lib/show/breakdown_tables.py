"""Tables of the chapters on breakdowns, failures, and what retrieval does for answers."""

from collections.abc import Mapping, Sequence

import pandas as pd

from lib.analysis.breakdowns import MARK, Seen
from lib.analysis.failures import OF_PAGES
from lib.analysis.retrieval_and_answers import spearman
from lib.metrics import METRICS
from lib.show.display import TESTED, Column, escape, interval, number, printed, with_interval


def spread(frame: pd.DataFrame, name: str, metric: str) -> str:
    """In words, between which groups a run's mean varies; small groups do not count."""
    titled = METRICS[metric].in_words
    part = frame[(frame["entry"] == name) & (frame["metric"] == metric) & ~frame["is_small"]]
    if len(part) < 2:
        return f"{titled} is not compared, as fewer than two groups are large enough"
    means = part.set_index("group")["mean"]
    return f"{titled} goes from {means.min():.2f} ({means.idxmin()}) to {means.max():.2f} ({means.idxmax()})"


def group_table(
    frame: pd.DataFrame, head: str, seen: Sequence[Seen], known: dict | None = None
) -> pd.DataFrame:
    """One row per group and run: n, companies, each metric with its interval, and the reported figures if any.

    Args:
        frame: of :func:`lib.analysis.breakdowns.by_group`; small groups are marked.
        head: what the groups are.
        seen: the runs.
        known: run name to group to reported values, in the order of the metrics.
    """
    titles, rows = {run.name: run.title for run in seen}, []
    for (group, name), part in frame.groupby(["group", "entry"], sort=False):
        first = part.iloc[0]
        row = {head: f"{group}{MARK if first['is_small'] else ''}", "Run": titles[name]}
        row |= {"n": first["n"], "Companies": first["n_companies"]}
        row |= {METRICS[r.metric].title: with_interval(r.mean, r.low, r.high) for r in part.itertuples()}
        if known is not None:
            values = known.get(name, {}).get(group)
            row["Reported"] = " / ".join(f"{value:.2f}" for value in values) if values else "–"
        rows.append(row)
    return pd.DataFrame(rows)


def differences_table(frame: pd.DataFrame, head: str, first: Seen, second: Seen) -> pd.DataFrame:
    """The differences of groups as they are printed."""
    difference = interval(f"{second.title} − {first.title}", "difference", "low", "high")
    return printed(frame, Column(head, "group"), Column("n", "n"), difference, *TESTED)


def failed_table(failed: pd.DataFrame) -> pd.DataFrame:
    """:func:`lib.analysis.failures.failed_questions` as it is printed."""

    def percent(share: float) -> str:
        return number(100 * share, 0)

    return printed(
        failed,
        Column("Kind", "kind"),
        Column("Rule", "rule"),
        Column("First kind that holds", "primary"),
        Column("Of failures (%)", "share_failed", percent),
        Column("Of found (%)", "share_found", percent),
        Column("n", "n_failed"),
    )


def caption(miss, question: str) -> str:
    """The caption of a missed page's picture: the question, the kind of failure and its rule."""
    return f"{escape(miss.question_id)}: {escape(question)} *{miss.kind}*: {OF_PAGES[miss.kind].says}."


def split_table(split: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Answers by whether the page was there: one row per context, page there and page missing side by side."""
    rows = []
    for name, part in split.groupby("context", sort=False):
        row = {"Context": titles.get(name, "all of them")}
        for is_there, head in ((True, "page there"), (False, "page missing")):
            found = part[part["is_there"] == is_there]
            shown = [
                with_interval(r.mean, r.low, r.high) + (MARK if r.is_small else "")
                for r in found.itertuples()
            ]
            row[head.capitalize()] = shown[0] if shown else "–"
            row[f"n ({head})"] = int(found["n"].sum())
        rows.append(row)
    return pd.DataFrame(rows)


def correlation(mean: float, low: float, high: float) -> str:
    """A correlation with its interval; a dash where one of the two never varies."""
    return "–" if pd.isna(mean) else with_interval(mean, low, high)


def correlations_table(found: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """The correlations of retrieval with answers as they are printed."""
    return printed(
        found,
        Column("Metric of the answers", "metric", titles.get),
        Column("Spearman's ρ with page recall", ("mean", "low", "high"), correlation),
        Column("n (question, context)", "n"),
    )


def rho(table: pd.DataFrame, metric: str) -> str:
    """Spearman's correlation of page recall with a metric over a few contexts, in print; a dash where none varies."""
    return number(spearman(table, metric))
