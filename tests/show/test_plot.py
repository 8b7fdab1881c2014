"""Plots of frames: what stands where, whose name is beside it, and no figure of no rows."""

import pickle

import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from lib.analysis.calibration import given_to, panels
from lib.analysis.judge import drawn_kappas
from lib.show import plot
from lib.show.figures import COLOURS, GREY
from lib.show.tables import beside

LEVELS = pd.DataFrame({"mean": [0.3, 0.2], "low": [0.2, -0.1], "high": [0.4, 0.3]}, ["dense", "bm25"])
NONE = LEVELS[:0]
LONG = pd.DataFrame(columns="set group entry metric method title way x by mean low high n is_small".split())

#: Plots of no rows.
EMPTY = {
    "dots": lambda: plot.dots(NONE),
    "dot_panels": lambda: plot.dot_panels({}),
    "pairs": lambda: plot.pairs(NONE, NONE),
    "lines": lambda: plot.lines(LONG, "x"),
    "frontier": lambda: plot.frontier(NONE, "low", "mean", []),
    "stacked": lambda: plot.stacked(NONE, {}),
    "bars": lambda: plot.bars({}, []),
    "bar_panels": lambda: plot.bar_panels(LONG, "metric", "set", []),
    "waterfall": lambda: plot.waterfall(NONE, []),
    "differences": lambda: plot.differences(LONG, "x", "set"),
    "rank_changes": lambda: plot.rank_changes(NONE),
    "extrapolated": lambda: plot.extrapolated(LONG, LONG, "x", "mean"),
    "categories": lambda: plot.categories(NONE),
    "dots_by_kind": lambda: plot.dots_by_kind(LONG, ["written"]),
    "scatter": lambda: plot.scatter(NONE, "low", "mean"),
    "forest": lambda: plot.forest(NONE, "mean"),
    "sweep": lambda: plot.sweep(LONG, "x", "by"),
    "curves": lambda: plot.curves(LONG, "x", "mean", "set", "by"),
    "agreement": lambda: plot.agreement(LONG, "x", "mean", "by"),
    "groups": lambda: plot.groups(LONG, {}),
    "histogram": lambda: plot.histogram(pd.Series([], dtype=float)),
}


@pytest.mark.parametrize("drawn", EMPTY.values(), ids=EMPTY)
def test_no_rows_are_no_figure(drawn):
    assert drawn() is None


