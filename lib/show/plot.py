"""Plots of frames: a row or a line per method, named by its title; each returns a figure that may be changed.

A frame is indexed by method (or by other labels) and has ``mean``, and ``low`` and ``high`` where intervals are drawn.
None is drawn of a frame without rows, and None is returned.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from lib.metrics import METRIC_TITLES
from lib.show.figures import (
    COLOURS,
    DARK,
    GREY,
    LEADER,
    Drawing,
    blank,
    label_rows,
    name_dots,
    name_pair,
    paired_dots,
    spread_labels,
    write_in,
)
from lib.show.figures import bars as draw_bars
from lib.show.markup import label
from lib.show.tables import title

#: Where evidence goes, by lightness, to be read without colour.
STEP_COLOURS = {"found": "#08519C", "lost: chunk": "#4292C6", "lost: page": "#FDAE61", "lost: document": "#E6E6E6"}
DASHES = ("-", "--", "-.", ":")
Naming = Callable[[str], str]


def dots(frame: pd.DataFrame, xlabel: str = "", named: Naming = title) -> Drawing | None:
    """A row per method: its mean as a dot, with its interval."""
    if frame.empty:
        return None
    figure = blank(0.3 * len(frame) + 0.9, alt="A row per method: a dot with its interval.")
    (axes,) = figure.axes
    rows = np.arange(len(frame))
    axes.hlines(rows, frame["low"], frame["high"], color=COLOURS[0], lw=1.4)
    axes.plot(frame["mean"], rows, "o", color=COLOURS[0])
    axes.set(xlabel=xlabel)
    label_rows(axes, [*map(named, frame.index)])
    return figure


def pairs(
    before: pd.DataFrame, after: pd.DataFrame, names: Sequence[str] = (), xlabel: str = "", named: Naming = title
) -> Drawing | None:
    """A row per method with two joined dots, the first hollow; ``after`` has its rows in the same order, with NaN where
    there is none. ``names`` are of the two."""
    if before.empty:
        return None
    figure = blank(0.28 * len(before) + 1.1, alt="A row per method with two joined dots.")
    (axes,) = figure.axes
    both = dict(zip(names or ("before", "after"), (before, after), strict=True))
    paired_dots(axes, both, [*map(named, before.index)])
    if names:
        name_pair(axes, both)
    axes.set(xlim=(0, None), xlabel=xlabel)
    return figure


def pair_panels(panels: Mapping[str, Sequence[pd.DataFrame]], named: Naming = title) -> Drawing | None:
    """Panels of :func:`pairs` beside each other: label of the axis → frames before and after, all of the same rows."""
    if not panels:
        return None
    rows = next(iter(panels.values()))[0].index
    alt = "Panels with a row per method and two joined dots in each."
    figure = blank(0.31 * len(rows) + 1.0, n_panels=len(panels), alt=alt, sharex=True, sharey=True)
    for axes, (xlabel, both) in zip(figure.axes, panels.items(), strict=True):
        paired_dots(axes, dict(zip(("before", "after"), both, strict=True)), [*map(named, rows)])
        axes.set(xlabel=xlabel)
    figure.axes[0].set_xlim(0)
    return figure


def lines(
    frame: pd.DataFrame, x: str, panels: str = "metric", by: str = "method", xlabel: str = "", named: Naming = title
) -> Drawing | None:
    """A panel per value of ``panels``, a line with its band per value of ``by``, named at the right of the last panel;
    a long frame with these columns, ``x``, mean, low and high."""
    if frame.empty:
        return None
    parts = [*frame.groupby(panels, sort=False)]
    figure = blank(3.2, n_panels=len(parts), alt="Panels of lines with bands, a line per method.", sharey=True)
    figure.set_layout_engine("none")
    figure.subplots_adjust(right=0.76, wspace=0.08)
    for axes, (head, panel) in zip(figure.axes, parts, strict=True):
        drawn = [*panel.groupby(by, sort=False)]
        heights = spread_labels([line["mean"].iloc[-1] for _, line in drawn], 0.09)
        for (name, line), height, colour, dashes in zip(drawn, heights, COLOURS, DASHES, strict=False):
            axes.plot(line[x], line["mean"], dashes, marker="o", ms=4, color=colour)
            axes.fill_between(line[x], line["low"], line["high"], color=colour, alpha=0.12, lw=0)
            if axes is figure.axes[-1]:
                end, place = (line[x].iloc[-1], line["mean"].iloc[-1]), (1.08 * line[x].iloc[-1], height)
                axes.annotate(named(name), end, place, va="center", fontsize=9, arrowprops=LEADER)
        axes.set(title=METRIC_TITLES.get(head, head), ylim=(0, 1.02), xticks=panel[x].unique(), xlabel=xlabel or x)
    return figure


def frontier(
    frame: pd.DataFrame,
    x: str,
    y: str,
    labelled: Sequence[str],
    filled: Sequence[str] = (),
    left: Sequence[str] = (),
    xlabel: str = "",
    ylabel: str = "",
    named: Naming = title,
) -> Drawing | None:
    """A dot per method on a log axis, ``filled`` or hollow, and the line of those that no cheaper one equals
    (:func:`on_frontier`); the ``labelled`` ones have their names, those of the line and of ``left`` on the left."""
    if frame.empty:
        return None
    figure = blank(3.9, alt="Dots on a log axis, a dot per method, and a rising line of the best.")
    best = on_frontier(frame, x, y)
    (axes,) = figure.axes
    line = frame[best].sort_values(x)
    fills = [COLOURS[0] if name in filled else "white" for name in frame.index]
    axes.scatter(frame[x], frame[y], c=fills, edgecolors=COLOURS[0], zorder=3)
    axes.step(line[x], line[y], where="post", lw=1, color=GREY)
    names = frame[frame.index.isin(labelled)]
    places = {
        "x": names[x],
        "y": names[y],
        "is_left": best[names.index] | names.index.isin(left),
        "name": [*map(named, names.index)],
    }
    axes.set(xscale="log", xlabel=xlabel or x, ylabel=ylabel or y)
    name_dots(axes, pd.DataFrame(places), 0.045 * frame[y].max())
    axes.set_xlim(frame[x].min() / 6, frame[x].max() * 30)
    return figure


def on_frontier(frame: pd.DataFrame, x: str, y: str) -> pd.Series:
    """Whether no other row has as much of ``y`` for less of ``x``."""
    ordered = frame.sort_values([x, y], ascending=[True, False])
    return (ordered[y] > ordered[y].cummax().shift(fill_value=-np.inf)).reindex(frame.index)


def stacked(
    frame: pd.DataFrame,
    colours: Mapping[str, str],
    xlabel: str = "",
    form: str = "{:.2f}",
    least: float = 0.045,
    named: Naming = title,
    marks: pd.Series | None = None,
) -> Drawing | None:
    """A bar per row of the parts in ``frame``'s columns, in the order of ``colours`` (column → colour); a part from
    ``least`` of the widest bar on has its number. ``marks`` are diamonds below the bars, with the name of the Series.
    The legend above has the columns that any row has a part of, and the marks."""
    if frame.empty:
        return None
    figure = blank(0.31 * len(frame) + 0.9, alt="A stacked bar per row, its parts with their shares.")
    (axes,) = figure.axes
    rows, left, whole = np.arange(len(frame)), np.zeros(len(frame)), frame[list(colours)].sum(axis=1).max()
    for part, colour in colours.items():
        widths = frame[part].to_numpy(float)
        drawn = axes.barh(rows, widths, 0.62, left=left, color=colour, label=part if widths.any() else f"_{part}")
        written = [form.format(width) if width >= least * whole else "" for width in widths]
        write_in(axes, drawn, written, fontsize=9, color=ink_on(colour))
        left += widths
    if marks is not None:
        axes.plot(marks, rows + 0.36, "D", ms=4.5, mfc="white", mec=DARK, label=marks.name, zorder=3)
        figure.set_figheight(figure.get_figheight() + 0.05 * len(frame))
    entries = sorted(
        zip(*axes.get_legend_handles_labels(), strict=True), key=lambda entry: isinstance(entry[0], Line2D)
    )
    axes.legend(*zip(*entries, strict=True), loc="lower left", bbox_to_anchor=(0, 1), ncols=3, fontsize=9)
    axes.set(xlim=(0, whole), ylim=(-0.6, len(frame) - 0.4), xlabel=xlabel, axisbelow=True)
    label_rows(axes, [*map(named, frame.index)])
    return figure


def ink_on(colour: str) -> str:
    """White or near black, whichever is read better on a colour ``#rrggbb``."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "white" if 0.3 * red + 0.6 * green + 0.1 * blue < 140 else "#222222"


