"""Recall by kind of question and filing, with n and intervals that a small group cannot fool.

A group is small when it has fewer than MIN_QUESTIONS questions or MIN_COMPANIES companies: it is shown, marked, and
never ranked. A bootstrap over few companies is too narrow (over one it has no width), so a small group's interval
also spans Wilson's score interval (1927) over its questions, which is conservative for any values from 0 to 1.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm

from lib.methods import TRAINED
from lib.show.display import with_interval
from lib.show.tables import METRIC_TITLES, title, values_of
from lib.stats import LEVEL, Interval, clustered_bootstrap, compare, holm
from lib.words import Condition

MIN_QUESTIONS = 10
MIN_COMPANIES = 5
MARK = "°"
COLUMNS = ["group", "entry", "metric", "mean", "low", "high", "n", "n_companies", "is_small"]


class Seen(NamedTuple):
    """A run that a breakdown looks at, and its name among the published figures."""

    name: str
    method: str
    condition: Condition = "standard"

    @property
    def title(self) -> str:
        """The method's title, and the condition where it is an oracle."""
        return (
            title(self.method) if self.condition == "standard" else f"{title(self.method)}, {self.condition}"
        )


def seen_runs(best_baseline: str, methods: Sequence[str], oracle: str = "dense") -> list[Seen]:
    """The runs that the breakdowns look at: best baseline, TRAINED where they are, oracle document."""
    seen = [Seen("best_baseline", best_baseline)]
    seen += [Seen(name, name) for name in TRAINED if name in methods]
    return [*seen, Seen("oracle_document", oracle if oracle in methods else best_baseline, "oracle-document")]


def group_interval(
    values: pd.Series, companies: pd.Series, n_draws: int, seed: int, widen_equal: bool = False
) -> tuple[Interval, bool]:
    """The mean of a group's values (from 0 to 1) with its interval, and whether the group is small.

    With ``widen_equal`` the interval is also widened where all values are equal, as the bootstrap then has no width.
    """
    found = clustered_bootstrap(values, companies.reindex(values.index), n_draws, seed)
    is_small = found.n < MIN_QUESTIONS or found.n_clusters < MIN_COMPANIES
    if not is_small and not (widen_equal and found.low == found.high):
        return found, False
    low, high = wilson(found.mean, found.n)
    return found._replace(low=min(low, found.low), high=max(high, found.high)), is_small


def wilson(mean: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval of a share; the mean of values from 0 to 1 varies no more than a share does."""
    z = norm.ppf((1 + level) / 2)
    middle = (mean + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(mean * (1 - mean) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def by_group(
    study,
    metrics: pd.DataFrame,
    label: pd.Series,
    seen: Iterable[Seen],
    k: int,
    wanted: Sequence[str] = ("doc_recall", "page_recall"),
) -> pd.DataFrame:
    """Means by group.

    Args:
        study: gives companies and the bootstrap's settings.
        metrics: METRIC_COLUMNS.
        label: each question's group, indexed by question_id; ordered categories keep their order, other groups come
            the largest first.
        seen: the runs to look at.
        k: depth in chunks.
        wanted: metrics.

    Returns:
        COLUMNS.
    """
    settings = study.profile.significance
    companies = study.questions.set_index("question_id")["company"]
    rows = []
    for group in _groups(label):
        members = label.index[label == group]
        for run in seen:
            for metric in wanted:
                values = values_of(metrics, run.method, run.condition, metric, k).reindex(members)
                found, is_small = group_interval(values, companies, settings.n_draws, settings.seed)
                rows.append((group, run.name, metric, *found, is_small))
    return pd.DataFrame(rows, columns=COLUMNS)


def _groups(label: pd.Series) -> list[str]:
    is_ordered = isinstance(label.dtype, pd.CategoricalDtype)
    return list(label.cat.categories if is_ordered else label.value_counts(sort=True).index)


def spread(frame: pd.DataFrame, name: str, metric: str) -> str:
    """In words, between which groups a run's mean varies; small groups do not count."""
    titled = METRIC_TITLES[metric].lower()
    part = frame[(frame["entry"] == name) & (frame["metric"] == metric) & ~frame["is_small"]]
    if len(part) < 2:
        return f"{titled} is not compared, as fewer than two groups are large enough"
    means = part.set_index("group")["mean"]
    return f"{titled} goes from {means.min():.2f} ({means.idxmin()}) to {means.max():.2f} ({means.idxmax()})"


def group_table(
    frame: pd.DataFrame, head: str, seen: Sequence[Seen], known: dict | None = None
) -> pd.DataFrame:
    """One row a group and run: n, companies, each metric with its interval, and the published figures if any.

    Args:
        frame: of :func:`by_group`; small groups are marked.
        head: what the groups are.
        seen: the runs.
        known: run name to group to published values, in the order of the metrics.
    """
    titles, rows = {run.name: run.title for run in seen}, []
    for (group, name), part in frame.groupby(["group", "entry"], sort=False):
        first = part.iloc[0]
        row = {head: f"{group}{MARK if first['is_small'] else ''}", "Run": titles[name]}
        row |= {"n": first["n"], "Companies": first["n_companies"]}
        row |= {METRIC_TITLES[r.metric]: with_interval(r.mean, r.low, r.high) for r in part.itertuples()}
        if known is not None:
            values = known.get(name, {}).get(group)
            row["Published"] = " / ".join(f"{value:.2f}" for value in values) if values else "–"
        rows.append(row)
    return pd.DataFrame(rows)


def differences(
    study,
    metrics: pd.DataFrame,
    label: pd.Series,
    first: Seen,
    second: Seen,
    k: int,
    metric: str = "page_recall",
) -> pd.DataFrame:
    """By group, ``second`` minus ``first``: paired difference, interval, p corrected for the number of groups.

    Small groups are left out: they are shown elsewhere, and not compared.

    Returns:
        group, n, difference, low, high, p_holm, distinguishable.
    """
    settings = study.profile.significance
    companies = study.questions.set_index("question_id")["company"]
    parts = []
    for group in _groups(label):
        members = label.index[label == group]
        if len(members) < MIN_QUESTIONS or companies[members].nunique() < MIN_COMPANIES:
            continue
        a, b = (
            values_of(metrics, s.method, s.condition, metric, k).reindex(members) for s in (first, second)
        )
        parts.append(compare(a, {group: b}, companies[members], settings.n_draws, settings.seed))
    if not parts:
        return pd.DataFrame(columns=["group", "n", "difference", "low", "high", "p_holm", "distinguishable"])
    table = pd.concat(parts).rename_axis("group").reset_index()
    table["p_holm"] = holm(table["p"].astype(float))
    table["distinguishable"] = table["p_holm"] < round(1 - LEVEL, 12)
    return table[["group", "n", "difference", "low", "high", "p_holm", "distinguishable"]]


def differences_table(frame: pd.DataFrame, head: str, first: Seen, second: Seen) -> pd.DataFrame:
    """The differences as they are printed."""
    return pd.DataFrame(
        {
            head: frame["group"],
            "n": frame["n"],
            f"{second.title} − {first.title}": [
                with_interval(r.difference, r.low, r.high) for r in frame.itertuples()
            ],
            "p (Holm)": frame["p_holm"].map(lambda p: f"{p:.3f}"),
            "Told apart": frame["distinguishable"].map({True: "yes", False: "no"}),
        }
    )
