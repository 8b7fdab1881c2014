"""What figures share: style, colours that colour-blind readers can distinguish, bars and dots in rows, apart labels."""

import io
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lib.show.tables import title

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
COLOURS = (*OKABE_ITO, "#882255", "#44AA99", "#999933", "#332288")  # then Tol's
#: Parts of :func:`lost_bars`: name, colour, and colour of the number; ordered by lightness, to be read without colour.
LOST = {
    "found": ("found", "#08519C", "white"),
    "page": ("missed: page not retrieved", "#FDAE61", "#222222"),
    "document": ("missed: filing not retrieved", "#D0D0D0", "#222222"),
}
SHOWN_WIDTH = 7.6  # inches of the book's column: a figure that is wider is shown smaller, and its type with it
DARK, GREY = "#333333", "#999999"
LEADER = {"arrowstyle": "-", "color": GREY, "lw": 0.6}  # from a label to its point
TEXT = "#6e6e6e"  # readable on white and on black
STYLE = {"font.size": 10, "legend.frameon": False, "svg.fonttype": "none", "svg.hashsalt": "retrieval-gap"}
STYLE |= dict.fromkeys(["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"], TEXT)
STYLE |= {"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3}
STYLE |= {"font.sans-serif": ["DejaVu Sans", "Verdana"]}  # equally wide: a browser without the first shows the second
plt.rcParams.update(STYLE)


class Drawing(Figure):
    """A figure that Jupyter shows where a cell ends with it, and that nothing else knows of, unlike pyplot's; ``alt``
    says in words what it draws."""

    alt = ""

    def _repr_png_(self) -> bytes:
        self.savefig(drawn := io.BytesIO(), format="png", bbox_inches="tight", facecolor="white")
        return drawn.getvalue()


def blank(
    height: float, width: float = SHOWN_WIDTH, n_panels: int = 1, rows: bool = False, alt: str = "", **given
) -> Drawing:
    """A figure of so many inches with empty axes, beside each other or (``rows``) below each other: ``figure.axes``.

    ``given`` is for Figure.subplots, such as ``sharey``.
    """
    figure = Drawing(figsize=(width, height), layout="tight")
    FigureCanvasAgg(figure)
    figure.alt = alt
    figure.subplots(n_panels if rows else 1, 1 if rows else n_panels, **given)
    return figure


def bars(
    axes: plt.Axes, parts: Mapping[str, pd.DataFrame], labels: Sequence[str], colours: Sequence, size: float = 0.8
) -> None:
    """Horizontal bars of ``parts`` (name to mean, low and high, or mean alone, a row per label), one group per label
    from top to bottom, ``size`` high and 1 apart, with intervals or else with their numbers; named in the group that
    leaves most room."""
    step = size / len(parts)
    ends = pd.concat(
        [part["high" if "low" in part else "mean"].reset_index(drop=True) for part in parts.values()], axis=1
    )
    roomy = int(ends.max(axis=1).argmin()) if len(ends) else 0
    for number, ((name, part), colour) in enumerate(zip(parts.items(), cycle(colours), strict=False)):
        where = np.arange(len(labels)) + (number - (len(parts) - 1) / 2) * step
        error = np.abs(part[["low", "high"]].to_numpy().T - part["mean"].to_numpy()) if "low" in part else None
        style = {"color": colour, "label": name, "error_kw": {"lw": 1, "ecolor": DARK}}
        drawn = axes.barh(where, part["mean"], step, xerr=error, **style)
        form = "{:.0f}" if (part["mean"] % 1 == 0).all() else "{:.2f}"
        written = [form.format(mean) if error is None else "" for mean in part["mean"]]
        if len(written):
            written[roomy] = f"{written[roomy]}  {name}".strip()
        axes.bar_label(drawn, written, fontsize=9, padding=2)
    label_rows(axes, labels)


def label_rows(axes: plt.Axes, labels: Sequence[str]) -> None:
    """Name the rows of horizontal bars, the first on top, without lines between them."""
    axes.set_yticks(np.arange(len(labels)), labels)
    axes.set_ylim(*sorted(axes.get_ylim(), reverse=True))
    axes.grid(axis="y", visible=False)


def write_in(axes: plt.Axes, parts: Iterable[Rectangle], texts: Sequence[str], **style: object) -> None:
    """Texts in the middle of bars. Axes.bar_label does it, too, but a figure that has its labels cannot be copied."""
    for part, text in zip(parts, texts, strict=True):
        if text:
            middle = part.get_x() + part.get_width() / 2, part.get_y() + part.get_height() / 2
            axes.text(*middle, text, ha="center", va="center", **style)


def lost_bars(lost: pd.DataFrame) -> Drawing:
    """Where each ``method``'s (a name of the method table, or any other text) gold pages are lost: a bar per row, the
    first with the names of the parts; the shares ``found``, ``page`` (page not retrieved) and ``document`` (filing not
    retrieved) add to 1. Rows with a ``head`` (a text, else empty) begin a section of it."""
    drawn = blank(0.55 * _places(lost)[-1] + 1.15, 5.2, alt=_lost_in_words(lost))
    _draw_lost(drawn.axes[0], lost)
    return drawn


def lost_panels(lost: pd.DataFrame) -> Drawing:
    """:func:`lost_bars` of each ``set``, beside each other; the heads are above the panels, without sections."""
    parts = dict(list(lost.groupby("set", sort=False)))
    heads = [next(filter(None, part["head"]), name) for name, part in parts.items()]
    n_rows = max(map(len, parts.values()))
    drawn = blank(0.5 * n_rows + 1.0, n_panels=len(parts), alt=_lost_in_words(lost))
    for axes, head, part in zip(drawn.axes, heads, parts.values(), strict=True):
        _draw_lost(axes, part.assign(head=""), size=9.5, n_rows=n_rows)
        axes.set_title(head, loc="left", fontsize=10, weight="bold", pad=8)
    return drawn


def _places(lost: pd.DataFrame) -> np.ndarray:
    heads = lost["head"].tolist() if "head" in lost else [""] * len(lost)
    return np.arange(len(lost)) + 0.7 * np.cumsum([bool(head) for head in heads])


def _lost_in_words(lost: pd.DataFrame) -> str:
    words = "{}: found {:.0%}, page not retrieved {:.0%}, filing not retrieved {:.0%}"
    heads = lost["set"].astype(str) + ", " if "set" in lost and lost["set"].nunique() > 1 else [""] * len(lost)
    titles = [head + title(method) for head, method in zip(heads, lost["method"], strict=True)]
    return "; ".join(words.format(*row) for row in zip(titles, *lost[[*LOST]].to_numpy(float).T, strict=True)) + "."


def _draw_lost(axes: plt.Axes, lost: pd.DataFrame, size: float = 11, n_rows: int = 0) -> None:
    """Bars of :func:`lost_bars` in axes that have room for ``n_rows`` of them, by default for all."""
    heads = lost["head"].tolist() if "head" in lost else [""] * len(lost)
    rows = _places(lost)
    left, top = np.zeros(len(lost)), -0.72
    for part, (head, colour, ink) in LOST.items():
        shares = lost[part].to_numpy(float)
        stack = axes.barh(rows, shares, 0.5, left=left, color=colour)
        written = [f"{100 * share:.0f}" if share >= 0.025 else "" for share in shares]
        write_in(axes, stack, written, color=ink, fontsize=size)
        middle = min(max(left[0] + shares[0] / 2, 0.33), 0.43)  # keeps the three heads apart
        x, side = {"found": (0, "left"), "page": (middle, "center"), "document": (1, "right")}[part]
        axes.text(x, top, head.replace(": ", ":\n"), ha=side, va="bottom", fontsize=size, style="italic")
        left += shares
    for row, method, head in zip(rows, lost["method"], heads, strict=True):
        axes.text(0, row - 0.29, title(method), va="bottom", fontsize=size)
        axes.text(0, row - 0.75, head, va="bottom", fontsize=size, weight="bold")
    axes.set(xlim=(0, 1), ylim=(max(rows[-1], n_rows - 1) + 0.3, top - 0.56), xticks=[], yticks=[])
    axes.axis("off")


def spread_labels(heights: Sequence[float], gap: float) -> np.ndarray:
    """Heights moved as little (least squares) as keeps them ``gap`` apart, in their order."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(order))
    placed = np.empty(len(order))
    placed[order] = isotonic_regression(np.asarray(heights, float)[order] - steps).x + steps
    return placed


def name_dots(axes: plt.Axes, dots: pd.DataFrame, gap: float) -> None:
    """Names beside dots (``name``, its last line at the dot; ``x`` on a log axis, ``y``), on the left where
    ``is_left``; of dots that are near each other, ``gap`` apart."""
    dots = dots.sort_values("x")
    near = np.log10(dots["x"]).diff().gt(0.6).cumsum()
    for (_, is_left), part in dots.groupby([near, "is_left"]):
        style = {"textcoords": "offset points", "ha": "right" if is_left else "left", "fontsize": 9}
        for row, height in zip(part.itertuples(), spread_labels(part["y"], gap), strict=True):
            axes.annotate(row.name, (row.x, height), (-6 if is_left else 6, -5), va="bottom", **style)


def paired_dots(
    axes: plt.Axes, pairs: Mapping[str, pd.DataFrame], labels: Sequence[str], colours: Sequence[str] = COLOURS[:1] * 2
) -> None:
    """Two joined dots per label, the first hollow: name in the legend to mean, low and high (or mean alone)."""
    rows, (first, second) = np.arange(len(labels)), (part["mean"] for part in pairs.values())
    axes.hlines(rows, first, second, color=GREY, lw=3, zorder=1)
    for number, (name, part) in enumerate(pairs.items()):
        colour, fill = colours[number], ("white", colours[1])[number]
        if "low" in part:
            axes.hlines(rows + (-0.17, 0.17)[number], part["low"], part["high"], color=colour, lw=1.2, alpha=0.7)
        axes.plot(part["mean"], rows, "o", ms=7, mfc=fill, mec=colour, mew=1.8, label=name, zorder=3)
    label_rows(axes, [textwrap.fill(label, 42) for label in labels])
