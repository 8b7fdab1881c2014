"""What is left of each method's recall as a collection grows, and what an archive of any size costs.

Measured once over more filings than the study's own, by code that stands in commit d4ceab42, and published.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from lib.stats import Resampling, columns_of, percentiles, tier
from lib.study import Study

GROWTH, STORES, COSTS, ENGINES = "growth.csv.gz", "stores.csv", "costs.csv", "engines.csv"
GROWTH_COLUMNS = "kind draw n_filings n_pages method question_id k doc_recall page_recall".split()
MIXED = "mixed"
ASKED = "make ask"  # in the place of a method: pages as the command gives them
METRICS = ("doc_recall", "page_recall")
COST_COLUMNS = "stage n_pages seconds memory_mib disk_mib asked_s".split()
ARCHIVE = "n_pages core_hours disk_gib words_gib vectors_gib question_s".split()


def recalls(study: Study, found: pd.DataFrame, keys: Sequence[str] = GROWTH_COLUMNS[:5]) -> pd.DataFrame:
    """The mean recalls by ``keys``: doc_recall, page_recall, low and high of page recall, n, and doc_low and doc_high;
    without ``draw`` among the keys, values are means of draws."""
    draws, rows = Resampling.of(study), []
    for about, part in found.groupby(list(keys), sort=False):
        values = part.groupby("question_id", sort=False)[[*METRICS]].mean()
        doc, page = (draws.interval(values[name]) for name in METRICS)
        rows.append((*about, doc.mean, *page[:4], doc.low, doc.high))
    return pd.DataFrame(rows, columns=[*keys, *METRICS, "low", "high", "n", "doc_low", "doc_high"])


def by_size(study: Study, found: pd.DataFrame) -> pd.DataFrame:
    """:func:`recalls` of filings that were added at random, by method and number of filings; ``n_pages`` is the mean of
    the draws."""
    mixed = found[found["kind"] == MIXED].astype({"n_pages": float})
    mixed["n_pages"] = mixed.groupby("n_filings")["n_pages"].transform("mean").round().astype(int)
    return recalls(study, mixed, ("method", "n_filings", "n_pages"))


class Law(NamedTuple):
    """A line through the logit of recall against log10 of the number of pages, and that of every draw of companies."""

    line: np.ndarray  # level and slope
    draws: np.ndarray  # (n_draws, 2)
    n_pages: tuple[float, float]  # the least and the most that were measured
    error: float  # the largest distance of the line from what was measured
    left_out: tuple[float, float, float]  # predicted from all sizes but the last, minus measured there; its interval

    def at(self, n_pages: float) -> tuple[float, float, float]:
        """The recall at so many pages, and its interval over companies."""
        place = np.array([1.0, np.log10(n_pages)])
        return float(expit(self.line @ place)), *percentiles(expit(self.draws @ place))


def law(found: pd.DataFrame, draws: Resampling) -> Law:
    """Fit the :class:`Law` of one method.

    Args:
        found: rows of GROWTH_COLUMNS of one method, two sizes (``n_filings``) at least.
        draws: of whole companies; a fifth of them is used, as a line is fitted to each.

    Recall is kept half a question away from 0 and 1, where the logit is infinite.
    """
    draws = replace(draws, n_draws=max(1, draws.n_draws // 5), seed=0)
    values = found.pivot_table(index="question_id", columns="n_filings", values="page_recall")
    pages, least = found.groupby("n_filings")["n_pages"].mean()[values.columns].to_numpy(), 0.5 / len(values)
    means, design = np.vstack([values.mean(), draws.means(values)]), np.stack([pages**0, np.log10(pages)], axis=1)
    clipped = means.clip(least, 1 - least)
    logits = np.log(clipped / (1 - clipped)).T
    lines, without_last = (
        np.linalg.lstsq(design[:n], logits[:n], rcond=None)[0].T for n in (len(pages), len(pages) - 1)
    )
    ahead = expit(without_last @ design[-1]) - clipped[:, -1]
    error = float(np.abs(expit(lines[0] @ design.T) - means[0]).max())
    return Law(lines[0], lines[1:], (pages[0], pages[-1]), error, (ahead[0], *percentiles(ahead[1:])))


def laws(found: pd.DataFrame, draws: Resampling) -> dict[str, Law]:
    """The :func:`law` of each method that was measured at three sizes or more of filings added at random."""
    mixed = found[found["kind"] == MIXED].groupby("method", sort=False)
    return {str(method): law(part, draws) for method, part in mixed if part["n_filings"].nunique() > 2}


def law_table(fitted: Mapping[str, Law], sizes: Sequence[int]) -> pd.DataFrame:
    """A row per law: method, slope per tenfold, error, left_out and recall ``at_<size>``, both with their intervals."""
    rows = []
    for method, one in fitted.items():
        row = {"method": method, "slope": one.line[1], "error": one.error} | columns_of("left_out", one.left_out)
        for size in sizes:
            row |= columns_of(f"at_{size}", one.at(size))
        rows.append(row)
    ends = [columns_of(name, range(3)) for name in ("left_out", *(f"at_{size}" for size in sizes))]
    return pd.DataFrame(rows, columns=["method", "slope", "error", *(name for end in ends for name in end)])


def crossing(one: Law, other: Law) -> float:
    """The number of pages at which two lines give the same recall; NaN of parallel lines."""
    level, slope = other.line - one.line
    return float(10 ** (-level / slope)) if slope else float("nan")


def against(fitted: Mapping[str, Law], leader: str, n_pages: int) -> pd.DataFrame:
    """The leader less each other method at so many pages, the best other first; no rows where the leader has no line.

    Returns:
        recall, leader_recall, difference with its interval, verdict by the interval alone and crossing to one digit,
        indexed by ``method``.
    """
    place, rows = np.array([1.0, np.log10(n_pages)]), []
    others = {name: one for name, one in fitted.items() if name != leader} if leader in fitted else {}
    for one in others.values():
        low, high = percentiles(expit(fitted[leader].draws @ place) - expit(one.draws @ place))
        recall, leading = one.at(n_pages)[0], fitted[leader].at(n_pages)[0]
        digit = float(f"{crossing(fitted[leader], one):.1g}")
        rows.append((recall, leading, leading - recall, low, high, tier(low, high, 1.0), digit))
    columns = ["recall", "leader_recall", *columns_of("difference", range(3)), "verdict", "crossing"]
    found = pd.DataFrame(rows, pd.Index(others, name="method", dtype=object), columns)
    return found.sort_values("recall", ascending=False, kind="stable")


def curves(fitted: Mapping[str, Law], n_pages: float) -> pd.DataFrame:
    """The lines as points of a plot up to so many pages: method, n_pages, page_recall and is_measured, which is whether
    a point is within the sizes that were measured."""
    parts = [pd.DataFrame(columns=["method"])]
    for method, one in fitted.items():
        for ends, is_measured in ((one.n_pages, True), ((one.n_pages[1], n_pages), False)):
            pages = np.geomspace(*ends, 30)
            recall = expit(one.line[0] + one.line[1] * np.log10(pages))
            about = {"method": method, "n_pages": pages, "page_recall": recall, "is_measured": is_measured}
            parts.append(pd.DataFrame(about))
    return pd.concat(parts[1:] or parts, ignore_index=True)


def archive_costs(costs: pd.DataFrame, sizes: Sequence[int]) -> pd.DataFrame:
    """What archives of some sizes take, from what a page took in the largest one that was measured: ARCHIVE.

    Args:
        costs: a row per stage and size, COST_COLUMNS; the stages with ``asked_s`` (words and vectors) are searched, in
            memory, and all others index.
    """
    if costs.empty:
        return pd.DataFrame(columns=ARCHIVE)
    last = costs.sort_values("n_pages").groupby("stage", sort=False).tail(1).set_index("stage")
    per_page = last[["seconds", "memory_mib", "disk_mib", "asked_s"]].div(last["n_pages"], axis=0)
    indexed = per_page[per_page["asked_s"].isna()].sum()
    rows = []
    for n_pages in sizes:
        hours, disk = n_pages * indexed["seconds"] / 3600, n_pages * indexed["disk_mib"] / 1024
        gib = (n_pages * per_page.loc[name, "memory_mib"] / 1024 for name in ("words", "vectors"))
        rows.append((n_pages, hours, disk, *gib, n_pages * per_page["asked_s"].sum()))
    return pd.DataFrame(rows, columns=ARCHIVE)
