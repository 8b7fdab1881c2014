"""Plots of frames: a row or a line per method, named by its title; each returns a figure that may be changed.

A frame is indexed by method (or by other labels) and has ``mean``, and ``low`` and ``high`` where intervals are drawn.
None is drawn of a frame without rows, and None is returned.
"""

import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import cycle

import numpy as np
import pandas as pd

from lib.metrics import METRIC_TITLES
from lib.show.figures import (
    COLOURS,
    DARK,
    GREY,
    LEADER,
    TEXT,
    Drawing,
    blank,
    label_rows,
    name_dots,
    paired_dots,
    spread_labels,
    write_in,
)
from lib.show.figures import bars as draw_bars
from lib.show.markup import label
from lib.show.tables import title

DASHES = ("-", "--", "-.", ":")
STEEP = 5  # ranks by which a change of ranks is marked

Naming = Callable[[str], str]


def dots(frame: pd.DataFrame, xlabel: str = "", named: Naming = title) -> Drawing | None:
    """A row per method: its mean as a dot, with its interval; hollow where the column ``filled`` is False."""
    return dot_panels({"": frame}, xlabel, named)


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
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize=9)
    least = min(float(part.filter(["mean", "low"]).min(axis=None)) for part in both.values())
    if least < 0:
        axes.axvline(0, color=GREY, lw=1)
    axes.set(xlim=axes.get_xlim() if least < 0 else (0, None), xlabel=xlabel)
    return figure


