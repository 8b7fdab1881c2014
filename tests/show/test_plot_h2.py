"""Plots of frames: what is drawn of a few rows."""

import numpy as np
import pandas as pd
import pytest

from lib.show import plot


def test_a_line_per_set_up_is_named_at_its_right_end_and_the_names_keep_apart():
    frame = pd.DataFrame({"one": [0.2, 0.5], "other": [0.1, 0.5]}, ["not matched", "matched"])
    (axes,) = plot.categories(frame, "recall", gap=0.04).axes
    assert [[*line.get_ydata()] for line in axes.lines] == [[0.2, 0.5], [0.1, 0.5]]
    first, second = (text.get_position()[1] for text in axes.texts)
    assert abs(first - second) == pytest.approx(0.04)  # around 0.5, where both end
    assert (first + second) / 2 == pytest.approx(0.5)
    assert [text.get_text() for text in axes.get_xticklabels()] == [*frame.index]
    assert plot.categories(frame[:0]) is None


def test_lines_stand_on_a_log_axis_where_asked_and_a_single_point_is_named_beyond_the_last_x():
    rows = [("a", "whole", 5, 0.1), ("a", "whole", 50, 0.6), ("a", "point", 20, 0.3)]
    frame = pd.DataFrame(rows, columns=["panel", "part", "x", "mean"]).assign(low=0.0, high=1.0)
    (axes,) = plot.lines(frame, "x", "panel", "part", named=str, ylabel="share", is_log=True).axes
    assert (axes.get_xscale(), axes.get_ylabel()) == ("log", "share")
    assert [text.xyann[0] for text in axes.texts] == [54, 54]  # 1.08 times 50
    assert [text.xy for text in axes.texts] == [(50, 0.6), (20, 0.3)]


@pytest.mark.parametrize(("recalls", "n_lines"), [([0.5], 0), ([0.5, 0.5], 0), ([0.2, 0.4], 1)])
def test_the_line_of_least_squares_is_drawn_only_where_runs_differ_in_page_recall(recalls, n_lines):
    frame = pd.DataFrame({"found": recalls, "right": 0.5}, ["dense", "bm25"][: len(recalls)])
    (axes,) = plot.scatter(frame, "found", "right", ["bm25"], named=str).axes
    assert len(axes.lines) == n_lines
    assert [text.get_text() for text in axes.texts] == ["bm25"] * ("bm25" in frame.index)
    if n_lines:
        assert axes.lines[0].get_slope() == pytest.approx(0, abs=1e-9)  # both have 0.5 right


def test_dots_of_two_ways_stand_in_a_row_per_context_and_a_panel_per_question_set():
    rows = [("first", "none", "written", 0.1), ("first", "gold", "written", 0.2)]
    rows += [("first", "gold", "calculated", 0.7), ("second", "gold", "calculated", 0.3)]
    frame = pd.DataFrame(rows, columns=["set", "title", "way", "mean"]).assign(low=0.0, high=1.0, n=9)
    first, second = plot.dots_by_kind(frame, ["calculated", "written"]).axes
    assert [text.get_text() for text in first.texts] == ["0.70 calculated", "0.10 written", "0.20 written"]
    assert [round(text.xy[1], 2) for text in first.texts] == [0.84, 0.18, 1.18]  # gold is the second row
    assert [text.get_text() for text in second.texts] == ["0.30 calculated"]
    assert second.get_title(loc="left") == "second, n = 9"
    assert plot.dots_by_kind(frame[:0], ["written"]) is None


def test_numbers_stand_in_the_middle_of_wide_parts():
    frame = pd.DataFrame({"lost": [1.0, 30], "right": [39.0, 10]}, ["a", "b"])
    figure = plot.stacked(frame, {"lost": "#882255", "right": "#BBBBBB"}, form="{:.0f}", named=str)
    found = {text.get_text(): text.get_position() for text in figure.axes[0].texts}
    assert found == {"30": (15, 1), "39": (20.5, 0), "10": (35, 1)}  # 1 of 40 is too narrow
    assert not np.isnan([*found.values()]).any()
