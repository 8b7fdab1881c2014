"""Plots of frames: a row or a line per method, named by its title; each returns a figure that may be changed.

A frame is indexed by method (or by other labels) and has ``mean``, and ``low`` and ``high`` where intervals are drawn.
None is drawn of a frame without rows, and None is returned.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from lib.metrics import METRIC_TITLES
from lib.show.figures import (
    COLOURS,
    GREY,
    LEADER,
    Drawing,
    blank,
    label_rows,
    name_dots,
    name_pair,
    paired_dots,
    spread_labels,
)
from lib.show.figures import bars as draw_bars
from lib.show.tables import title

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
    least = min(float(part.filter(["mean", "low"]).min(axis=None)) for part in both.values())
    if least < 0:
        axes.axvline(0, color=GREY, lw=1)
    axes.set(xlim=axes.get_xlim() if least < 0 else (0, None), xlabel=xlabel)
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
) -> Drawing | None:
    """A bar per row of the parts in ``frame``'s columns, in the order of ``colours`` (column → colour); a part from
    ``least`` of the widest bar on has its number, and each column's name stands in its widest part."""
    if frame.empty:
        return None
    figure = blank(0.31 * len(frame) + 0.9, alt="A stacked bar per row, its parts with their shares.")
    (axes,) = figure.axes
    rows, left, whole = np.arange(len(frame)), np.zeros(len(frame)), frame[list(colours)].sum(axis=1).max()
    for part, colour in colours.items():
        widths = frame[part].to_numpy(float)
        drawn = axes.barh(rows, widths, 0.62, left=left, color=colour, label=part)
        written = [form.format(width) if width >= least * whole else "" for width in widths]
        axes.bar_label(drawn, written, label_type="center", fontsize=9, color=ink_on(colour))
        left += widths
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, fontsize=9)
    axes.set(xlim=(0, whole), xlabel=xlabel, axisbelow=True)
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
    figure = blank(0.3 * len(labels) * max(1, len(parts) / 2) + 0.9, alt="Groups of horizontal bars.")
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


def curves(frame: pd.DataFrame, x: str, y: str, panels: str, by: str, ylabel: str = "") -> Drawing | None:
    """A panel per value of ``panels`` a thin line per value of ``by``, none of them named."""
    if frame.empty:
        return None
    parts = [*frame.groupby(panels)]
    figure = blank(2.8, n_panels=len(parts), alt="Panels of lines without names.", sharey=True)
    for axes, (head, panel) in zip(figure.axes, parts, strict=True):
        for colour, (_, line) in zip(COLOURS, panel.groupby(by, sort=False), strict=False):
            axes.plot(line[x], line[y], marker="o", ms=3, lw=1.2, color=colour)
        axes.set(xlabel=x, title=f"{panels} {head}")
    figure.axes[0].set(ylabel=ylabel or y, ylim=(0, None))
    return figure


def dot_panels(panels: Mapping[str, pd.DataFrame], named: Naming = title) -> Drawing | None:
    """Panels of :func:`dots` beside each other: label of the axis → frame, all of the same rows, with NaN where there
    is none. A dot is hollow where the frame's column ``filled`` is False."""
    frames = [*panels.values()]
    if not frames or frames[0].empty:
        return None
    rows, alt = np.arange(len(frames[0])), "Panels with a row per method, in each a dot with its interval."
    has_negative = any(part["low"].min() < 0 for part in frames)
    figure = blank(0.34 * len(rows) + 0.9, n_panels=len(panels), alt=alt, sharex=True, sharey=True)
    for axes, (xlabel, part) in zip(figure.axes, panels.items(), strict=True):
        fills = [COLOURS[0] if is_filled else "white" for is_filled in part.get("filled", [True] * len(rows))]
        axes.hlines(rows, part["low"], part["high"], color=COLOURS[0], lw=1.4)
        axes.scatter(part["mean"], rows, s=36, c=fills, edgecolors=COLOURS[0], zorder=3)
        axes.set(xlabel=xlabel)
        if has_negative:
            axes.axvline(0, color=GREY, lw=1)
    label_rows(figure.axes[0], [*map(named, frames[0].index)])
    return figure


def agreement(frame: pd.DataFrame, x: str, y: str, by: str, xlabel: str = "", ylabel: str = "") -> Drawing | None:
    """A dot per row from 0 to 1 in both directions, with the diagonal on which both are equal; shapes and colours are
    by the column ``by``, whose values the legend names."""
    if frame.empty:
        return None
    figure = blank(4.2, alt="A dot per row and the diagonal on which both shares are equal.")
    (axes,) = figure.axes
    axes.axline((0, 0), slope=1, color=GREY, lw=1)
    for (name, part), marker, colour in zip(frame.groupby(by, sort=False), "osD^vP", COLOURS, strict=False):
        axes.scatter(part[x], part[y], s=45, marker=marker, color=colour, label=name, alpha=0.8)
    axes.set(xlim=(-0.02, 1), ylim=(-0.02, 1), xlabel=xlabel or x, ylabel=ylabel or y)
    axes.legend(loc="upper left")
    return figure
