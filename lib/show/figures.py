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

from lib.methods import METHODS
from lib.metrics import METRIC_TITLES
from lib.show.display import SHOWN_WIDTH
from lib.show.tables import title

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
COLOURS = (*OKABE_ITO, "#882255", "#44AA99", "#999933", "#332288")
CONDITION_COLOURS = {"standard": "#0072B2", "oracle-document": "#E69F00", "oracle-page": "#009E73"}
#: Parts of :func:`lost_bars`: name, colour, and colour of the number; ordered by lightness, to be read without colour.
LOST = {
    "found": ("found", "#08519C", "white"),
    "page": ("right filing, wrong page", "#FDAE61", "#222222"),
    "document": ("wrong filing", "#D0D0D0", "#222222"),
}
DARK, GREY = "#333333", "#999999"
TEXT = "#6e6e6e"  # readable on white and on black
STYLE = {"font.size": 10, "legend.frameon": False, "svg.fonttype": "none", "svg.hashsalt": "retrieval-gap"}
STYLE |= dict.fromkeys(["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"], TEXT)
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
            axes.bar_label(drawn, fontsize=9, padding=2)
    label_rows(axes, labels)


def label_rows(axes: plt.Axes, labels: Sequence[str]) -> None:
    """Name the rows of horizontal bars, the first on top, without lines between them."""
    axes.set_yticks(np.arange(len(labels)), labels)
    axes.set_ylim(*sorted(axes.get_ylim(), reverse=True))
    axes.grid(axis="y", visible=False)


def lost_bars(lost: pd.DataFrame) -> plt.Figure:
    """Where each row's gold pages are lost: a bar per row, in the order given, the first with the names of the parts.

    Args:
        lost: ``method`` (a name of the method table, or any other text) and the shares ``found``, ``page`` (right
            filing, wrong page) and ``document`` (wrong filing), which add to 1.
    """
    drawn, axes = plt.subplots(figsize=(5.2, 0.72 * len(lost) + 0.4))
    rows, left = np.arange(len(lost)), np.zeros(len(lost))
    for part, (head, colour, ink) in LOST.items():
        shares = lost[part].to_numpy(float)
        stack = axes.barh(rows, shares, 0.5, left=left, color=colour)
        written = [f"{100 * share:.0f}" if share >= 0.025 else "" for share in shares]
        axes.bar_label(stack, written, label_type="center", color=ink, fontsize=11)
        middle = min(max(left[0] + shares[0] / 2, 0.33), 0.57)  # keeps the three heads apart
        x, side = {"found": (0, "left"), "page": (middle, "center"), "document": (1, "right")}[part]
        axes.text(x, -0.72, head, ha=side, va="bottom", fontsize=11, style="italic")
        left += shares
    for row, name in enumerate(lost["method"]):
        axes.text(0, row - 0.29, METHODS[name].title if name in METHODS else name, va="bottom", fontsize=11)
    axes.set(xlim=(0, 1), ylim=(len(lost) - 0.7, -1.0))
    axes.axis("off")
    drawn.tight_layout(pad=0.2)
    return drawn


def named_dots(
    table: pd.DataFrame, x: tuple[str, str], y: tuple[str, str], named: Sequence[str], line: tuple[float, float]
) -> plt.Figure:
    """A dot per method of a table, named ones with their titles, and a line by intercept and slope.

    ``x`` and ``y`` are a column of shares and its title.
    """
    drawn, axes = plt.subplots(figsize=(SHOWN_WIDTH, 0.7 * SHOWN_WIDTH))
    axes.axline((0, line[0]), slope=line[1], color=GREY, lw=1)
    is_named = table["method"].isin(named)
    for part, colour in (table[~is_named], GREY), (table[is_named], COLOURS[0]):
        axes.scatter(part[x[0]], part[y[0]], s=22, color=colour, zorder=3)
    for method, *place in table.loc[is_named, ["method", x[0], y[0]]].itertuples(index=False, name=None):
        axes.annotate(title(method), place, (-6, 4), textcoords="offset points", ha="right", fontsize=9)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=x[1], ylabel=y[1])
    drawn.tight_layout()
    return drawn


