"""What a figure is laid out for besides the book's column: a phone; and which of its axes show a page of a filing."""

import textwrap
from functools import partial
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

PHONE_WIDTH, NARROW = 4.1, "narrow"  # inches of a figure on a phone, and the folder of those
#: The gids of axes that show a page: of the demo, which may be published, and of any other filing.
PAGES = OF_DEMO, OF_FILING = "page-of-the-demo", "page-of-a-filing"


def for_phone(drawn: plt.Figure) -> bool:
    """Lay a figure out again, PHONE_WIDTH wide: panels below each other, legends above, labels in short lines. Returns
    whether it can be read: no more texts overlap than before, and the drawing has room."""
    panels = [axes for axes in drawn.axes if axes.get_subplotspec()]
    fill = partial(textwrap.fill, break_long_words=False)  # within a word may stand an escape
    n_overlaps, height = _overlaps(drawn), drawn.get_figheight()
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
    return _overlaps(drawn) <= n_overlaps and all(axes.get_position().width > 0.3 for axes in panels)


def _lines_high(axes: plt.Axes, lines: list[int]) -> float:
    """How many lines high axes must be so that their rows' names, of so many lines each, do not overlap."""
    room = np.abs(np.diff(axes.get_yticks())) / abs(np.diff(axes.get_ylim())[0])  # shares of the height
    return max([float(lines[0]), *(np.add(lines[1:], lines[:-1]) / 2 / room)])


def _overlaps(drawn: plt.Figure) -> int:
    """How many pairs of a figure's texts overlap."""
    FigureCanvasAgg(drawn).draw()
    shown = (text for text in drawn.findobj(Text) if text.get_visible() and text.get_text().strip())
    places = [text.get_window_extent().padded(-2) for text in shown]
    return sum(one.overlaps(other) for one, other in combinations(places, 2))
