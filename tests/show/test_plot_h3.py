"""Plots of frames in panels, in rows of texts and over a sweep: what is drawn, and nothing of no rows."""

import pandas as pd
import pytest
from matplotlib.colors import to_hex

from lib.show import plot
from lib.show.figures import COLOURS, GREY


def levels(*means: float, names=("bm25", "dense")) -> pd.DataFrame:
    return pd.DataFrame(
        {"mean": means, "low": [one - 0.1 for one in means], "high": [one + 0.1 for one in means]}, names
    )


def texts(axes) -> list[str]:
    return [one.get_text() for one in axes.texts]


def test_a_panel_has_a_dot_per_method_and_the_first_names_them():
    figure = plot.dot_panels({"one (n = 2)": levels(0.2, 0.4), "other": levels(0.3, 0.5)}, "recall", str.upper)
    assert [axes.get_title() for axes in figure.axes] == ["one (n = 2)", "other"]
    assert [axes.collections[-1].get_offsets()[:, 0].tolist() for axes in figure.axes] == [[0.2, 0.4], [0.3, 0.5]]
    assert [one.get_text() for one in figure.axes[0].get_yticklabels()] == ["BM25", "DENSE"]


def test_counts_have_a_panel_per_column_and_the_last_rows_are_grey_below_a_line():
    counts = pd.DataFrame({"first paper": [3, 1], "second": [0, 2]}, ["holds", "not measured"])
    one, other = plot.count_panels(counts, 1).axes
    assert [bar.get_width() for bar in one.patches] == [3, 1]
    assert [to_hex(bar.get_facecolor()).upper() for bar in one.patches] == [COLOURS[0], GREY]
    assert (texts(other), other.lines[0].get_ydata()) == (["0", "2"], [0.5, 0.5])
    assert len(plot.count_panels(counts).axes[0].lines) == 0


def test_a_forest_has_its_groups_in_colours_a_zero_line_and_marks():
    rows = levels(0.3, 0.2, -0.1, names=["a short text", "a long text " * 9, "another"])
    rows = rows.assign(verdict=["holds", "holds", "undecided"], amount=[0.4, None, None])
    (axes,) = plot.forest(rows, "verdict", "amount", "difference", width=40).axes
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert [line.get_xdata().tolist() for line in dots] == [[0.3, 0.2], [-0.1]]
    assert [line.get_color() for line in dots] == [*COLOURS[:2]]
    assert dots[0].get_ydata().tolist() == [0.5, 2.0]  # the second text takes two lines
    assert texts(axes) == ["holds", "undecided"]
    assert axes.get_yticklabels()[1].get_text().endswith("…")
    assert next(line.get_xdata().tolist() for line in axes.lines if line.get_marker() == "D")[0] == 0.4


def test_a_sweep_marks_the_highest_point_of_each_line_and_a_value():
    points = pd.DataFrame({"alpha": [0.0, 0.5, 1.0] * 2, "by": ["a"] * 3 + ["b"] * 3})
    points["mean"] = [0.1, 0.3, 0.2, 0.4, 0.2, 0.1]
    points = points.assign(low=points["mean"] - 0.1, high=points["mean"] + 0.1)
    (axes,) = plot.sweep(points, "alpha", "by", 0.85, named=str.upper).axes
    tops = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if line.get_marker() == "o"]
    assert tops == [(0.5, 0.3), (0.0, 0.4)]
    assert [one.get_text() for one in axes.get_legend().get_texts()] == ["A", "B"]
    assert axes.lines[-1].get_xdata() == [0.85, 0.85]


@pytest.mark.parametrize(
    "drawn",
    [
        lambda: plot.dot_panels({}),
        lambda: plot.count_panels(pd.DataFrame()),
        lambda: plot.forest(levels(names=[]).assign(verdict=[]), "verdict"),
        lambda: plot.sweep(levels(names=[]), "alpha", "by"),
    ],
)
def test_nothing_is_drawn_of_no_rows(drawn):
    assert drawn() is None
