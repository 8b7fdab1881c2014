"""What is left of each method's recall as a collection grows, and what an archive of any size costs.

Measured once over more filings than the study's own, by code that stands in commit d4ceab42, and published. The law
says how recall falls with pages: its logit is a straight line in their logarithm, as where each further page has the
same small chance to displace a gold page.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from lib.analysis.measured import known_table
from lib.stats import Interval, Resampling, percentiles
from lib.study import Study

GROWTH, STORES, COSTS, ENGINES = "growth.csv.gz", "stores.csv", "costs.csv", "engines.csv"
GROWTH_COLUMNS = "kind draw n_filings n_pages method question_id k doc_recall page_recall".split()
MIXED = "mixed"
ASKED = "make ask"  # in the place of a method: pages as the command gives them
METRICS = ("doc_recall", "page_recall")
LEAST_SIZES = 3  # of a law
PER_LAW = 5  # draws of the profile for one of a law, which is a fit


def _known(study: Study) -> pd.DataFrame:
    known = known_table(study, GROWTH)
    return pd.DataFrame(columns=GROWTH_COLUMNS) if known is None else known


def measured(study: Study, k: int) -> pd.DataFrame:
    """GROWTH_COLUMNS of the methods at k chunks, here or as published; no rows where that was not measured."""
    known = _known(study)
    return known[(known["k"] == k) & (known["method"] != ASKED)].reset_index(drop=True)


def asked(study: Study) -> pd.DataFrame:
    """What ``make ask`` finds by number of filings and pages: n_filings, n_pages, k, and of page recall and document
    recall the mean and its interval, as of :func:`recalls`."""
    known = _known(study)
    return recalls(study, known[known["method"] == ASKED], ("n_filings", "n_pages", "k"))


def recalls(study: Study, found: pd.DataFrame, keys: Sequence[str] = GROWTH_COLUMNS[:5]) -> pd.DataFrame:
    """The mean recalls of each method and part of :func:`measured`: ``keys``, doc_recall, page_recall, low and high of
    page recall, n, and doc_low and doc_high; without ``draw`` among the keys, values are means of draws.
    """
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
    left_out: Interval  # predicted − measured at the largest size, by the law of the smaller ones
    n_pages: tuple[float, float]  # what was measured, from and to

    def at(self, n_pages: float) -> tuple[float, float, float]:
        """The recall at so many pages, and its interval."""
        place = np.array([1.0, np.log10(n_pages)])
        return expit(self.line @ place), *percentiles(expit(self.draws @ place))


def laws(study: Study, found: pd.DataFrame) -> dict[str, Law]:
    """The law of each method that was measured over LEAST_SIZES mixed parts or more; each size weighs the same."""
    draws = Resampling.of(study)
    return {
        str(method): law(part, draws.company, max(1, draws.n_draws // PER_LAW))
        for method, part in found[found["kind"] == MIXED].groupby("method", sort=False)
        if part["n_filings"].nunique() >= LEAST_SIZES
    }


def law(part: pd.DataFrame, company: pd.Series, n_draws: int = 2000) -> Law:
    """The law of one method over mixed parts (GROWTH_COLUMNS); see :func:`laws`.

    ``company`` is of each question, by question_id; its ``n_draws`` draws have a seed of their own.
    """
    values = part.pivot_table(index="question_id", columns="n_filings", values="page_recall")  # means of draws
    pages = part.groupby("n_filings")["n_pages"].mean()[values.columns].to_numpy()
    means = np.vstack([values.mean().to_numpy(), Resampling(company, n_draws, 0).means(values)])
    least = 0.5 / len(values)
    lines, early = _lines(pages, means, least), _lines(pages[:-1], means[:, :-1], least)
    fitted = expit(lines[0] @ np.stack([np.ones(len(pages)), np.log10(pages)]))
    ahead = expit(early @ np.array([1.0, np.log10(pages[-1])])) - means[:, -1].clip(least, 1 - least)
    n_companies = company[values.index].nunique()
    left_out = Interval(float(ahead[0]), *percentiles(ahead[1:]), len(values), n_companies)
    error = float(np.abs(fitted - means[0]).max())
    return Law(lines[0], lines[1:], error, left_out, (float(pages[0]), float(pages[-1])))


def _lines(pages: np.ndarray, means: np.ndarray, least: float) -> np.ndarray:
    """Level and slope of each row of means, at ``least`` from 0 and 1, shape (n_rows, 2), by least squares."""
    clipped = means.clip(least, 1 - least)
    design = np.stack([np.ones(len(pages)), np.log10(pages)], axis=1)
    return np.linalg.lstsq(design, np.log(clipped / (1 - clipped)).T, rcond=None)[0].T