def moves(table: pd.DataFrame, parts: Mapping[str, str]) -> plt.Figure:
    """How a row's shares move from ``<part>_first`` (hollow) to ``<part>_second``: a panel a part, by its title; rows
    (method, ``searched``) in their order, coloured by what is searched."""
    drawn, panels = plt.subplots(1, len(parts), figsize=(SHOWN_WIDTH, 0.3 * len(table) + 1.3), sharey=True)
    rows, most = (
        np.arange(len(table)),
        max(table[f"{part}_{end}"].max() for part in parts for end in ("first", "second")),
    )
    for axes, (part, head) in zip(panels, parts.items(), strict=True):
        for (searched, of), colour in zip(
            table.groupby("searched", sort=False), CONDITION_COLOURS.values(), strict=False
        ):
            at, first, second = rows[table["searched"] == searched], of[f"{part}_first"], of[f"{part}_second"]
            axes.hlines(at, first, second, color=colour, lw=2.5, alpha=0.5)
            axes.plot(first, at, "o", ms=7, mfc="white", mec=colour, mew=1.5)
            axes.plot(second, at, "o", ms=7, color=colour, label=searched)
        axes.set(xlim=(-0.02, 1.08 * most), xlabel=head)
        label_rows(axes, [title(name).partition(", filings matched")[0] for name in table["method"]])
    drawn.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=len(panels) + 1, fontsize=9)
    drawn.tight_layout(rect=(0, 0.05, 1, 1))
    return drawn


def recall_curves(recalls: pd.DataFrame, named: Sequence[str]) -> plt.Figure:
    """Document and page recall (:func:`lib.show.tables.recall_at`) against k: some methods named, the others grey."""
    drawn, panels = plt.subplots(1, 2, figsize=(SHOWN_WIDTH, 3.6), sharey=True)
    for axes, metric in zip(panels, ("doc_recall", "page_recall"), strict=True):
        for method, part in recalls[recalls["metric"] == metric].groupby("method", sort=False):
            if method not in named:
                axes.plot(part["k"], part["mean"], color="#CCCCCC", lw=1)
        for method, colour, line in zip(named, COLOURS, ("-", "--", ":"), strict=False):
            part = recalls[(recalls["metric"] == metric) & (recalls["method"] == method)]
            axes.fill_between(part["k"], part["low"], part["high"], color=colour, alpha=0.15, lw=0)
            style = {"marker": "o", "ms": 4, "lw": 2, "color": colour, "label": title(method)}
            axes.plot(part["k"], part["mean"], line, **style)
        axes.set(xlabel="k (chunks)", title=METRIC_TITLES[metric], ylim=(0, 1.02))
        axes.set_xticks(recalls["k"].unique())
    drawn.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=len(named), fontsize=9)
    drawn.tight_layout(rect=(0, 0.09, 1, 1))
    return drawn


def spread_labels(heights: Sequence[float], gap: float) -> np.ndarray:
    """Heights moved as little (least squares) as keeps them ``gap`` apart, in their order."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(order))
    placed = np.empty(len(order))
    placed[order] = isotonic_regression(np.asarray(heights, float)[order] - steps).x + steps
    return placed


def budget_curves(curves: pd.DataFrame, named: Sequence[str]) -> plt.Figure:
    """Document and page recall (:func:`lib.analysis.budgets.curves`) against tokens read, each line with its name: some
    methods in colours, the others grey."""
    drawn, panels = plt.subplots(2, 1, figsize=(SHOWN_WIDTH, 8.0), sharex=True)
    colours = dict(zip(named, COLOURS, strict=False))
    for axes, metric in zip(panels, ("doc_recall", "page_recall"), strict=True):
        lines = dict(tuple(curves[curves["metric"] == metric].groupby("method", sort=False)))
        for method, part in lines.items():
            style = {"color": colours.get(method, GREY), "lw": 2 if method in colours else 1.2}
            axes.plot(part["budget"], part["mean"], "o-", ms=4, **style)
        ends = [part.iloc[-1] for part in lines.values()]
        gap = 0.07 * (max(end["mean"] for end in ends) or 1.0)
        for end, height in zip(ends, spread_labels([end["mean"] for end in ends], gap), strict=True):
            style = {"color": colours.get(end["method"], DARK), "va": "center", "fontsize": 9}
            style |= {
                "textcoords": axes.get_yaxis_transform(),
                "arrowprops": {"arrowstyle": "-", "color": GREY, "lw": 0.6, "relpos": (0, 0.5), "shrinkA": 0},
            }
            axes.annotate(
                textwrap.fill(title(end["method"]), 28), (end["budget"], end["mean"]), (1.03, height), **style
            )
        axes.set(xscale="log", ylabel=METRIC_TITLES[metric].lower(), ylim=(0, None))
    budgets = sorted(curves["budget"].unique())
    panels[-1].set_xticks(budgets, [f"{budget:,}" for budget in budgets])
    panels[-1].minorticks_off()
    panels[-1].set_xlabel("tokens read")
    drawn.subplots_adjust(left=0.09, right=0.68, top=0.94, bottom=0.07, hspace=0.12)
    return drawn
