"""Pictures of the sibling studies: cost against quality, the sweep of the fusion's weight, chunk sizes."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression

from lib.analysis.frontier import frontier_of
from lib.methods import METHODS
from lib.show.figures import COLOURS, DARK, grouped_bars
from lib.show.tables import title

FAMILY_NAMES = {"main": "this study", "akarsu2026": "Akarsu", "kim2025": "Kim", "yepes2024": "Yepes"}
FAMILY_COLOURS = dict(zip(FAMILY_NAMES, COLOURS, strict=False))
LEAST_S = {"question_s": 1e-3, "index_s": 1.0}


def spread_labels(heights: Sequence[float], gap: float) -> np.ndarray:
    """Heights moved as little (least squares) as keeps them ``gap`` apart, in their order."""
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(order))
    placed = np.empty(len(order))
    placed[order] = isotonic_regression(np.asarray(heights, float)[order] - steps).x + steps
    return placed


def cost_and_quality(table: pd.DataFrame, quality: str) -> plt.Figure:
    """Quality against seconds per question and seconds to index, both on log axes, each frontier as a line.

    Only the rows on a frontier are named beside the picture, from where a thin line leads to each; the others are dots
    whose numbers are in the table.

    Args:
        table: :data:`lib.analysis.frontier.COLUMNS`.
        quality: what the vertical axis is called.
    """
    drawn, panels = plt.subplots(1, 2, figsize=(13, 5.6), sharey=True)
    heads = {"question_s": "seconds per question", "index_s": "seconds to index all filings"}
    for axes, (column, head) in zip(panels, heads.items(), strict=True):
        _panel(axes, table.assign(x=table[column].clip(lower=LEAST_S[column])), column.removesuffix("_s"))
        axes.set(xscale="log", xlabel=f"{head} (at least {LEAST_S[column]:g})")
    panels[0].set_ylabel(quality)
    families = [name for name in FAMILY_COLOURS if name in set(table["method"].map(_family))]
    dots = {"ls": "", "marker": "o"}
    handles = [plt.Line2D([], [], **dots, color=FAMILY_COLOURS[f], label=FAMILY_NAMES[f]) for f in families]
    handles.append(plt.Line2D([], [], ls="", marker=">", color=DARK, label="costs at least this"))
    handles.append(plt.Line2D([], [], color=DARK, marker="o", mfc="none", label="frontier"))
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 1.03)}
    drawn.legend(handles=handles, ncols=len(handles), frameon=False, **place)
    drawn.tight_layout(w_pad=3)
    return drawn


def _family(method: str) -> str:
    return METHODS[method].family


def _panel(axes: plt.Axes, table: pd.DataFrame, side: str) -> None:
    colours = table["method"].map(_family).map(FAMILY_COLOURS)
    is_known = table[f"{side}_missing"].eq("")
    for kind, marker in ((is_known, "o"), (~is_known, ">")):
        axes.scatter(table["x"][kind], table["quality"][kind], c=colours[kind], s=34, marker=marker, zorder=3)
    best = table[frontier_of(table, side)].sort_values(["x", "quality"])
    axes.step(best["x"], best["quality"], where="post", color=DARK, lw=1, zorder=2)
    axes.scatter(best["x"], best["quality"], s=90, facecolors="none", edgecolors=DARK, zorder=4)
    low, high = table["quality"].min(), table["quality"].max()
    room = (high - low) or 1.0
    heights = spread_labels(best["quality"], 0.05 * room)
    for row, height in zip(best.itertuples(), heights, strict=True):
        axes.annotate(
            title(row.method), (row.x, row.quality), (1.02, height), textcoords=axes.get_yaxis_transform(),
            va="center", fontsize=9, arrowprops={"arrowstyle": "-", "color": "#999999", "lw": 0.6},
        )  # fmt: skip


def alpha_sweep(curve: pd.DataFrame, claimed: float, label: str) -> plt.Figure:
    """A measure against the weight of dense, with its interval, its maximum and the claimed weight.

    Args:
        curve: alpha, mean, low, high.
        claimed: the weight that was claimed to be best.
        label: name of the measure.
    """
    drawn, axes = plt.subplots(figsize=(8, 3.6))
    axes.fill_between(curve["alpha"], curve["low"], curve["high"], color=COLOURS[0], alpha=0.18, lw=0)
    axes.plot(curve["alpha"], curve["mean"], color=COLOURS[0], lw=2, label=label)
    best = curve.loc[curve["mean"].idxmax()]
    axes.plot(best["alpha"], best["mean"], "o", color=COLOURS[1], label=f"highest at {best['alpha']:g}")
    axes.axvline(claimed, color=DARK, ls="--", lw=1, label=f"claimed: {claimed:g}")
    axes.set(xlabel="weight of dense (0: BM25 alone, 1: dense alone)", ylabel=label)
    axes.legend(frameon=False, loc="lower center", ncols=3, bbox_to_anchor=(0.5, 1.0))
    return drawn


def chunk_sizes(table: pd.DataFrame) -> plt.Figure:
    """Document and page recall of the chunkings, a bar each with its interval.

    Args:
        table: method, metric, mean, low, high.
    """
    names = list(dict.fromkeys(table["method"]))
    drawn, axes = plt.subplots(figsize=(9, 0.5 * len(names) + 1.4))
    parts = dict(list(table.set_index("method").groupby("metric", sort=False)))
    parts = {metric: part.loc[names] for metric, part in parts.items()}
    grouped_bars(axes, parts, [title(name) for name in names], COLOURS)
    axes.set(xlabel="mean over questions")
    axes.legend(frameon=False, loc="lower center", ncols=len(parts), bbox_to_anchor=(0.4, 1.0))
    return drawn
