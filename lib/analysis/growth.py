"""What is left of each method's recall as a collection grows, and what an archive of any size costs.

Measured over more filings than the study's own, by ``python -m lib growth`` and, once, stores and costs, and kept as
tables of the study's folder, which are published. The law says how recall falls with pages: its logit is a straight
line in their logarithm, as where each further page has the same small chance to displace a gold page.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from lib.analysis.measured import known_table
from lib.stats import Resampling, percentiles
from lib.study import Study

GROWTH, STORES, COSTS, ENGINES = "growth.csv.gz", "stores.csv", "costs.csv", "engines.csv"
GROWTH_COLUMNS = "kind draw n_filings n_pages method question_id k doc_recall page_recall".split()
MIXED = "mixed"
ASKED = "make ask"  # in the place of a method: pages as the command gives them
METRICS = ("doc_recall", "page_recall")
LEAST_SIZES = 3  # of a law
PER_LAW = 5  # draws of the profile for one of a law, which is a fit


def measured(study: Study, k: int) -> pd.DataFrame:
    """GROWTH_COLUMNS of the methods at k chunks, here or as published; no rows where that was not measured."""
    known = known_table(study, GROWTH, GROWTH_COLUMNS)
    return known[(known["k"] == k) & (known["method"] != ASKED)].reset_index(drop=True)


def asked(study: Study) -> pd.DataFrame:
    """:func:`recalls` of what ``make ask`` finds by number of filings and pages, and k."""
    known = known_table(study, GROWTH, GROWTH_COLUMNS)
    return recalls(study, known[known["method"] == ASKED], ("n_filings", "n_pages", "k"))


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
    """:func:`recalls` of the mixed parts, a row a method and number of filings, n_pages being the mean of the draws."""
    mixed = found[found["kind"] == MIXED].astype({"n_pages": float})
    n_pages = mixed.groupby("n_filings")["n_pages"].transform("mean").round().astype(int)
    return recalls(study, mixed.assign(n_pages=n_pages), ("method", "n_filings", "n_pages"))


class Law(NamedTuple):
    """``logit(recall) = level + slope · log10(pages)``, and the same of every draw of companies."""

    line: np.ndarray  # level and slope
    draws: np.ndarray  # (n_draws, 2)
    error: float  # the largest distance of a measured size's mean recall from the law
    left_out: tuple[float, float, float]  # predicted − measured at the largest size, by the law of the smaller ones
    n_pages: tuple[float, float]  # what was measured, from and to

    def at(self, n_pages: float) -> tuple[float, float, float]:
        """The recall at so many pages, and its interval."""
        place = np.array([1.0, np.log10(n_pages)])
        return expit(self.line @ place), *percentiles(expit(self.draws @ place))


def laws(study: Study, found: pd.DataFrame) -> dict[str, Law]:
    """The law of each method that was measured over LEAST_SIZES mixed parts or more; each size weighs the same."""
    draws = Resampling.of(study)
    draws = replace(draws, n_draws=max(1, draws.n_draws // PER_LAW), seed=0)
    parts = found[found["kind"] == MIXED].groupby("method", sort=False)
    return {str(method): law(part, draws) for method, part in parts if part["n_filings"].nunique() >= LEAST_SIZES}


def law(part: pd.DataFrame, draws: Resampling) -> Law:
    """The law of one method over mixed parts, by least squares; means are kept half a question from 0 and 1."""
    values = part.pivot_table(index="question_id", columns="n_filings", values="page_recall")  # means of draws
    pages = part.groupby("n_filings")["n_pages"].mean()[values.columns].to_numpy()
    means, least = np.vstack([values.mean().to_numpy(), draws.means(values)]), 0.5 / len(values)
    clipped, design = means.clip(least, 1 - least), np.stack([np.ones(len(pages)), np.log10(pages)], axis=1)
    logits = np.log(clipped / (1 - clipped)).T
    lines, early = (np.linalg.lstsq(design[:n], logits[:n], rcond=None)[0].T for n in (len(pages), len(pages) - 1))
    ahead = expit(early @ design[-1]) - clipped[:, -1]
    error = float(np.abs(expit(lines[0] @ design.T) - means[0]).max())
    left_out = float(ahead[0]), *percentiles(ahead[1:])
    return Law(lines[0], lines[1:], error, left_out, (float(pages[0]), float(pages[-1])))
