"""Figures of the chapters on breakdowns and generation; one function a figure."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lib.analysis.breakdowns import MARK, Seen
from lib.analysis.decomposition import METRIC_OF, STEPS
from lib.show.figures import COLOURS, CONDITION_COLOURS
from lib.show.pictures import draw_page
from lib.show.tables import METRIC_TITLES, title

STEP_COLOURS = {"found": "#009E73", "chunk": "#F0E442", "page": "#E69F00", "document": "#B0413E"}
STEP_TITLES = {
    "found": "found",
    "chunk": "lost at the chunk step",
    "page": "lost at the page step",
    "document": "lost at the document step",
}
ORACLE_MARKS = {"oracle-document": "D", "oracle-page": "^"}


def decomposition_bars(summary: pd.DataFrame, methods: Sequence[str], k: int) -> plt.Figure:
    """One stacked bar a method, adding to 1; marks show the page recall that each oracle reaches.

    Args:
        summary: SUMMARY_COLUMNS with the metrics of the decomposition and ``page_recall``.
        methods: from top to bottom.
        k: depth in chunks, for the axis.
    """
    drawn, axes = plt.subplots(figsize=(9.5, 0.42 * len(methods) + 1.9))
    mean = summary.set_index(["condition", "metric", "method"])["mean"].sort_index()
    places, left = np.arange(len(methods)), np.zeros(len(methods))
    for step in STEPS:
        width = mean["standard", METRIC_OF[step]].loc[list(methods)].to_numpy()
        axes.barh(
            places, width, left=left, height=0.62, color=STEP_COLOURS[step], label=STEP_TITLES[step], zorder=2
        )
        for place, (start, part) in enumerate(zip(left, width, strict=True)):
            if part >= 0.045:
                colour = "#222222" if step in ("chunk", "page") else "white"
                axes.text(
                    start + part / 2, place, f"{part:.2f}", ha="center", va="center", fontsize=8, color=colour
                )
        left += width
    for condition, mark in ORACLE_MARKS.items():
        reached = mean[condition, "page_recall"].loc[list(methods)]
        style = {"ms": 6, "mfc": "white", "mec": "black", "ls": "none", "zorder": 3, "clip_on": False}
        axes.plot(reached, places + 0.31, mark, label=f"page recall, {condition}", **style)
    axes.set(xlim=(0, 1), xlabel=f"share of the gold evidence (k = {k})")
    axes.set_yticks(places, [title(method) for method in methods])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    drawn.legend(loc="upper center", ncols=3, frameon=False, fontsize=8.5, bbox_to_anchor=(0.5, 1.0))
    drawn.tight_layout(rect=(0, 0, 1, 1 - 0.55 / drawn.get_figheight()))
    return drawn


def group_dots(frame: pd.DataFrame, seen: Sequence[Seen], metrics: Sequence[str]) -> plt.Figure:
    """A panel a metric, a row a group, a dot a run with its 95 % interval; small groups are hollow.

    Args:
        frame: of :func:`lib.analysis.breakdowns.by_group`.
        seen: the runs, in the order of their colours.
        metrics: the panels.
    """
    groups = list(dict.fromkeys(frame["group"]))
    height = (0.16 + 0.17 * len(seen)) * len(groups) + 1.3
    drawn, panels = plt.subplots(
        1, len(metrics), figsize=(5 * len(metrics), height), sharey=True, squeeze=False
    )
    for axes, metric in zip(panels[0], metrics, strict=True):
        for number, run in enumerate(seen):
            part = (
                frame[(frame["entry"] == run.name) & (frame["metric"] == metric)]
                .set_index("group")
                .loc[groups]
            )
            where = np.arange(len(groups)) + (number - (len(seen) - 1) / 2) * 0.2
            colour = COLOURS[number % len(COLOURS)]
            axes.hlines(where, part["low"], part["high"], color=colour, lw=1.4)
            fills = ["white" if small else colour for small in part["is_small"]]
            axes.scatter(part["mean"], where, s=30, c=fills, edgecolors=colour, zorder=3)
            axes.plot([], [], "o-", color=colour, label=run.title)
        axes.set(xlim=(-0.03, 1.03), xlabel=METRIC_TITLES[metric])
    sizes = frame.drop_duplicates("group").set_index("group")
    ticks = [f"{g}{MARK if sizes.loc[g, 'is_small'] else ''} (n={sizes.loc[g, 'n']})" for g in groups]
    panels[0][0].set_yticks(np.arange(len(groups)), ticks)
    panels[0][0].set_ylim(len(groups) - 0.5, -0.5)
    handles, texts = axes.get_legend_handles_labels()
    drawn.legend(handles, texts, loc="upper center", ncols=len(seen), frameon=False, fontsize=8.5)
    drawn.tight_layout(rect=(0, 0, 1, 1 - 0.35 / height))
    return drawn


def kind_bars(table: pd.DataFrame, names: Sequence[str]) -> plt.Figure:
    """How many misses of each kind, a bar a run; kinds that never occur are left out.

    Args:
        table: of :func:`lib.analysis.failures.typology`.
        names: its count columns.
    """
    part = table[table[list(names)].sum(axis=1) > 0]
    drawn, axes = plt.subplots(figsize=(8.5, (0.2 + 0.2 * len(names)) * len(part) + 1.1))
    size = 0.75 / len(names)
    for number, name in enumerate(names):
        where = np.arange(len(part)) + (number - (len(names) - 1) / 2) * size
        bars = axes.barh(where, part[name], size, color=COLOURS[number % len(COLOURS)], label=name)
        axes.bar_label(bars, fontsize=8, padding=2)
    axes.set_yticks(np.arange(len(part)), [f"{row.kind} ({row.step} step)" for row in part.itertuples()])
    axes.set_xlabel("missed gold pages")
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.legend(frameon=False, fontsize=8.5, loc="lower right")
    return drawn


def page_pair(study, miss, evidence: str) -> plt.Figure:
    """The gold page with its evidence marked, beside the page that came instead.

    Args:
        study: knows where the filings lie.
        miss: a row of :func:`lib.analysis.failures.classify` with a page that came instead.
        evidence: text to mark on the gold page.
    """
    drawn, (left, right) = plt.subplots(1, 2, figsize=(11, 7))
    draw_page(left, study, miss.doc_name, int(miss.page), evidence, dpi=80)
    draw_page(right, study, miss.shown_doc, int(miss.shown_page), dpi=80)
    left.set_title(f"gold: {miss.doc_name}, p. {miss.page}", fontsize=9, color=STEP_COLOURS["found"])
    right.set_title(
        f"retrieved: {miss.shown_doc}, p. {miss.shown_page}", fontsize=9, color=STEP_COLOURS["document"]
    )
    drawn.tight_layout()
    return drawn


def answer_bars(
    summary: pd.DataFrame, titles: dict[str, str], metrics: Sequence[str], names: dict[str, str]
) -> plt.Figure:
    """A panel a metric, a bar a context with its 95 % interval.

    Args:
        summary: context, metric, mean, low, high.
        titles: context to what a reader sees, in order.
        metrics: the panels.
        names: metric to its title.
    """
    n_rows = -(-len(metrics) // 3)
    size = (10, n_rows * (0.36 * len(titles) + 0.9))
    drawn, panels = plt.subplots(n_rows, min(3, len(metrics)), figsize=size, sharey=True, squeeze=False)
    for axes in panels.flat[len(metrics) :]:
        axes.axis("off")
    for axes, metric in zip(panels.flat, metrics, strict=False):
        part = summary[summary["metric"] == metric].set_index("context").loc[list(titles)]
        error = np.abs(part[["low", "high"]].to_numpy().T - part["mean"].to_numpy())
        colours = [CONDITION_COLOURS.get(context, COLOURS[5]) for context in titles]
        axes.barh(np.arange(len(titles)), part["mean"], 0.62, xerr=error, color=colours, error_kw={"lw": 1})
        axes.set(xlabel=names[metric], xlim=(0, max(0.1, 1.05 * part["high"].max())))
        axes.set_yticks(np.arange(len(titles)), titles.values())
        axes.locator_params(axis="x", nbins=4)
        axes.grid(axis="y", visible=False)
    panels[0, 0].invert_yaxis()
    drawn.tight_layout()
    return drawn


def retrieval_against_answers(
    points: pd.DataFrame, metrics: Sequence[str], names: dict[str, str]
) -> plt.Figure:
    """Mean page recall of each context against what its answers reach, a panel a metric.

    Args:
        points: context (as a reader sees it), page_recall and a column a metric.
        metrics: the panels.
        names: metric to its title.
    """
    drawn, panels = plt.subplots(1, len(metrics), figsize=(4 * len(metrics) + 2, 3.4), squeeze=False)
    for axes, metric in zip(panels[0], metrics, strict=True):
        for number, row in enumerate(points.to_dict("records")):
            style = {"s": 48, "color": COLOURS[number % len(COLOURS)], "zorder": 3, "clip_on": False}
            axes.scatter(row["page_recall"], row[metric], label=row["context"], **style)
        top = max(0.05, 1.1 * points[metric].max())
        axes.set(xlabel="page recall of the context", ylabel=names[metric], xlim=(-0.03, 1.03), ylim=(0, top))
    axes.legend(frameon=False, fontsize=8.5, loc="center left", bbox_to_anchor=(1.02, 0.5))
    drawn.tight_layout()
    return drawn