def bars(parts: Mapping[str, pd.DataFrame], labels: Sequence[str], xlabel: str = "") -> Drawing | None:
    """A group of bars per label, one of each part (name → frame with a row per label), with intervals or numbers."""
    if not len(labels):
        return None
    lines = max(label.count("\n") for label in labels) + 1
    figure = blank(len(labels) * max(0.3, 0.19 * len(parts), 0.2 * lines) + 0.9, alt="Groups of horizontal bars.")
    draw_bars(figure.axes[0], parts, labels, COLOURS)
    figure.axes[0].set(xlabel=xlabel)
    return figure


def waterfall(frame: pd.DataFrame, notes: Sequence[str], xlabel: str = "", named: Naming = title) -> Drawing | None:
    """A row per step, from the mean of the step above to its own, with the interval of its level and a note."""
    if frame.empty:
        return None
    figure = blank(0.55 * len(frame) + 0.9, alt="A waterfall: a bar per step, from the step above to its own level.")
    (axes,) = figure.axes
    rows, before = np.arange(len(frame)), frame["mean"].shift(fill_value=0.0)
    axes.barh(rows, frame["mean"] - before, 0.62, left=before, color=COLOURS[0])
    ends = np.abs(frame[["low", "high"]].to_numpy().T - frame["mean"].to_numpy())
    axes.errorbar(frame["mean"], rows, xerr=ends, fmt="none", ecolor="#333333", lw=1, capsize=3)
    for row, (high, note) in enumerate(zip(frame["high"], notes, strict=True)):
        axes.text(high + 0.015, row, note, va="center")
    axes.set(xlim=(0, 1.3), xticks=np.arange(0, 1.1, 0.2), xlabel=xlabel)
    label_rows(axes, [*map(named, frame.index)])
    return figure


