"""Plots of frames: what stands where, whose name is beside it, and no figure of no rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from lib.analysis.calibration import given_to, panels
from lib.analysis.judged import drawn_kappas
from lib.show import plot
from lib.show.figures import COLOURS
from lib.show.tables import beside

LEVELS = pd.DataFrame({"mean": [0.3, 0.2], "low": [0.2, -0.1], "high": [0.4, 0.3]}, ["dense", "bm25"])
NONE = LEVELS[:0]
LONG = pd.DataFrame(columns="set group entry metric method title way x by mean low high n is_small".split())


@pytest.mark.parametrize(
    "drawn",
    [
        lambda: plot.dots(NONE),
        lambda: plot.dot_panels({}),
        lambda: plot.pairs(NONE, NONE),
        lambda: plot.pair_panels({}),
        lambda: plot.lines(LONG, "x"),
        lambda: plot.frontier(NONE, "low", "mean", []),
        lambda: plot.stacked(NONE, {}),
        lambda: plot.bars({}, []),
        lambda: plot.bar_panels(LONG, "metric", "set", []),
        lambda: plot.waterfall(NONE, []),
        lambda: plot.differences(LONG, "x", "set"),
        lambda: plot.rank_changes(NONE),
        lambda: plot.extrapolated(LONG, LONG, "x", "mean"),
        lambda: plot.categories(NONE),
        lambda: plot.dots_by_kind(LONG, ["written"]),
        lambda: plot.scatter(NONE, "low", "mean"),
        lambda: plot.count_panels(NONE),
        lambda: plot.forest(NONE, "mean"),
        lambda: plot.sweep(LONG, "x", "by"),
        lambda: plot.curves(LONG, "x", "mean", "set", "by"),
        lambda: plot.agreement(LONG, "x", "mean", "by"),
        lambda: plot.groups(LONG, {}),
        lambda: plot.histogram(pd.Series([], dtype=float)),
    ],
)
def test_no_rows_are_no_figure(drawn):
    assert drawn() is None


def rows_of(axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def texts(axes) -> list[str]:
    return [one.get_text() for one in axes.texts]


def test_dots_have_a_row_per_method_by_its_title_and_some_are_hollow():
    figure = plot.dot_panels({"one": LEVELS.assign(filled=[True, False]), "other": LEVELS}, "recall@5")
    first, other = figure.axes
    assert rows_of(first) == ["Dense", "BM25"]
    assert first.collections[-1].get_offsets()[:, 0].tolist() == [0.3, 0.2]
    assert [axes.get_title() for axes in figure.axes] == ["one", "other"]
    assert [len({*map(tuple, axes.collections[-1].get_facecolors())}) for axes in (first, other)] == [2, 1]
    assert len(first.lines) == 1, "at zero, as an interval reaches below it"


def test_pairs_are_hollow_before_and_filled_after_and_begin_at_zero_unless_one_is_below_it():
    figure = plot.pairs(LEVELS, LEVELS.assign(mean=[0.5, float("nan")]), ["all filings", "matched"])
    (axes,) = figure.axes
    assert [line.get_markerfacecolor() for line in axes.lines[:2]] == ["white", COLOURS[0]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["all filings", "matched"]
    above = LEVELS.clip(lower=0.1)
    assert plot.pairs(LEVELS, LEVELS).axes[0].get_xlim()[0] < -0.1
    assert plot.pairs(above, above).axes[0].get_xlim()[0] == 0
    shown = plot.pair_panels({"lost": [above, above], "found": [above, above]})
    assert [axes.get_xlabel() for axes in shown.axes] == ["lost", "found"]


def test_lines_are_in_panels_and_named_in_the_last():
    rows = [(m, name, k, k / 20) for m in ("doc_recall", "page_recall") for name in LEVELS.index for k in (1, 5, 20)]
    curve = pd.DataFrame(rows, columns=["metric", "method", "k", "mean"])
    figure = plot.lines(curve.assign(low=curve["mean"], high=curve["mean"]), "k", is_log=True)
    assert [axes.get_title() for axes in figure.axes] == ["Document recall", "Page recall"]
    assert [len(axes.lines) for axes in figure.axes] == [2, 2]
    assert [texts(axes) for axes in figure.axes] == [[], ["Dense", "BM25"]]
    assert figure.axes[0].get_xscale() == "log"


def test_on_the_frontier_no_row_has_as_much_for_less():
    frame = pd.DataFrame({"s": [1.0, 2.0, 2.0, 4.0], "recall": [0.2, 0.1, 0.4, 0.4]}, [*"abcd"])
    assert plot.on_frontier(frame, "s", "recall").tolist() == [True, False, True, False]
    (axes,) = plot.frontier(frame, "s", "recall", ["a", "d"], filled=["d"]).axes
    assert {text.get_text(): text.get_ha() for text in axes.texts} == {"a": "right", "d": "left"}


def test_parts_of_a_bar_add_to_one_and_only_those_that_are_drawn_are_named():
    shares = pd.DataFrame([[0.1, 0.0, 0.6, 0.3], [0.5, 0.0, 0.4, 0.1]], ["dense", "Mine"], [*plot.STEP_COLOURS])
    figure = plot.stacked(shares, plot.STEP_COLOURS, marks=pd.Series([0.4, 0.8], shares.index, name="filing given"))
    (axes,) = figure.axes
    assert [bar.get_x() + bar.get_width() for bar in axes.containers[-1]] == pytest.approx([1, 1])
    assert [*axes.lines[0].get_xdata()] == [0.4, 0.8]
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["found", "lost: page", "lost: document", "filing given"]
    assert len(pickle.loads(pickle.dumps(figure)).findobj(Rectangle)) == len(figure.findobj(Rectangle))
    assert [plot.ink_on(colour) for colour in ("#08519C", "#E6E6E6")] == ["white", "#222222"]


def test_numbers_stand_in_the_middle_of_wide_parts():
    frame = pd.DataFrame({"lost": [1.0, 30], "right": [39.0, 10]}, ["a", "b"])
    figure = plot.stacked(frame, {"lost": "#882255", "right": "#BBBBBB"}, form="{:.0f}", named=str)
    found = {text.get_text(): text.get_position() for text in figure.axes[0].texts}
    assert found == {"30": (15, 1), "39": (20.5, 0), "10": (35, 1)}  # 1 of 40 is too narrow


def test_a_step_of_a_waterfall_begins_where_the_one_above_ended():
    (axes,) = plot.waterfall(LEVELS, ["0.30", "0.20 (-0.10)"]).axes
    assert [(bar.get_x(), round(bar.get_width(), 9)) for bar in axes.containers[0]] == [(0, 0.3), (0.3, -0.1)]


def test_small_groups_are_hollow_and_marked():
    rows = [
        (group, entry, "page_recall", mean, mean - 0.1, mean + 0.1, n, n < 10)
        for group, n in (("large", 20), ("small", 3))
        for entry, mean in (("a", 0.2), ("b", 0.6))
    ]
    frame = pd.DataFrame(rows, columns="group entry metric mean low high n is_small".split())
    (axes,) = plot.groups(frame, {"a": "Dense", "b": "Dense, filing given"}).axes
    assert rows_of(axes) == ["large (n=20)", "small° (n=3)"]
    first, second = (part for part in axes.collections if len(part.get_offsets()) and hasattr(part, "get_sizes"))
    assert first.get_offsets()[:, 0].tolist() == [0.2, 0.2]
    assert [tuple(fill[:3]) == (1, 1, 1) for fill in second.get_facecolor()] == [False, True]


def test_a_histogram_shows_the_median():
    figure = plot.histogram(pd.Series([1, 2, 9]), "pages", "filings")
    assert sum(bar.get_height() for bar in figure.axes[0].patches) == 3
    assert figure.alt == "Histogram from 1 to 9, median 2."


def test_a_line_per_set_up_is_named_at_its_right_end_and_the_names_keep_apart():
    frame = pd.DataFrame({"one": [0.2, 0.5], "other": [0.1, 0.5]}, ["not matched", "matched"])
    (axes,) = plot.categories(frame, "recall", gap=0.04).axes
    assert [[*line.get_ydata()] for line in axes.lines] == [[0.2, 0.5], [0.1, 0.5]]
    assert [text.get_position()[1] for text in axes.texts] == pytest.approx([0.48, 0.52])  # around 0.5


@pytest.mark.parametrize(("recalls", "n_lines"), [([0.5, 0.5], 0), ([0.2, 0.4], 1)])
def test_the_line_of_least_squares_is_drawn_only_where_runs_differ_in_page_recall(recalls, n_lines):
    frame = pd.DataFrame({"found": recalls, "right": 0.5}, ["dense", "bm25"])
    (axes,) = plot.scatter(frame, "found", "right", ["bm25"], named=str).axes
    assert (len(axes.lines), texts(axes)) == (n_lines, ["bm25"])


def test_dots_of_two_ways_stand_in_a_row_per_context_and_a_panel_per_question_set():
    rows = [("first", "none", "written", 0.1), ("first", "gold", "written", 0.2)]
    rows += [("first", "gold", "calculated", 0.7), ("second", "gold", "calculated", 0.3)]
    frame = pd.DataFrame(rows, columns=["set", "title", "way", "mean"]).assign(low=0.0, high=1.0, n=9)
    first, second = plot.dots_by_kind(frame, ["calculated", "written"]).axes
    assert [texts(first), texts(second)] == [["0.70 calculated", "0.10 written", "0.20 written"], ["0.30 calculated"]]
    assert [round(text.xy[1]) for text in first.texts] == [1, 0, 1]  # gold is the second row
    assert second.get_title(loc="left") == "second, n = 9"


def test_counts_have_a_panel_per_column_and_their_numbers():
    one, other = plot.count_panels(pd.DataFrame({"first": [3, 1], "second": [0, 2]}, ["holds", "not measured"]), 1).axes
    assert [bar.get_width() for bar in one.patches] == [3, 1]
    assert texts(other) == ["0", "2"]


def test_a_forest_has_its_groups_in_colours_and_marks():
    rows = pd.DataFrame({"mean": [0.3, 0.2, -0.1], "low": -0.2, "high": 0.4}, ["a", "a long text " * 9, "b"])
    rows = rows.assign(verdict=["holds", "holds", "undecided"], amount=[0.4, None, None])
    (axes,) = plot.forest(rows, "verdict", "amount", "difference", width=40).axes
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert [line.get_xdata().tolist() for line in dots] == [[0.3, 0.2], [-0.1]]
    assert [line.get_color() for line in dots] == [*COLOURS[:2]]
    assert texts(axes) == ["holds", "undecided"]
    assert next(line.get_xdata().tolist() for line in axes.lines if line.get_marker() == "D")[0] == 0.4


def test_a_sweep_marks_the_highest_point_of_each_line_and_a_value():
    points = pd.DataFrame({"alpha": [0.0, 0.5, 1.0] * 2, "by": ["a"] * 3 + ["b"] * 3})
    points["mean"] = [0.1, 0.3, 0.2, 0.4, 0.2, 0.1]
    (axes,) = plot.sweep(points.assign(low=0.0, high=0.5), "alpha", "by", 0.85, named=str.upper).axes
    tops = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if line.get_marker() == "o"]
    assert tops == [(0.5, 0.3), (0.0, 0.4)]
    assert axes.lines[-1].get_xdata() == [0.85, 0.85]


def test_lines_of_differences_are_named_at_their_ends_and_all_but_the_first_of_a_set_are_dashed():
    rows = [("one", "one", -1, -0.2), ("one", "one", 1, 0.1), ("one", "control", 1, 0.0), ("two", "two", 1, 0.4)]
    found = pd.DataFrame(rows, columns=["set", "line", "words", "mean"]).assign(low=-0.3, high=0.5)
    (axes,) = plot.differences(found, "words", "set", "line").axes
    assert {*texts(axes)} == {"one", "control", "two"}
    assert [line.get_linestyle() for line in axes.lines].count("--") == 1


def test_methods_are_ranked_in_both_columns_and_a_reader_s_own_keeps_its_name():
    means = pd.DataFrame({"one": [0.9, 0.5, 0.1], "two": [0.1, 0.5, 0.9]}, ["dense", "bm25", "mine"])
    (axes,) = plot.rank_changes(means, steep=2).axes
    assert [[*line.get_ydata()] for line in axes.lines] == [[1, 3], [2, 2], [3, 1]]
    assert [line.get_linestyle() for line in axes.lines] == ["--", "-", "-"]
    assert "mine  0.10" in texts(axes)


def test_panels_of_bars_have_a_bar_per_set_and_label():
    rows = [(metric, name, mean) for metric in ("b", "a") for name, mean in (("one", 0.2), ("two", 0.4))]
    found = pd.DataFrame(rows, columns=["metric", "set", "mean"]).assign(low=np.nan, high=np.nan)
    left, right = plot.bar_panels(found, "metric", "set", ["all filings"]).axes
    assert [left.get_xlabel(), right.get_xlabel()] == ["a", "b"]
    assert sorted(bar.get_width() for bar in left.patches) == [0.2, 0.4]


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
    assert lines["-"] == lines["None"] == [[10, 0.9], [100, 0.8]], "a line and dots"
    assert lines["--"] == [[100, 0.8], [1000, 0.7]]
    assert texts(axes) == ["Dense"]


def test_curves_have_a_panel_per_value_and_a_line_per_other_value():
    rows = [("company", fold, epoch, 1 / epoch) for fold in range(5) for epoch in (1, 2)]
    frame = pd.DataFrame([*rows, ("filing", 0, 1, 1.0)], columns=["folds by", "fold", "epoch", "loss"])
    figure = plot.curves(frame, "epoch", "loss", "folds by", "fold")
    assert [axes.get_title() for axes in figure.axes] == ["folds by company", "folds by filing"]
    assert [len(axes.lines) for axes in figure.axes] == [5, 1]


def test_equal_shares_are_on_the_diagonal():
    frame = pd.DataFrame({"people": [0.5, 0.2, 0.1], "measure": [0.5, 0.3, 0.1], "given": ["a search", "", "a search"]})
    (axes,) = plot.agreement(frame, "people", "measure", "given").axes
    assert [len(dots.get_offsets()) for dots in axes.collections] == [2, 1]


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
