"""Figures of the chapters on breakdowns and generation; one function a figure."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lib.analysis.breakdowns import MARK, Seen
from lib.analysis.decomposition import METRIC_OF, STEPS
from lib.metrics.frame import METRIC_TITLES
from lib.show.figures import COLOURS, CONDITION_COLOURS, grouped_bars, label_rows, places
from lib.show.pictures import draw_page
from lib.show.tables import title
from lib.study import Study

STEP_COLOURS = {"found": "#009E73", "chunk": "#F0E442", "page": "#E69F00", "document": "#B0413E"}
STEP_TITLES = {step: step if step == "found" else f"lost at the {step} step" for step in STEP_COLOURS}
ORACLE_MARKS = {"oracle-document": "D", "oracle-page": "^"}


def decomposition_bars(summary: pd.DataFrame, methods: Sequence[str], k: int) -> plt.Figure:
    """One stacked bar per method, adding to 1; marks show the page recall that each oracle reaches.

    Args:
        summary: SUMMARY_COLUMNS with the metrics of the decomposition and ``page_recall``.
        methods: from top to bottom.
        k: depth in chunks, for the axis.
    """
    drawn, axes = plt.subplots(figsize=(9.5, 0.42 * len(methods) + 1.9))
    mean = summary.set_index(["condition", "metric", "method"])["mean"].sort_index()
    rows, left = np.arange(len(methods)), np.zeros(len(methods))
    for step in STEPS:
        width = mean["standard", METRIC_OF[step]].loc[list(methods)].to_numpy()
        style = {"color": STEP_COLOURS[step], "label": STEP_TITLES[step], "zorder": 2}
        bars = axes.barh(rows, width, left=left, height=0.62, **style)
        written = [f"{part:.2f}" if part >= 0.045 else "" for part in width]
        ink = "#222222" if step in ("chunk", "page") else "white"
        axes.bar_label(bars, written, label_type="center", fontsize=8, color=ink)
        left += width
    for condition, mark in ORACLE_MARKS.items():
        reached = mean[condition, "page_recall"].loc[list(methods)]
        style = {"ms": 6, "mfc": "white", "mec": "black", "ls": "none", "zorder": 3, "clip_on": False}
        axes.plot(reached, rows + 0.31, mark, label=f"page recall, {condition}", **style)
    axes.set(xlim=(0, 1), xlabel=f"share of the gold evidence (k = {k})")
    label_rows(axes, [title(method) for method in methods])
    drawn.legend(loc="upper center", ncols=3, frameon=False, fontsize=8.5, bbox_to_anchor=(0.5, 1.0))
    drawn.tight_layout(rect=(0, 0, 1, 1 - 0.55 / drawn.get_figheight()))
    return drawn


def group_dots(frame: pd.DataFrame, seen: Sequence[Seen], metrics: Sequence[str]) -> plt.Figure:
    """A panel per metric, a row per group, a dot per run with its 95 % interval; small groups are hollow.

    Args:
        frame: of :func:`lib.analysis.breakdowns.by_group`.
        seen: the runs, in the order of their colours.
        metrics: the panels.
    """
    sizes = frame.drop_duplicates("group").set_index("group")
    height = (0.16 + 0.17 * len(seen)) * len(sizes) + 1.3
    size = (5 * len(metrics), height)
    drawn, panels = plt.subplots(1, len(metrics), figsize=size, sharey=True, squeeze=False)
    runs = frame.set_index(["metric", "entry", "group"]).sort_index()
    for axes, metric in zip(panels[0], metrics, strict=True):
        for number, where in enumerate(places(len(sizes), len(seen), 0.2 * len(seen))):
            part, colour = (
                runs.loc[metric, seen[number].name].loc[sizes.index],
                COLOURS[number % len(COLOURS)],
            )
            axes.hlines(where, part["low"], part["high"], color=colour, lw=1.4)
            fills = np.where(part["is_small"], "white", colour)
            axes.scatter(part["mean"], where, s=30, c=fills, edgecolors=colour, zorder=3)
            axes.plot([], [], "o-", color=colour, label=seen[number].title)
        axes.set(xlim=(-0.03, 1.03), xlabel=METRIC_TITLES[metric])
    ticks = [f"{row.Index}{MARK if row.is_small else ''} (n={row.n})" for row in sizes.itertuples()]
    panels[0][0].set_yticks(np.arange(len(ticks)), ticks)
    panels[0][0].set_ylim(len(ticks) - 0.5, -0.5)
    handles, texts = axes.get_legend_handles_labels()
    drawn.legend(handles, texts, loc="upper center", ncols=len(seen), frameon=False, fontsize=8.5)
    drawn.tight_layout(rect=(0, 0, 1, 1 - 0.35 / height))
    return drawn


def kind_bars(table: pd.DataFrame, names: Sequence[str]) -> plt.Figure:
    """How many misses of each kind, a bar per run; kinds that never occur are left out.

    Args:
        table: of :func:`lib.analysis.failures.typology`.
        names: its count columns.
    """
    part = table[table[list(names)].sum(axis=1) > 0]
    drawn, axes = plt.subplots(figsize=(8.5, (0.2 + 0.2 * len(names)) * len(part) + 1.1))
    for number, (name, where) in enumerate(zip(names, places(len(part), len(names), 0.75), strict=True)):
        colour = COLOURS[number % len(COLOURS)]
        bars = axes.barh(where, part[name], 0.75 / len(names), color=colour, label=name)
        axes.bar_label(bars, fontsize=8, padding=2)
    label_rows(axes, [f"{row.kind} ({row.step} step)" for row in part.itertuples()])
    axes.set_xlabel("missed gold pages")
    axes.legend(frameon=False, fontsize=8.5, loc="lower right")
    return drawn


def page_pair(study: Study, miss, evidence: str) -> plt.Figure:
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
    """A panel per metric, a bar per context with its 95 % interval.

    Args:
        summary: context, metric, mean, low, high.
        titles: context to its title, in order.
        metrics: the panels.
        names: metric to its title.
    """
    n_rows = -(-len(metrics) // 3)
    size = (10, n_rows * (0.36 * len(titles) + 0.9))
    drawn, panels = plt.subplots(n_rows, min(3, len(metrics)), figsize=size, sharey=True, squeeze=False)
    colours = [CONDITION_COLOURS.get(context, COLOURS[5]) for context in titles]
    for axes in panels.flat[len(metrics) :]:
        axes.axis("off")
    for axes, metric in zip(panels.flat, metrics, strict=False):
        part = summary[summary["metric"] == metric].set_index("context").loc[list(titles)]
        grouped_bars(axes, {"": part}, [*titles.values()], [colours], 0.62)
        axes.set(xlabel=names[metric], xlim=(0, max(0.1, 1.05 * part["high"].max())))
        axes.locator_params(axis="x", nbins=4)
    drawn.tight_layout()
    return drawn


def retrieval_against_answers(
    points: pd.DataFrame, metrics: Sequence[str], names: dict[str, str]
) -> plt.Figure:
    """Mean page recall of each context against what its answers reach, a panel per metric.

    Args:
        points: context (its title), page_recall and a column per metric.
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
