"""Plots of frames: differences by set, ranks of two leaderboards, panels of bars, and extrapolated lines."""

import numpy as np
import pandas as pd
import pytest

from lib.show import plot
from lib.show.tables import beside


def test_lines_of_differences_are_named_at_their_ends_and_all_but_the_first_of_a_set_are_dashed():
    rows = [("one", "one", -1, -0.2), ("one", "one", 1, 0.1), ("one", "control", 1, 0.0), ("two", "two", 1, 0.4)]
    found = pd.DataFrame(rows, columns=["set", "line", "words", "mean"]).assign(low=-0.3, high=0.5)
    (axes,) = plot.differences(found, "words", "set", "line").axes
    drawn = [line for line in axes.lines if len(line.get_xdata()) and line.get_linestyle() in ("-", "--")]
    assert [[-1, -0.2], [1, 0.1]] in [line.get_xydata().tolist() for line in drawn]
    assert {text.get_text() for text in axes.texts} == {"one", "control", "two"}
    assert [line.get_linestyle() for line in drawn].count("--") == 1
    assert axes.get_xticks().tolist() == [-1, 1]
    assert plot.differences(found[:0], "words", "set", "line") is None


def test_steep_rises_are_thick_and_steep_falls_dashed():
    rows = ["dense", "bm25", "splade", "hyde", "rerank", "hybrid_rrf", "mine"]
    means = pd.DataFrame({"one": range(7, 0, -1), "two": [1, 6, 5, 4, 3, 2, 7]}, rows)
    (axes,) = plot.rank_changes(means).axes
    lines = {line.get_ydata()[0]: line for line in axes.lines}
    assert [[*lines[place].get_ydata()] for place in (1, 7)] == [[1, 7], [7, 1]]
    assert [lines[place].get_linestyle() for place in (1, 2, 7)] == ["--", "-", "-"]
    assert [lines[place].get_linewidth() for place in (1, 2, 7)] == [2, 1, 2.5]
    assert "mine  1.00" in {text.get_text() for text in axes.texts}, "a reader's own method keeps its name"
    assert plot.rank_changes(means[:0]) is None


def test_panels_of_bars_have_a_bar_per_set_and_label():
    rows = [(metric, name, mean) for metric in ("b", "a") for name, mean in (("one", 0.2), ("two", 0.4))]
    found = pd.DataFrame(rows, columns=["metric", "set", "mean"]).assign(low=np.nan, high=np.nan)
    found.loc[found["set"] == "one", ["low", "high"]] = 0.1, 0.3
    left, right = plot.bar_panels(found, "metric", "set", ["all filings"]).axes
    assert [left.get_xlabel(), right.get_xlabel()] == ["a", "b"]
    assert sorted(bar.get_width() for bar in left.patches) == [0.2, 0.4]
    assert plot.bar_panels(found[:0], "metric", "set", []) is None


def test_a_line_is_dashed_where_it_is_extrapolated_and_named_at_its_end():
    rows = [
        ("dense", 10, 0.9, True),
        ("dense", 100, 0.8, True),
        ("dense", 100, 0.8, False),
        ("dense", 1000, 0.7, False),
    ]
    fitted = pd.DataFrame(rows, columns=["method", "pages", "recall", "is_measured"])
    (axes,) = plot.extrapolated(fitted[:2], fitted, "pages", "recall").axes
    lines = {line.get_linestyle(): line.get_xydata().tolist() for line in axes.lines}
    assert lines["-"] == [[10, 0.9], [100, 0.8]]
    assert lines["--"] == [[100, 0.8], [1000, 0.7]]
    assert lines["None"] == [[10, 0.9], [100, 0.8]], "dots, without a line"
    assert [text.get_text() for text in axes.texts] == ["Dense"]
    assert axes.texts[0].get_position() == pytest.approx((1150, 0.7))
    assert plot.extrapolated(fitted, fitted[:0], "pages", "recall") is None


def test_intervals_stand_beside_each_other():
    rows = [("dense", 84, 0.5, 0.4, 0.6), ("dense", 150, 0.3, 0.2, 0.4)]
    found = pd.DataFrame(rows, columns=["method", "n_filings", "mean", "low", "high"])
    (row,) = beside(found, "method", "n_filings").to_dict("records")
    assert row == {"84": 0.5, "84_low": 0.4, "84_high": 0.6, "150": 0.3, "150_low": 0.2, "150_high": 0.4}
