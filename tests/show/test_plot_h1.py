"""Stacked bars, groups and histograms of frames; several outputs as one."""

import pickle

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from lib.show import plot
from lib.show.drawn import not_drawn
from lib.show.output import NOTHING, joined, say, show
from lib.words import NeedsFilings

SHARES = pd.DataFrame([[0.1, 0.0, 0.6, 0.3], [0.5, 0.1, 0.3, 0.1]], ["dense", "Mine"], [*plot.STEP_COLOURS])


def test_parts_of_a_bar_add_to_one_and_differ_in_lightness():
    (axes,) = plot.stacked(SHARES, plot.STEP_COLOURS).axes
    assert [bar.get_x() + bar.get_width() for bar in axes.containers[-1]] == pytest.approx([1, 1])
    assert [bar.get_width() for bar in axes.containers[0]] == [0.1, 0.5]
    light = [np.dot(to_rgb(colour), (0.3, 0.6, 0.1)) for colour in plot.STEP_COLOURS.values()]
    assert min(np.diff(light)) > 0.02


def test_diamonds_below_stacked_bars_are_named_and_a_part_that_no_row_has_is_not():
    marks = pd.Series([0.4, 0.8], SHARES.index, name="filing given")
    figure = plot.stacked(SHARES.assign(**{"lost: chunk": 0.0}), plot.STEP_COLOURS, marks=marks)
    (axes,) = figure.axes
    (diamonds,) = axes.lines
    assert [*diamonds.get_xdata()] == [0.4, 0.8]
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["found", "lost: page", "lost: document", "filing given"]
    assert not_drawn(figure) == []
    assert {text.get_text() for text in axes.texts} == {"0.10", "0.50", "0.60", "0.30"}
    assert len(pickle.loads(pickle.dumps(figure)).findobj(Rectangle)) == len(figure.findobj(Rectangle))
    assert plot.stacked(SHARES[:0], plot.STEP_COLOURS) is None


def test_small_groups_are_hollow_and_marked():
    rows = [
        (group, entry, "page_recall", mean, mean - 0.1, mean + 0.1, n, n < 10)
        for group, n in (("large", 20), ("small", 3))
        for entry, mean in (("a", 0.2), ("b", 0.6))
    ]
    frame = pd.DataFrame(rows, columns="group entry metric mean low high n is_small".split())
    (axes,) = plot.groups(frame, {"a": "Dense", "b": "Dense, filing given"}).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["large (n=20)", "small° (n=3)"]
    first, second = (part for part in axes.collections if len(part.get_offsets()) and hasattr(part, "get_sizes"))
    assert first.get_offsets()[:, 0].tolist() == [0.2, 0.2]
    assert [tuple(fill[:3]) == (1, 1, 1) for fill in second.get_facecolor()] == [False, True]
    assert plot.groups(frame[:0], {}) is None


def test_a_histogram_shows_the_median():
    figure = plot.histogram(pd.Series([1, 2, 9]), "pages", "filings")
    (axes,) = figure.axes
    assert [text.get_text().strip() for text in axes.texts] == ["median 2"]
    assert sum(bar.get_height() for bar in axes.patches) == 3
    assert figure.alt == "Histogram from 1 to 9, median 2."
    assert plot.histogram(pd.Series([], dtype=float)) is None


def test_several_outputs_are_one_and_a_lack_of_filings_takes_their_place(study):
    parts = [say(study, "one"), show(study, pd.DataFrame({"n": [1]}), "few", "Caption.")]
    assert joined(parts).markdown.startswith("one\n::::{table} Caption.")

    def lacking():
        yield say(study, "one")
        raise NeedsFilings("a page needs them")

    assert joined(lacking()).markdown == "*Not shown: a page needs them.*"
    assert joined([]).markdown == NOTHING
