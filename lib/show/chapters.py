"""Figures of chapter 5, which a short cell cannot draw."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lib.analysis.breakdowns import MARK, Seen
from lib.analysis.decomposition import METRIC_OF, STEPS
from lib.metrics import METRIC_TITLES
from lib.show.drawn import SHOWN_WIDTH
from lib.show.figures import COLOURS, GREY, label_rows
from lib.show.markup import label
from lib.show.tables import title

#: Ordered by lightness, so that they are read without colour: dark is found, light is lost early.
STEP_COLOURS = {"found": "#08519C", "chunk": "#4292C6", "page": "#FDAE61", "document": "#E6E6E6"}
MARKERS = "osD^v"


def decomposition_bars(summary: pd.DataFrame, methods: Sequence[str], k: int) -> plt.Figure:
    """One stacked bar per method, adding to 1, the best on top; a mark is its page recall with the filing given."""
    mean = summary.pivot(index="method", columns=["condition", "metric"], values="mean").loc[[*methods]]
    mean = mean.sort_values(("standard", METRIC_OF["found"]), ascending=False, kind="stable")
    drawn, axes = plt.subplots(figsize=(SHOWN_WIDTH, 0.26 * len(mean) + 1.1))
    rows, left = np.arange(len(mean)), np.zeros(len(mean))
    for step in STEPS:
        width = mean["standard", METRIC_OF[step]].to_numpy()
        named = {"label": step if step == "found" else f"lost: {step}"} if width.any() else {}
        stack = axes.barh(rows, width, 0.66, left=left, color=STEP_COLOURS[step], zorder=2, **named)
        written = [f"{part:.2f}" if part >= 0.045 else "" for part in width]
        ink = "white" if step == "found" else "#222222"
        axes.bar_label(stack, written, label_type="center", fontsize=9, color=ink)
        left += width
    style = {"ms": 5.5, "mfc": "white", "mec": "#222222", "ls": "none", "zorder": 3}
    axes.plot(mean["oracle-document", "page_recall"], rows + 0.36, "D", label="page recall, filing given", **style)
    axes.set(xlim=(0, 1), ylim=(-0.6, len(mean) - 0.4), xlabel=f"share of the gold evidence (k = {k})")
    label_rows(axes, [*map(title, mean.index)])
    of = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    order = sorted(of, key=lambda name: name.startswith("page recall"))
    style = {"loc": "upper center", "ncols": len(of), "fontsize": 9, "columnspacing": 1.2, "handlelength": 1.4}
    drawn.legend([of[name] for name in order], order, **style)
    drawn.tight_layout(rect=(0, 0, 1, 1 - 0.3 / drawn.get_figheight()))
    return drawn


def group_dots(frame: pd.DataFrame, seen: Sequence[Seen], metrics: Sequence[str]) -> plt.Figure:
    """A panel per metric, a row per group, a mark per run with its 95 % interval; small groups are hollow."""
    sizes, step = frame.drop_duplicates("group").set_index("group"), 0.7 / len(seen)
    height = (0.08 + 0.085 * len(seen)) * len(sizes) + 1.1
    drawn, panels = plt.subplots(1, len(metrics), figsize=(SHOWN_WIDTH, height), sharey=True, squeeze=False)
    for axes, metric in zip(panels[0], metrics, strict=True):
        for place, (run, colour, marker) in enumerate(zip(seen, COLOURS, MARKERS, strict=False)):
            part = frame[(frame["metric"] == metric) & (frame["entry"] == run.name)].set_index("group").loc[sizes.index]
            at = np.arange(len(sizes)) + (place - (len(seen) - 1) / 2) * step
            axes.hlines(at, part["low"], part["high"], color=colour, lw=1.4)
            for is_small, some in part.assign(at=at).groupby("is_small"):
                fill = "white" if is_small else colour
                axes.plot(some["mean"], some["at"], marker, color=colour, mfc=fill, ms=5)
            axes.plot([], [], f"{marker}-", color=colour, label=run.title)
        label_rows(axes, [f"{label(one.Index)}{MARK * one.is_small} (n={one.n})" for one in sizes.itertuples()])
        axes.set(xlim=(-0.03, 1.03), ylim=(len(sizes) - 0.5, -0.5), xticks=(0, 0.5, 1), xlabel=METRIC_TITLES[metric])
        axes.hlines(np.arange(1, len(sizes)) - 0.5, -0.03, 1.03, color=GREY, lw=0.4)
    drawn.legend(*axes.get_legend_handles_labels(), loc="upper center", ncols=len(seen), fontsize=9, columnspacing=1.2)
    drawn.tight_layout(rect=(0, 0, 1, 1 - 0.3 / height))
    return drawn
