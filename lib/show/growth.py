"""What the chapter on growing collections shows: recall against pages, stores and costs side by side."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lib.analysis.growth import FAR, Law
from lib.metrics import METRIC_TITLES
from lib.show.display import SHOWN_WIDTH, interval, wide
from lib.show.figures import COLOURS, DARK
from lib.show.tables import METHOD, title

SIZES = (100_000, 1_000_000, 10_000_000)  # pages of archives whose costs are computed
FAR_METRICS = ("page_recall",)  # far enough from 0 and 1 for a logit to be extrapolated
ENDS = {"page_recall": ("low", "high"), "doc_recall": ("doc_low", "doc_high")}
CELL = interval("Mean", "page_recall", "low", "high")


def finding(points: pd.DataFrame | None, k: int) -> str:
    """What the smallest and the largest mixed part leave of the best row and of BM25 and dense, in one sentence.

    ``points``: :func:`lib.analysis.growth.recalls`, a row a method and number of filings; None if nothing was measured.
    """
    if points is None:
        return "Nothing was measured here: there is no larger collection with these questions."
    ends = [int(points["n_pages"].min()), int(points["n_pages"].max())]
    wide = points.pivot_table(index="method", columns="n_pages", values="page_recall")[ends].dropna()
    best = wide[ends[-1]].idxmax()
    names = dict.fromkeys([best, *(name for name in ("dense", "bm25") if name in wide.index)])
    said = ", ".join("{} {:.2f} → {:.2f}".format(title(name), *wide.loc[name, ends]) for name in names)
    return f"From {ends[0]:,} to {ends[1]:,} pages, page recall@{k}: {said}."


def sizes_table(points: pd.DataFrame) -> pd.DataFrame:
    """Page recall of each method (rows, the best of the largest part first) by number of filings (columns)."""
    order = points.sort_values(["n_filings", "page_recall"], ascending=False)["method"].drop_duplicates()
    shown = wide(points.assign(size=points["n_filings"].map("{:,} filings".format)), ["method"], CELL, "size")
    heads = [f"{size:,} filings" for size in sorted(points["n_filings"].unique())]
    shown = shown.loc[order, heads].fillna("–").reset_index()
    return shown.assign(method=shown["method"].map(title)).rename(columns={"method": METHOD.title})


def curves(points: pd.DataFrame, laws: Mapping[str, Mapping[str, Law]], named: Sequence[str]) -> plt.Figure:
    """Recall against pages, on a logarithmic axis: dots as measured, lines as fitted; FAR_METRICS go on as dashes.

    Args:
        points: :func:`lib.analysis.growth.recalls`, a row a method and number of filings.
        laws: metric to the law of each method that has one; a panel each.
        named: the methods that are drawn.
    """
    drawn, panels = plt.subplots(1, len(laws), figsize=(SHOWN_WIDTH, 4.8), sharey=True)
    for axes, (metric, of) in zip(np.atleast_1d(panels), laws.items(), strict=True):
        for name, colour in zip(named, (*COLOURS, DARK), strict=False):
            part = points[points["method"] == name]
            ends = (part[list(ENDS[metric])].to_numpy() - part[[metric]].to_numpy()).T
            style = {"fmt": "o", "ms": 5, "capsize": 2, "color": colour, "label": title(name)}
            axes.errorbar(part["n_pages"], part[metric], np.abs(ends), **style)
            if law := of.get(name):
                spans = [(*law.n_pages, "-"), (law.n_pages[1], FAR[-1], "--")]
                for start, end, line in spans[: 1 + (metric in FAR_METRICS)]:
                    pages = np.geomspace(start, end, 30)
                    axes.plot(pages, [law.at(n)[0] for n in pages], line, color=colour, lw=1.4)
        if metric in FAR_METRICS:
            axes.axvspan(points["n_pages"].max(), FAR[-1], color=DARK, alpha=0.06, lw=0)
        axes.set(xscale="log", xlabel="pages", title=METRIC_TITLES[metric], ylim=(0, 1.02))
    handles = np.atleast_1d(panels)[0].get_legend_handles_labels()
    drawn.legend(*handles, loc="lower center", ncols=2, fontsize=9)
    drawn.tight_layout(rect=(0, 0.05 * (1 + len(handles[0]) // 2), 1, 1))
    return drawn


def drawn_rows(points: pd.DataFrame) -> list[str]:
    """The methods that were measured over more than one size, the best of the smallest size first."""
    grown = points.groupby("method").filter(lambda part: part["n_filings"].nunique() > 1)
    order = grown.sort_values(["n_filings", "page_recall"], ascending=[True, False])
    return order["method"].drop_duplicates().tolist()


def cost_curve(costs: pd.DataFrame) -> plt.Figure:
    """Milliseconds of a core a page, and memory, of each stage against pages, both axes logarithmic.

    ``costs``: :data:`lib.analysis.growth.COST_COLUMNS`.
    """
    drawn, panels = plt.subplots(1, 2, figsize=(SHOWN_WIDTH, 3.6))
    for (stage, part), colour in zip(costs.groupby("stage", sort=False), COLOURS, strict=False):
        of_page = 1000 * part["seconds"] / part["n_pages"]
        panels[0].plot(part["n_pages"], of_page, "o-", color=colour, label=stage)
        if stage in ("embed", "words", "vectors"):
            panels[1].plot(part["n_pages"], part["memory_mib"], "o-", color=colour)
    panels[0].set(xscale="log", yscale="log", xlabel="pages", ylabel="ms of a core a page")
    panels[1].set(xscale="log", yscale="log", xlabel="pages", ylabel="memory (MiB)")
    drawn.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=6, fontsize=9)
    drawn.tight_layout(rect=(0, 0.1, 1, 1))
    return drawn