def rows_of(axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def texts(axes) -> list[str]:
    return [one.get_text() for one in axes.texts]


def marked(axes, marker: str) -> list[list[float]]:
    """Where lines of this mark stand on the x-axis."""
    return [line.get_xdata().tolist() for line in axes.lines if line.get_marker() == marker]


def test_dots_have_a_row_per_method_by_its_title_and_some_are_hollow():
    figure = plot.dot_panels({"one": LEVELS.assign(filled=[True, False]), "other": LEVELS}, "recall@5")
    assert [axes.get_title() for axes in figure.axes] == ["one", "other"]
    assert rows_of(figure.axes[0]) == ["Dense", "BM25"]
    first, other = (axes.collections[-1] for axes in figure.axes)
    assert first.get_offsets()[:, 0].tolist() == [0.3, 0.2]
    assert [len({*map(tuple, dots.get_facecolors())}) for dots in (first, other)] == [2, 1]


def test_on_the_frontier_no_row_has_as_much_for_less():
    frame = pd.DataFrame({"s": [1.0, 2.0, 2.0, 4.0], "recall": [0.2, 0.1, 0.4, 0.4]}, [*"abcd"])
    assert plot.on_frontier(frame, "s", "recall").tolist() == [True, False, True, False]
    (axes,) = plot.frontier(frame, "s", "recall", ["a", "d"], filled=["d"]).axes
    assert texts(axes) == ["a", "d"]


def test_parts_of_a_bar_add_to_one_and_only_those_that_are_drawn_are_named():
    colours = {"found": "#08519C", "chunk": "#4292C6", "page": "#FDAE61", "document": "#E6E6E6"}
    shares = pd.DataFrame([[0.1, 0.0, 0.6, 0.3], [0.5, 0.0, 0.4, 0.1]], ["dense", "Mine"], [*colours])
    figure = plot.stacked(shares, colours)
    (axes,) = figure.axes
    assert [bar.get_x() + bar.get_width() for bar in axes.containers[-1]] == pytest.approx([1, 1])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["found", "page", "document"]
    assert len(pickle.loads(pickle.dumps(figure)).findobj(Rectangle)) == len(figure.findobj(Rectangle))


def test_a_step_of_a_waterfall_begins_where_the_one_above_ended():
    (axes,) = plot.waterfall(LEVELS, ["0.30", "0.20 (-0.10)"]).axes
    assert [(bar.get_x(), round(bar.get_width(), 9)) for bar in axes.containers[0]] == [(0, 0.3), (0.3, -0.1)]


def test_groups_have_a_row_each_and_a_mark_per_run():
    rows = [("large", "a", 0.2, 20), ("large", "b", 0.6, 20), ("other", "a", 0.3, 12), ("other", "b", 0.7, 12)]
    frame = pd.DataFrame(rows, columns=["group", "entry", "mean", "n"]).assign(metric="page_recall", low=0.1, high=0.8)
    (axes,) = plot.groups(frame, {"a": "Dense", "b": "Dense, filing given"}).axes
    assert rows_of(axes) == ["large (n = 20)", "other (n = 12)"]
    dots = [part for part in axes.collections if len(part.get_offsets()) and hasattr(part, "get_sizes")]
    assert [part.get_offsets()[:, 0].tolist() for part in dots] == [[0.2, 0.3], [0.6, 0.7]]


@pytest.mark.parametrize(("recalls", "n_lines"), [([0.5, 0.5], 0), ([0.2, 0.4], 1)])
def test_the_line_of_least_squares_is_drawn_only_where_runs_differ_in_page_recall(recalls, n_lines):
    frame = pd.DataFrame({"found": recalls, "right": 0.5}, ["dense", "bm25"])
    (axes,) = plot.scatter(frame, "found", "right", ["bm25"], named=str).axes
    assert (len(axes.lines), texts(axes)) == (n_lines, ["bm25"])


def test_a_forest_has_its_groups_in_colours_and_marks():
    rows = pd.DataFrame({"mean": [0.3, 0.2, -0.1], "low": -0.2, "high": 0.4}, ["a", "a long text " * 9, "b"])
    rows = rows.assign(verdict=["holds", "holds", "inconclusive"], amount=[0.4, None, None])
    (axes,) = plot.forest(rows, "verdict", "amount", "difference", grey=["inconclusive"]).axes
    assert marked(axes, "o") == [[0.3, 0.2], [-0.1]]
    assert [line.get_color() for line in axes.lines if line.get_marker() == "o"] == [COLOURS[0], GREY]
    assert texts(axes) == ["holds", "inconclusive"]
    assert marked(axes, "D")[0][0] == 0.4


def test_a_sweep_marks_the_highest_point_of_each_line_and_a_value():
    points = pd.DataFrame({"alpha": [0.0, 0.5, 1.0] * 2, "by": ["a"] * 3 + ["b"] * 3})
    points["mean"] = [0.1, 0.3, 0.2, 0.4, 0.2, 0.1]
    (axes,) = plot.sweep(points.assign(low=0.0, high=0.5), "alpha", "by", 0.85, named=str.upper).axes
    assert [tops[0] for tops in marked(axes, "o")] == [0.5, 0.0]
    assert axes.lines[-1].get_xdata() == [0.85, 0.85]


def test_a_line_is_dashed_where_it_is_extrapolated_and_named_at_its_end():
    rows = [("dense", 10, 0.9), ("dense", 100, 0.8), ("dense", 100, 0.8), ("dense", 1000, 0.7)]
    fitted = pd.DataFrame(rows, columns=["method", "pages", "recall"]).assign(is_measured=[True, True, False, False])
    (axes,) = plot.extrapolated(fitted[:2], fitted, "pages", "recall").axes
    lines = {line.get_linestyle(): line.get_xydata().tolist() for line in axes.lines}
    assert lines["-"] == lines["None"] == [[10, 0.9], [100, 0.8]], "a line and dots"
    assert lines["--"] == [[100, 0.8], [1000, 0.7]]
    assert texts(axes) == ["Dense"]


def test_intervals_stand_beside_each_other():
    rows = [("dense", 84, 0.5, 0.4, 0.6), ("dense", 150, 0.3, 0.2, 0.4)]
    found = pd.DataFrame(rows, columns=["method", "n_filings", "mean", "low", "high"])
    (row,) = beside(found, "method", "n_filings").to_dict("records")
    assert row == {"84": 0.5, "84_low": 0.4, "84_high": 0.6, "150": 0.3, "150_low": 0.2, "150_high": 0.4}


def test_kappas_are_laid_out_by_kind_and_by_labelling():
    rows = [("f1", "text", 3, 0.2), ("f1", "number", 2, 0.5), ("right", "number", 2, 0.9), ("f1", "all", 5, 0)]
    agreed = pd.DataFrame(rows, columns=["metric", "kind", "n", "kappa"]).assign(kappa_low=0.0, kappa_high=1.0)
    found = panels(agreed)
    assert [*found] == ["κ, text (n = 3)", "κ, number (n = 2)"]
    assert found["κ, number (n = 2)"]["filled"].to_dict() == {"f1": False, "right": True}
    assert found["κ, text (n = 3)"]["mean"].isna().tolist() == [False, True]
    rows = pd.DataFrame({"labelling": ["judge", "gold page"], "hand": "useful", "kappa": [0.0, 0.4]})
    assert drawn_kappas(rows)["filled"].to_dict() == {"judge – useful": False, "gold page – useful": True}


def test_what_a_system_was_given_is_in_its_name():
    found = [given_to(name) for name in ("gpt4_closedBook", "llama2_sharedStore", "gpt4_inContext", "gpt4_oracle", "x")]
    assert found == ["no filing", "a search", "the whole filing", "the gold pages", ""]