def lines(
    frame: pd.DataFrame,
    x: str,
    panels: str = "metric",
    by: str = "method",
    xlabel: str = "",
    named: Naming = title,
    ylabel: str = "",
    is_log: bool = False,
) -> Drawing | None:
    """A panel per value of ``panels``, a line with its band per value of ``by``, named at the right of the last panel;
    a long frame with these columns, ``x`` (on a log axis where ``is_log``), mean, low and high."""
    if frame.empty:
        return None
    parts = [*frame.groupby(panels, sort=False)]
    figure = blank(3.2, n_panels=len(parts), alt="Panels of lines with bands, a line per method.", sharey=True)
    figure.set_layout_engine("none")
    figure.subplots_adjust(right=0.76, wspace=0.08)
    for axes, (head, panel) in zip(figure.axes, parts, strict=True):
        drawn = [*panel.groupby(by, sort=False)]
        heights = spread_labels([line["mean"].iloc[-1] for _, line in drawn], 0.09)
        for (name, line), height, colour, dashes in zip(drawn, heights, cycle(COLOURS), cycle(DASHES), strict=False):
            axes.plot(line[x], line["mean"], dashes, marker="o", ms=4, color=colour)
            axes.fill_between(line[x], line["low"], line["high"], color=colour, alpha=0.12, lw=0)
            if axes is figure.axes[-1]:
                end, place = (line[x].iloc[-1], line["mean"].iloc[-1]), (1.08 * panel[x].max(), height)
                axes.annotate(named(name), end, place, va="center", fontsize=9, arrowprops=LEADER)
        axes.set(title=METRIC_TITLES.get(head, head), ylim=(0, 1.02), xlabel=xlabel or x)
        axes.set(xscale="log" if is_log else "linear")
        ticks = panel[x].unique()
        axes.set_xticks(ticks, [tick if place % 2 == 0 or len(ticks) < 7 else "" for place, tick in enumerate(ticks)])
        axes.minorticks_off()
    figure.axes[0].set(ylabel=ylabel)
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
    axes.set_xlim(frame[x].min() / 30, frame[x].max() * 30)
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
    ncols: int = 3,
) -> Drawing | None:
    """A bar per row of the parts in ``frame``'s columns, in the order of ``colours`` (column → colour); a part from
    ``least`` of the widest bar on has its number. The legend above, of ``ncols`` columns, has the parts that any row
    has."""
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
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=ncols, fontsize=9)
    figure.set_figheight(figure.get_figheight() + 0.2 * max(0, -(-len(colours) // ncols) - 2))  # of more lines of names
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


def differences(
    frame: pd.DataFrame,
    x: str,
    by: str,
    line: str = "",
    xlabel: str = "",
    ylabel: str = "",
    ticks: Sequence[float] = (),
) -> Drawing | None:
    """Lines of differences with their intervals about zero, a colour per value of ``by``; of its lines (values of
    ``line``) the first is solid and the others dashed, and each is named at its end. A long frame with these columns,
    ``x``, mean, low and high; ``ticks`` are by default its values of ``x``."""
    if frame.empty:
        return None
    figure = blank(3.8, alt="Lines of differences with intervals about a line at zero.")
    (axes,) = figure.axes
    for colour, (_, part) in zip(COLOURS, frame.groupby(by, sort=False), strict=False):
        for number, (name, points) in enumerate(part.groupby(line or by, sort=False)):
            points = points.drop_duplicates(x).sort_values(x)
            ends = abs(points[["low", "high"]].to_numpy() - points[["mean"]].to_numpy()).T
            style = {"fmt": "o--" if number else "o-", "mfc": "none" if number else colour, "color": colour}
            axes.errorbar(points[x], points["mean"], ends, ms=5, capsize=2, lw=1.4, **style)
            style = {"textcoords": "offset points", "va": "center", "fontsize": 9, "color": colour}
            axes.annotate(label(name), points[[x, "mean"]].iloc[-1], (8, 0), **style)
    axes.axhline(0, color=GREY, lw=0.8)
    axes.set(xlabel=xlabel or x, ylabel=ylabel, xticks=ticks if len(ticks) else frame[x].unique())
    axes.set_xlim(right=frame[x].max() + 0.32 * (frame[x].max() - frame[x].min()))  # for the names
    return figure


def rank_changes(means: pd.DataFrame, named: Naming = title) -> Drawing | None:
    """A line per method from its rank in the first of two columns to that in the second, with its means; lines that
    rise by STEEP ranks or more are thick, those that fall by as many dashed."""
    if means.empty:
        return None
    ranks = means.rank(ascending=False, method="first")
    figure = blank(0.3 * len(ranks) + 0.8, alt="Two columns of methods, a line from each one's rank to its other rank.")
    (axes,) = figure.axes
    for name, row in ranks.iterrows():
        rises, falls = (sign * (row.iloc[0] - row.iloc[1]) >= STEEP for sign in (1, -1))
        colour, width = (COLOURS[1], 2.5) if rises else (COLOURS[0], 2) if falls else (GREY, 1)
        axes.plot([0, 1], row, "o--" if falls else "o-", color=colour, lw=width, ms=4)
        for place, side, away in ((0, "right", -0.05), (1, "left", 0.05)):
            text = f"{named(name)}  {means.loc[name].iloc[place]:.2f}"
            axes.text(place + away, row.iloc[place], text, ha=side, va="center", fontsize=9)
    axes.set(xticks=[0, 1], xticklabels=[*map(label, ranks)], xlim=(-1.6, 2.6), yticks=[])
    for head, side in zip(axes.get_xticklabels(), ("right", "left"), strict=True):
        head.set_horizontalalignment(side)
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    return figure


def bar_panels(frame: pd.DataFrame, panels: str, by: str, labels: Sequence[str]) -> Drawing | None:
    """Panels of :func:`bars` beside each other, a panel per value of ``panels`` and a bar per value of ``by``; a long
    frame with these columns, mean, low and high (or NaN), in which each bar has a row per label, in their order."""
    if frame.empty:
        return None
    heads, n_parts = sorted(frame[panels].unique()), frame[by].nunique()
    alt = "Panels with groups of horizontal bars."
    figure = blank(0.3 * len(labels) * n_parts + 0.9, n_panels=len(heads), alt=alt, sharey=True)
    for axes, head in zip(figure.axes, heads, strict=True):
        parts = frame[frame[panels] == head].groupby(by, sort=False)
        draw_bars(axes, {name: part.dropna(axis="columns", how="all") for name, part in parts}, labels, COLOURS)
        axes.set(xlabel=METRIC_TITLES.get(head, head), xlim=(0, 1.35 * axes.get_xlim()[1]))  # for the names of bars
    return figure


def extrapolated(
    points: pd.DataFrame,
    fitted: pd.DataFrame,
    x: str,
    y: str,
    xlabel: str = "",
    ylabel: str = "",
    named: Naming = title,
) -> Drawing | None:
    """Dots (``points``: method, ``x``, ``y``) and a line per method (``fitted``: the same and is_measured) on a log
    axis; a line is dashed where it is not measured, and named at its end."""
    if fitted.empty:
        return None
    figure = blank(4.6, alt="Dots and a line per method on a log axis, dashed beyond them.")
    (axes,), lines = figure.axes, fitted.groupby("method", sort=False)
    last = lines[[x, y]].last()
    heights = dict(zip(last.index, spread_labels(last[y], 0.075), strict=True))
    for colour, (name, line) in zip(COLOURS, lines, strict=False):
        of_method = points[points["method"] == name]
        axes.plot(of_method[x], of_method[y], "o", color=colour)
        for is_measured, part in line.groupby("is_measured"):
            axes.plot(part[x], part[y], "-" if is_measured else "--", color=colour)
        text, place = textwrap.fill(named(name), 32), (1.15 * last[x][name], heights[name])
        axes.text(*place, text, color=colour, va="center", fontsize=9)
    axes.set(
        xscale="log", xlim=(None, 40 * fitted[x].max()), ylim=(-0.03, None), xlabel=xlabel or x, ylabel=ylabel or y
    )
    return figure


def categories(frame: pd.DataFrame, ylabel: str = "") -> Drawing | None:
    """A line per column over the labels of the index, named at its right end."""
    if frame.empty:
        return None
    figure = blank(4.2, alt="A line per set-up over categories, named at its right end.")
    (axes,) = figure.axes
    heights, last = spread_labels(frame.iloc[-1], 0.035), len(frame) - 1
    style = zip(cycle(COLOURS), cycle("os^vD"), cycle(DASHES), strict=False)
    for (name, values), height, (colour, marker, dashes) in zip(frame.items(), heights, style, strict=False):
        axes.plot(range(len(frame)), values, dashes, marker=marker, color=colour, lw=2)
        axes.text(last + 0.1, height, name, color=colour, va="center")
    axes.set(xticks=range(len(frame)), xticklabels=frame.index, xlim=(-0.2, last + 1.5), ylabel=ylabel)
    return figure


def dots_by_kind(
    frame: pd.DataFrame,
    kinds: Sequence[str],
    by: str = "way",
    panels: str = "set",
    rows: str = "title",
    xlabel: str = "",
) -> Drawing | None:
    """A panel per value of ``panels`` below each other, in it a row per value of ``rows``, with a dot for each of up to
    two ``kinds`` (values of ``by``; the second is hollow), its interval, mean and kind; with the columns mean, low,
    high and n."""
    if frame.empty:
        return None
    parts = dict([*frame.groupby(panels, sort=False)])
    heights = [part[rows].nunique() + 0.4 for part in parts.values()]
    alt = f"Dots with intervals from {frame['mean'].min():.2f} to {frame['mean'].max():.2f}, a row per context."
    given = {"n_panels": len(parts), "rows": True, "sharex": True, "height_ratios": heights}
    figure = blank(0.42 * sum(heights) + 0.9, alt=alt, **given)
    style = {"textcoords": "offset points", "va": "center", "fontsize": 9}
    for axes, (head, part) in zip(figure.axes, parts.items(), strict=True):
        names = [*part[rows].unique()]
        for kind, colour, fill, step in zip(
            kinds, (COLOURS[0], DARK), (COLOURS[0], "none"), (-0.16, 0.18), strict=False
        ):
            drawn = part[part[by] == kind]
            at = np.array([names.index(name) for name in drawn[rows]]) + step
            axes.hlines(at, drawn["low"], drawn["high"], color=colour, lw=1.4)
            axes.scatter(drawn["mean"], at, s=32, facecolors=fill, edgecolors=colour, zorder=3)
            for height, mean, high in zip(at, drawn["mean"], drawn["high"], strict=True):
                axes.annotate(f"{mean:.2f} {kind}", (high, height), (6, 0), **style)
        label_rows(axes, [textwrap.fill(name, 24) for name in names])
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_title(f"{head}, n = {part['n'].iloc[0]}", loc="left", fontsize=10)
    axes.set(xlim=(0, 1.15), xlabel=xlabel, xticks=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return figure


def scatter(
    frame: pd.DataFrame,
    x: str,
    y: str,
    labelled: Sequence[str] = (),
    xlabel: str = "",
    ylabel: str = "",
    named: Naming = title,
) -> Drawing | None:
    """A dot per method, of two shares, the ``labelled`` ones with their names, and the line of least squares where
    ``x`` differs between methods."""
    if frame.empty:
        return None
    figure = blank(4.4, alt="A dot per method, and a line through them.")
    (axes,) = figure.axes
    if frame[x].nunique() > 1:
        slope, start = np.polyfit(frame[x], frame[y], 1)
        axes.axline((0, start), slope=slope, color=GREY, lw=1)
    axes.scatter(frame[x], frame[y], s=22, color=GREY)
    marked = frame[frame.index.isin(labelled)]
    axes.scatter(marked[x], marked[y], s=30, color=COLOURS[0], zorder=3)
    for name, at in marked[[x, y]].iterrows():
        below = (14, -8 if at[y] < 0.1 else -24)
        place = {"xytext": (-12, 6), "ha": "right"} if at[x] > 0.6 else {"xytext": below, "ha": "left"}
        axes.annotate(named(name), tuple(at), textcoords="offset points", color=COLOURS[0], fontsize=9, **place)
    axes.set(xlim=(-0.02, 1), ylim=(-0.02, 1), xlabel=xlabel or x, ylabel=ylabel or y)
    return figure


def dot_panels(panels: Mapping[str, pd.DataFrame], xlabel: str = "", named: Naming = title) -> Drawing | None:
    """Panels of :func:`dots` beside each other: head → frame, all of the same rows, with NaN where there is none."""
    frames = [*panels.values()]
    if not frames or frames[0].empty:
        return None
    rows, alt = np.arange(len(frames[0])), "Panels with a row per method, in each a dot with its interval."
    has_negative = any(frame["low"].min() < 0 for frame in frames)
    figure = blank(0.36 * len(rows) + 0.9, n_panels=len(panels), alt=alt, sharex=True, sharey=True)
    for axes, (head, frame) in zip(figure.axes, panels.items(), strict=True):
        fills = [COLOURS[0] if is_filled else "white" for is_filled in frame.get("filled", [True] * len(rows))]
        axes.hlines(rows, frame["low"], frame["high"], color=COLOURS[0], lw=1.4)
        axes.scatter(frame["mean"], rows, s=36, c=fills, edgecolors=COLOURS[0], zorder=3)
        axes.set_title(head, fontsize=10)
        axes.set(xlabel=xlabel)
        axes.grid(axis="y", visible=False)
        if has_negative:
            axes.axvline(0, color=GREY, lw=1)
        else:
            axes.set_xlim(0)
    label_rows(figure.axes[0], [textwrap.fill(named(name), 30) for name in frames[0].index])
    return figure


def forest(
    frame: pd.DataFrame, by: str, mark: str = "", xlabel: str = "", grey: Collection[str] = ()
) -> Drawing | None:
    """A row per text of the index, in lines of 60 letters: a dot with its interval, coloured and named by the
    groups of ``by``, which follow each other (those of ``grey`` are grey), beside a line at zero; a hollow diamond at
    the values of ``mark``."""
    if frame.empty:
        return None
    texts = [textwrap.fill(str(text), 60, max_lines=2, placeholder="…") for text in frame.index]
    lines_high = np.array([text.count("\n") + 1 for text in texts])
    rows = pd.Series(lines_high.cumsum() - lines_high / 2, range(len(frame)))
    alt = f"A row per text with a dot and its interval beside a line at zero, grouped by {by}."
    figure = blank(0.175 * lines_high.sum() + 0.9, alt=alt)
    (axes,) = figure.axes
    for (name, places), colour in zip(rows.groupby(frame[by].to_numpy(), sort=False), COLOURS, strict=False):
        part, colour = frame.iloc[places.index], GREY if name in grey else colour
        axes.hlines(places, part["low"], part["high"], color=colour, lw=2)
        axes.plot(part["mean"], places, "o", ms=5, color=colour)
        if mark:
            axes.plot(part[mark], places, "D", mfc="none", mec=GREY, ms=6)
        ink = TEXT if name in grey else colour
        style = {"color": ink, "va": "center", "ha": "right", "transform": axes.get_yaxis_transform()}
        axes.text(1, places.iloc[-1], name, **style)
    axes.axvline(0, color=GREY, lw=1)
    axes.grid(axis="y", visible=False)
    axes.set_yticks(rows, texts, fontsize=9)
    axes.set(xlabel=xlabel, ylim=(lines_high.sum() + 0.2, -0.2))
    return figure


def sweep(
    frame: pd.DataFrame,
    x: str,
    by: str,
    at: float | None = None,
    xlabel: str = "",
    ylabel: str = "",
    named: Naming = title,
) -> Drawing | None:
    """A line with its band per value of ``by``, its highest point as a dot and its name in the legend; a dotted line
    ``at`` a value of ``x``. A long frame with ``x``, ``by``, mean, low and high."""
    if frame.empty:
        return None
    figure = blank(2.8, alt=f"A line with its band per {by}, its highest point marked.")
    (axes,) = figure.axes
    for (name, line), colour, dashes in zip(frame.groupby(by, sort=False), cycle(COLOURS), cycle(DASHES), strict=False):
        axes.fill_between(line[x], line["low"], line["high"], color=colour, alpha=0.15, lw=0)
        axes.plot(line[x], line["mean"], dashes, color=colour, lw=2, label=named(name))
        top = line.loc[line["mean"].idxmax()]
        axes.plot(top[x], top["mean"], "o", color=colour)
    if at is not None:
        axes.axvline(at, color=GREY, ls=":")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, fontsize=9)
    axes.set(xlabel=xlabel or x, ylabel=ylabel)
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
        axes.xaxis.get_major_locator().set_params(integer=True)
    figure.axes[0].set(ylabel=ylabel or y, ylim=(0, None))
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


def groups(frame: pd.DataFrame, runs: Mapping[str, str]) -> Drawing | None:
    """A row per group and a panel per metric, with a mark per run and its interval.

    Args:
        frame: group, entry, metric, mean, low, high and n, as of :func:`lib.analysis.breakdowns.by_group`.
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
            axes.scatter(part["mean"], at, s=25, marker=marker, color=colour, zorder=3)
            axes.plot([], [], f"{marker}-", color=colour, label=name)
        axes.set(xlim=(-0.03, 1.03), xticks=(0, 0.5, 1), xlabel=METRIC_TITLES.get(metric, metric))
        axes.hlines(np.arange(1, len(rows)) - 0.5, -0.03, 1.03, color=GREY, lw=0.4)
        axes.grid(axis="y", visible=False)
    first = figure.axes[0]
    label_rows(first, [f"{label(row.group)} (n = {row.n})" for row in rows.itertuples()])
    first.set_ylim(len(rows) - 0.5, -0.5)
    figure.legend(*first.get_legend_handles_labels(), loc="outside upper center", ncols=len(runs), fontsize=9)
    return figure


def histogram(values: pd.Series, xlabel: str = "", ylabel: str = "") -> Drawing | None:
    """How often values occur, with their median."""
    if values.empty:
        return None
    median = values.median()
    alt = f"Histogram from {values.min():,.0f} to {values.max():,.0f}, median {median:,.0f}."
    figure = blank(2.8, 6.2, alt=alt)
    (axes,) = figure.axes
    axes.hist(values, bins=30, color=COLOURS[0])
    axes.axvline(median, color=COLOURS[1], lw=2)
    style = {"textcoords": "offset points", "va": "top", "color": COLOURS[1]}
    axes.annotate(f"median {median:,.0f}", (median, axes.get_ylim()[1]), (8, 0), **style)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    return figure