def groups(frame: pd.DataFrame, runs: Mapping[str, str]) -> Drawing | None:
    """A row per group and a panel per metric, with a mark per run and its interval; small groups are hollow and have °.

    Args:
        frame: group, entry, metric, mean, low, high, n and is_small, as of :func:`lib.analysis.breakdowns.by_group`.
        runs: the entries that are drawn, and their names.
    """
    if frame.empty:
        return None
    rows, parts = frame.drop_duplicates("group"), dict(iter(frame.groupby("metric", sort=False)))
    alt = "A row per group of questions and a mark per run, with intervals."
    figure = blank((0.08 + 0.085 * len(runs)) * len(rows) + 1.1, n_panels=len(parts), alt=alt, sharey=True)
    figure.set_layout_engine("constrained")
    for axes, (metric, panel) in zip(figure.axes, parts.items(), strict=True):
        for place, (entry, name) in enumerate(runs.items()):
            part = panel[panel["entry"] == entry].set_index("group").loc[rows["group"]]
            at = np.arange(len(rows)) + (place - (len(runs) - 1) / 2) * 0.7 / len(runs)
            colour, marker = COLOURS[place % len(COLOURS)], "osD^v"[place % 5]
            axes.hlines(at, part["low"], part["high"], color=colour, lw=1.4)
            fills = np.where(part["is_small"], "white", colour)
            axes.scatter(part["mean"], at, s=25, marker=marker, c=fills, edgecolors=colour, zorder=3)
            axes.plot([], [], f"{marker}-", color=colour, label=name)
        axes.set(xlim=(-0.03, 1.03), xticks=(0, 0.5, 1), xlabel=METRIC_TITLES.get(metric, metric))
        axes.hlines(np.arange(1, len(rows)) - 0.5, -0.03, 1.03, color=GREY, lw=0.4)
        axes.grid(axis="y", visible=False)
    first = figure.axes[0]
    label_rows(first, [f"{label(row.group)}{'°' * row.is_small} (n={row.n})" for row in rows.itertuples()])
    first.set_ylim(len(rows) - 0.5, -0.5)
    figure.legend(*first.get_legend_handles_labels(), loc="outside upper center", ncols=len(runs), fontsize=9)
    return figure


def histogram(values: pd.Series, xlabel: str = "", ylabel: str = "", bins: int = 30) -> Drawing | None:
    """How often values occur, with their median."""
    if values.empty:
        return None
    median = values.median()
    alt = f"Histogram from {values.min():,.0f} to {values.max():,.0f}, median {median:,.0f}."
    figure = blank(2.8, 6.2, alt=alt)
    (axes,) = figure.axes
    axes.hist(values, bins=bins, color=COLOURS[0])
    axes.axvline(median, color=COLOURS[1], lw=2)
    axes.text(median, axes.get_ylim()[1], f"  median {median:,.0f}", va="top", color=COLOURS[1])
    axes.set(xlabel=xlabel, ylabel=ylabel)
    return figure
