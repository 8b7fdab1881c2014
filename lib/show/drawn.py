"""What a drawn figure holds: its smallest type, names in legends that nothing is drawn for, a page of a filing."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

#: Inches that a figure has in the book's column: one that is wider is shown smaller, and its type with it.
SHOWN_WIDTH = 7.6
OF_DEMO = "page-of-the-demo"  # the gid of axes whose page may be published


def smallest_type(drawn: plt.Figure) -> str:
    """The size in points of a figure's smallest type where the book shows it, in a column of SHOWN_WIDTH inches."""
    drawn.canvas.draw()
    width = drawn.get_tightbbox(drawn.canvas.get_renderer()).width
    texts = [text for text in drawn.findobj(Text) if text.get_visible() and text.get_text().strip()]
    sizes = [text.get_fontsize() for text in texts]
    return f"{min(sizes, default=10) * min(1, SHOWN_WIDTH / width):.1f}"


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
