"""What a drawn figure holds: its smallest type, names in legends that nothing is drawn for, a page of a filing; and its
layout for a phone."""

import textwrap
from functools import partial
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from lib.show.figures import SHOWN_WIDTH

PHONE_WIDTH, NARROW = 4.1, "narrow"  # inches of a figure on a phone, and the folder of those
OF_DEMO = "page-of-the-demo"  # the gid of axes whose page may be published


def smallest_type(drawn: plt.Figure) -> str:
    """The size in points of a figure's smallest type where the book shows it, in a column of SHOWN_WIDTH inches."""
    width = drawn.get_tightbbox(laid_out(drawn)).width
    texts = [text for text in drawn.findobj(Text) if text.get_visible() and text.get_text().strip()]
    sizes = [text.get_fontsize() for text in texts]
    return f"{min(sizes, default=10) * min(1, SHOWN_WIDTH / width):.1f}"


def laid_out(drawn: plt.Figure) -> RendererAgg:
    """Lay a figure out, whatever showed it last; what it was measured with."""
    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    return canvas.get_renderer()


def not_drawn(drawn: plt.Figure) -> list[str]:
    """The entries of a figure's legends that nothing is drawn for: no artist with data has one of their colours."""
    parts = [part for axes in drawn.axes for part in (*axes.lines, *axes.collections, *axes.patches)]
    shown = set().union(*map(_colours, parts))
    legends = [*drawn.legends, *filter(None, (axes.get_legend() for axes in drawn.axes))]
    entries = [one for legend in legends for one in zip(legend.get_texts(), legend.legend_handles, strict=True)]
    return [text.get_text() for text, handle in entries if not _colours(handle) & shown]


def _colours(part: Artist) -> set[str]:
    """The colours of a line, a bar or dots; none of one that has no data."""
    if isinstance(part, Line2D):
        given = [part.get_color(), part.get_markeredgecolor()] if len(part.get_xdata()) else []
    elif isinstance(part, Rectangle):
        given = [part.get_facecolor()] if part.get_width() * part.get_height() else []
    elif isinstance(part, Collection):
        given = [*part.get_facecolor(), *part.get_edgecolor()] if len(part.get_offsets()) else []
    else:
        given = [part.get_facecolor(), part.get_edgecolor()]
    return {to_hex(one) for one in given if isinstance(one, str) or len(one)}


def pages_in(drawn: plt.Figure) -> list[plt.Axes]:
    """The axes of a figure that show a page of a filing: a coloured picture, or more text than a label."""
    return [axes for axes in drawn.axes if _has_picture(axes) or any(len(one.get_text()) > 300 for one in axes.texts)]


def _has_picture(axes: plt.Axes) -> bool:
    pictures = (one.get_array() for one in axes.images)
    return any(one.dtype == np.uint8 and one.ndim == 3 for one in pictures)


def for_phone(drawn: plt.Figure) -> bool:
    """Lay a figure out again, PHONE_WIDTH wide: panels below each other, legends above, labels in short lines. Returns
    whether it can be read: no more texts meet than before, and the drawing has room."""
    panels = [axes for axes in drawn.axes if axes.get_subplotspec()]
    fill = partial(textwrap.fill, break_long_words=False)  # within a word may stand an escape
    met, height = _meeting(drawn), drawn.get_figheight()
    if len(panels) > 1 and all(axes.get_subplotspec().rowspan.start == 0 for axes in panels):
        height *= len(panels)
        for axes, place in zip(panels, drawn.add_gridspec(len(panels), 1), strict=True):
            axes.set_subplotspec(place)
            axes.tick_params(labelleft=True)
    for legend in [*drawn.legends, *filter(None, (axes.get_legend() for axes in panels))]:
        names = [text.get_text() for text in legend.get_texts()]
        n_columns = 1 if max(map(len, names)) > 20 else 2
        legend.remove()
        drawn.legend(legend.legend_handles, names, loc="outside upper left", ncols=n_columns, fontsize=9)
        height += 0.2 * len(names) / n_columns
    for axes in panels:
        if (names := [one.get_text() for one in axes.get_xticklabels()]) and names[0][:1].isalpha():
            axes.set_xticks(axes.get_xticks(), [fill(name, 8) for name in names])
        axes.tick_params(axis="x", labelsize=8)
        names = [fill(one.get_text().replace("\n", " "), 26) for one in axes.get_yticklabels()]
        if any(len(name) > 8 for name in names):
            axes.set_yticks(axes.get_yticks(), names, fontsize=8)
            height = max(height, 0.15 * _lines_high(axes, [name.count("\n") + 1 for name in names]) + 1)
        axes.set_xlabel(fill(axes.get_xlabel(), 38))
        for text in axes.texts:
            text.set_fontsize(min(text.get_fontsize(), 8.5))
    drawn.set_size_inches(PHONE_WIDTH, height)
    drawn.set_layout_engine("constrained")
    return _meeting(drawn) <= met and all(axes.get_position().width > 0.3 for axes in panels)


def _lines_high(axes: plt.Axes, lines: list[int]) -> float:
    """How many lines high axes are whose rows' names, of so many lines, just do not meet."""
    room = np.abs(np.diff(axes.get_yticks())) / abs(np.diff(axes.get_ylim())[0])  # shares of the height
    return max([float(lines[0]), *(np.add(lines[1:], lines[:-1]) / 2 / room)])


def _meeting(drawn: plt.Figure) -> int:
    """How many pairs of a figure's texts overlap."""
    laid_out(drawn)
    shown = (text for text in drawn.findobj(Text) if text.get_visible() and text.get_text().strip())
    places = [text.get_window_extent().padded(-2) for text in shown]
    return sum(one.overlaps(other) for one, other in combinations(places, 2))
