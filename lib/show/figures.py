"""The study's figures: the parts that they share, and those of chapters 01 to 03; one function per figure.

Colours are ones that colour-blind readers can distinguish (Okabe & Ito's, then Tol's).
"""

import textwrap
from collections.abc import Mapping, Sequence
from itertools import cycle

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lib.metrics import METRIC_TITLES
from lib.metrics.frame import values_of
from lib.show.tables import title

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
COLOURS = (*OKABE_ITO, "#882255", "#44AA99", "#999933", "#332288")
CONDITION_COLOURS = {"standard": "#0072B2", "oracle-document": "#E69F00", "oracle-page": "#009E73"}
DARK, GREY = "#333333", "#999999"
#: Inches that a figure has in the book's column: one that is wider is shown smaller, and its type with it.
SHOWN_WIDTH = 7.6
STYLE = {"figure.facecolor": "white", "axes.facecolor": "white", "font.size": 10, "legend.frameon": False}
STYLE |= {"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3}
plt.rcParams.update(STYLE)


def bars(
    axes: plt.Axes,
    parts: Mapping[str, pd.DataFrame],
    labels: Sequence[str],
    colours: Sequence,
    size: float = 0.8,
    dots: bool = False,
) -> None:
    """Horizontal bars of means, one group per label from top to bottom, with intervals or else with their numbers.

    Args:
        axes, labels, size: where to draw; the names of the groups, which are 1 apart, and the height of each.
        parts: name in the legend to mean, low and high (or mean alone), a row per label.
        colours: of the parts, or for a part a list with one colour per bar.
        dots: draw dots with intervals instead, hollow where the row ``is_small``.
    """
    step = size / len(parts)
    for number, ((name, part), colour) in enumerate(zip(parts.items(), cycle(colours), strict=False)):
        where = np.arange(len(labels)) + (number - (len(parts) - 1) / 2) * step
        if dots:
            fills = np.where(part["is_small"], "white", colour)
            axes.hlines(where, part["low"], part["high"], color=colour, lw=1.4)
            axes.scatter(part["mean"], where, s=30, c=fills, edgecolors=colour, zorder=3)
            axes.plot([], [], "o-", color=colour, label=name)
        elif "low" in part:
            error = np.abs(part[["low", "high"]].to_numpy().T - part["mean"].to_numpy())
            style = {"color": colour, "label": name, "error_kw": {"lw": 1, "ecolor": DARK}}
            axes.barh(where, part["mean"], step, xerr=error, **style)
        else:
            drawn = axes.barh(where, part["mean"], step, color=colour, label=name)
            axes.bar_label(drawn, fontsize=8, padding=2)
    label_rows(axes, labels)


def label_rows(axes: plt.Axes, labels: Sequence[str]) -> None:
    """Name the rows of horizontal bars, the first on top, without lines between them."""
    axes.set_yticks(np.arange(len(labels)), labels)
    axes.set_ylim(*sorted(axes.get_ylim(), reverse=True))
    axes.grid(axis="y", visible=False)


def histogram(values: pd.Series, xlabel: str, ylabel: str) -> plt.Figure:
    """A histogram with its median marked."""
    drawn, axes = plt.subplots(figsize=(7, 3))
    axes.hist(values, bins=30, color=COLOURS[0])
    axes.axvline(values.median(), color=COLOURS[1], lw=2, label=f"median {values.median():.0f}")
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.legend()
    return drawn


def bars_by_condition(summary: pd.DataFrame, methods: Sequence[str], wanted: Sequence[str]) -> plt.Figure:
    """For each metric a panel, for each method a bar per condition, with 95 % intervals."""
    size = (5.5 * len(wanted), 0.55 * len(methods) + 1.6)
    drawn, panels = plt.subplots(1, len(wanted), figsize=size, sharey=True, squeeze=False)
    runs = summary.set_index(["condition", "metric", "method"]).sort_index()
    colours = {c: colour for c, colour in CONDITION_COLOURS.items() if c in set(summary["condition"])}
    for axes, metric in zip(panels[0], wanted, strict=True):
        parts = {c: runs.loc[c, metric].loc[list(methods)] for c in colours}
        bars(axes, parts, [*map(title, methods)], colours.values())
        axes.set_xlabel(f"{'max ' if metric.startswith('ctx') else ''}{METRIC_TITLES[metric]}@5")
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 1.06)}
    drawn.legend(*axes.get_legend_handles_labels(), ncols=len(colours), **place)
    return drawn


def recall_curves(metrics: pd.DataFrame, methods: Sequence[str], ks: Sequence[int]) -> plt.Figure:
    """Document and page recall under the standard condition against k, one line per method."""
    drawn, panels = plt.subplots(1, 2, figsize=(11, 4.2))
    for axes, metric in zip(panels, ("doc_recall", "page_recall"), strict=True):
        for place, method in enumerate(methods):
            means = [values_of(metrics, method, "standard", metric, k).mean() for k in ks]
            lines, colour = ("-", "--", ":")[place // len(COLOURS)], COLOURS[place % len(COLOURS)]
            axes.plot(ks, means, lines, marker="o", ms=4, color=colour, label=title(method))
        axes.set(xlabel="k (chunks)", ylabel=f"{METRIC_TITLES[metric]}@k", ylim=(0, 1.02), xticks=list(ks))
    panels[1].legend(fontsize=8.5, loc="center left", bbox_to_anchor=(1.01, 0.5))
    drawn.tight_layout()
    return drawn


def waterfall(rising: pd.DataFrame) -> plt.Figure:
    """Page recall from step to step (:func:`lib.show.tables.steps`): what each adds, with the interval of the level."""
    drawn, axes = plt.subplots(figsize=(SHOWN_WIDTH, 0.5 * len(rising) + 0.9))
    before = rising["page_recall"].shift(fill_value=0.0)
    rows, added = np.arange(len(rising)), rising["page_recall"] - before
    colours = [GREY, *np.where(added[1:] >= 0, COLOURS[0], COLOURS[1])]
    axes.barh(rows, added, 0.62, left=before, color=colours)
    ends = np.abs(rising[["low", "high"]].to_numpy().T - rising["page_recall"].to_numpy())
    axes.errorbar(rising["page_recall"], rows, xerr=ends, fmt="none", ecolor=DARK, lw=1, capsize=3)
    for row, one in zip(rows, rising.itertuples(), strict=True):
        gain = "" if pd.isna(one.difference) else f" ({one.difference:+.2f})"
        axes.text(one.high + 0.015, row, f"{one.page_recall:.2f}{gain}", va="center", fontsize=10)
    axes.set(
        xlim=(0, 1.16), xticks=np.arange(0, 1.1, 0.2), xlabel=f"{METRIC_TITLES['page_recall'].lower()}@5"
    )
    label_rows(axes, [textwrap.fill(title.removeprefix("+ "), 34) for title in rising["title"]])
    drawn.tight_layout()
    return drawn
