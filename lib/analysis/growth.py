"""What is left of each method's recall as a collection grows, and what an archive of any size costs.

Measured by ``python -m lib growth``, ``stores`` and ``costs`` over more filings than the study's own, and kept as
tables of the study's folder, which are published. The law says how recall falls with pages: its logit is a straight
line in their logarithm, as where each further page has the same small chance to displace a gold page.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.analysis.frontier import known_table
from lib.stats import Interval, Resampling, cluster_draws, percentiles
from lib.study import Study

GROWTH, STORES, COSTS = "growth.csv.gz", "stores.csv", "costs.csv"
GROWTH_COLUMNS = [
    "kind",
    "draw",
    "n_filings",
    "n_pages",
    "method",
    "question_id",
    "k",
    "doc_recall",
    "page_recall",
]
#: Of each store and filter: share of exact search's best ten that it finds too, the fewest results of a question as a
#: share of those there are, milliseconds a search, searches a second of four clients, memory, disk, seconds to build.
STORE_COLUMNS = [
    "store",
    "filter",
    "n_pages",
    "n_windows",
    "agreement",
    "least_found",
    "median_ms",
    "clients_4_per_s",
]
STORE_COLUMNS += ["memory_mib", "disk_mib", "build_s"]
#: Of each stage and size: seconds of a core, the most memory, what it leaves on disk, and whether memory ``grows``.
COST_COLUMNS = ["stage", "n_pages", "seconds", "memory_mib", "disk_mib", "grows"]
MIXED = "mixed"
METRICS = ("doc_recall", "page_recall")
FAR = (100_000, 1_000_000)  # pages that the law is extrapolated to
LEAST_SIZES = 3  # of a law


def measured(study: Study, k: int) -> pd.DataFrame | None:
    """GROWTH_COLUMNS at k chunks, here or as published; None where that was not measured."""
    known = known_table(study, GROWTH)
    found = None if known is None else known[known["k"] == k].reset_index(drop=True)
    return None if found is None or found.empty else found


def recalls(study: Study, found: pd.DataFrame) -> pd.DataFrame:
    """Each method over each part: kind, draw, n_filings, n_pages, method, doc_recall, page_recall, low, high.

    ``low`` and ``high`` are of page recall, companies being drawn; ``found`` is what :func:`measured` gives.
    """
    draws, rows = Resampling.of(study), []
    for about, part in found.groupby([*GROWTH_COLUMNS[:5]], sort=False):
        values = part.set_index("question_id")
        _, low, high, *_ = draws.interval(values["page_recall"])
        rows.append((*about, *values[[*METRICS]].mean(), low, high))
    return pd.DataFrame(rows, columns=[*GROWTH_COLUMNS[:5], *METRICS, "low", "high"])


class Law(NamedTuple):
    """``logit(recall) = level + slope · log10(pages)``, and the same of every draw of companies."""

    line: np.ndarray  # level and slope
    draws: np.ndarray  # (n_draws, 2)
    error: float  # the largest distance of a measured size's mean recall from the law
    left_out: Interval  # predicted − measured at the largest size, by the law of the smaller ones
    n_pages: tuple[float, float]  # what was measured, from and to

    def at(self, n_pages: float) -> tuple[float, float, float]:
        """The recall at so many pages, and its interval."""
        place = np.array([1.0, np.log10(n_pages)])
        return _expit(self.line @ place), *percentiles(_expit(self.draws @ place))


def laws(study: Study, found: pd.DataFrame, metric: str = "page_recall") -> dict[str, Law]:
    """The law of each method that was measured over LEAST_SIZES mixed parts or more; each size weighs the same."""
    company = Resampling.of(study).company
    return {
        str(method): law(part, company, metric)
        for method, part in found[found["kind"] == MIXED].groupby("method", sort=False)
        if part["n_filings"].nunique() >= LEAST_SIZES
    }


def law(part: pd.DataFrame, company: pd.Series, metric: str = "page_recall", n_draws: int = 2000) -> Law:
    """The law of one method over mixed parts (GROWTH_COLUMNS); see :func:`laws`.

    Args:
        part: what was measured of it.
        company: of each question, by question_id.
        metric: one of METRICS.
        n_draws: draws of companies.
    """
    values = part.pivot_table(
        index="question_id", columns="n_filings", values=metric
    )  # the mean of its draws
    pages = part.groupby("n_filings")["n_pages"].mean()[values.columns].to_numpy()
    codes, names = pd.factorize(company[values.index])
    counts = cluster_draws(len(names), n_draws, 0)
    sums = np.stack([np.bincount(codes, values[size]) for size in values], axis=1)
    drawn = (counts @ sums) / (counts @ np.bincount(codes))[:, None]
    means = np.vstack([values.mean().to_numpy(), drawn])
    lines, least = _lines(pages, means, len(values)), 0.5 / len(values)
    fitted = _expit(lines[0] @ np.stack([np.ones(len(pages)), np.log10(pages)]))
    early = _lines(pages[:-1], means[:, :-1], len(values))
    ahead = _expit(early @ np.array([1.0, np.log10(pages[-1])])) - means[:, -1].clip(least, 1 - least)
    left_out = Interval(float(ahead[0]), *percentiles(ahead[1:]), len(values), len(names))
    error = float(np.abs(fitted - means[0]).max())
    return Law(lines[0], lines[1:], error, left_out, (float(pages[0]), float(pages[-1])))


def _lines(pages: np.ndarray, means: np.ndarray, n: int) -> np.ndarray:
    """Level and slope of each row of means of n questions, shape (n_rows, 2), by least squares."""
    clipped = means.clip(0.5 / n, 1 - 0.5 / n)
    design = np.stack([np.ones(len(pages)), np.log10(pages)], axis=1)
    return np.linalg.lstsq(design, np.log(clipped / (1 - clipped)).T, rcond=None)[0].T


def _expit(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def law_table(found: dict[str, Law], at: Sequence[int] = FAR) -> pd.DataFrame:
    """method, slope, error, left_out (with ``_low`` and ``_high``), and recall at so many pages, likewise."""
    rows = []
    for method, one in found.items():
        row = {"method": method, "slope": one.line[1], "error": one.error}
        row |= dict(zip(("left_out", "left_out_low", "left_out_high"), one.left_out[:3], strict=True))
        for n_pages in at:
            names = (f"at_{n_pages}{end}" for end in ("", "_low", "_high"))
            row |= dict(zip(names, one.at(n_pages), strict=True))
        rows.append(row)
    return pd.DataFrame(rows)


def costs_at(costs: pd.DataFrame, n_pages: Sequence[int], core_hour: float, gib_month: float) -> pd.DataFrame:
    """What an archive takes, from what each stage took a page over the most pages that it was measured on.

    Args:
        costs: stage, n_pages, seconds (of one core), memory_mib, disk_mib.
        n_pages: sizes of the archive.
        core_hour, gib_month: price of a core for an hour, and of a GiB on disk for a month.

    Returns:
        A row a stage and size: stage, n_pages, core_hours, memory_gib, disk_gib, money (once), money_month.
    """
    last = costs.sort_values("n_pages").groupby("stage", sort=False).tail(1)
    rows = []
    for one in last.itertuples():
        for size in n_pages:
            times = size / one.n_pages
            hours = times * one.seconds / 3600
            memory = (times if one.grows else 1) * one.memory_mib / 1024
            disk = times * one.disk_mib / 1024
            rows.append((one.stage, size, hours, memory, disk, hours * core_hour, disk * gib_month))
    columns = ["stage", "n_pages", "core_hours", "memory_gib", "disk_gib", "money", "money_month"]
    return pd.DataFrame(rows, columns=columns)
