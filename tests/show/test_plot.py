"""Plots of frames: what stands where, whose name is beside it, and no figure of no rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import Rectangle

from lib.analysis.calibration import given_to, panels
from lib.analysis.judged import drawn_kappas
from lib.schema import NeedsFilings
from lib.show import plot
from lib.show.drawn import not_drawn
from lib.show.figures import COLOURS, GREY
from lib.show.output import NOTHING, joined, say, show
from lib.show.tables import beside

METHODS = pd.Index(["dense", "bm25"], name="method")


LEVELS = pd.DataFrame({"mean": [0.3, 0.2], "low": [0.2, 0.1], "high": [0.4, 0.3]}, METHODS)


def names(axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def test_dots_have_a_row_per_method_by_its_title():
    (axes,) = plot.dots(LEVELS, "page recall@5").axes
    assert names(axes) == ["Dense", "BM25"]
    assert axes.collections[-1].get_offsets()[:, 0].tolist() == [0.3, 0.2]
    assert axes.get_xlabel() == "page recall@5"


def test_pairs_are_hollow_before_and_filled_after_and_named_above():
    after = LEVELS.assign(mean=[0.5, float("nan")])
    (axes,) = plot.pairs(LEVELS, after, ["all filings", "matched"]).axes
    first, second = axes.lines
    assert (first.get_markerfacecolor(), second.get_markerfacecolor()) == ("white", COLOURS[0])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["all filings", "matched"]
    panels = plot.pair_panels({"lost": [LEVELS, LEVELS], "found": [LEVELS, LEVELS]})
    assert [axes.get_xlabel() for axes in panels.axes] == ["lost", "found"]


def test_lines_are_in_panels_and_named_in_the_last():
    rows = [(m, name, k, k / 20) for m in ("doc_recall", "page_recall") for name in METHODS for k in (1, 5, 20)]
    curve = pd.DataFrame(rows, columns=["metric", "method", "k", "mean"])
    figure = plot.lines(curve.assign(low=curve["mean"], high=curve["mean"]), "k")
    assert [axes.get_title() for axes in figure.axes] == ["Document recall", "Page recall"]
    assert [len(axes.lines) for axes in figure.axes] == [2, 2]
    assert [[text.get_text() for text in axes.texts] for axes in figure.axes] == [[], ["Dense", "BM25"]]


def test_on_the_frontier_no_row_has_as_much_for_less():
    frame = pd.DataFrame({"s": [1.0, 2.0, 2.0, 4.0], "recall": [0.2, 0.1, 0.4, 0.4]}, [*"abcd"])
    assert plot.on_frontier(frame, "s", "recall").tolist() == [True, False, True, False]
    (axes,) = plot.frontier(frame, "s", "recall", ["a", "d"], filled=["d"]).axes
    assert {text.get_text(): text.get_ha() for text in axes.texts} == {"a": "right", "d": "left"}
    assert axes.get_xscale() == "log"


def test_parts_are_stacked_and_the_ink_is_read_on_its_colour():
    parts = pd.DataFrame({"found": [0.25, 0.5], "lost": [0.75, 0.5]}, METHODS)
    (axes,) = plot.stacked(parts, {"found": "#08519C", "lost": "#E6E6E6"}).axes
    assert [bar.get_x() + bar.get_width() for bar in axes.containers[-1]] == pytest.approx([1, 1])
    assert [plot.ink_on(colour) for colour in ("#08519C", "#E6E6E6")] == ["white", "#222222"]


def test_a_step_of_a_waterfall_begins_where_the_one_above_ended():
    (axes,) = plot.waterfall(LEVELS, ["0.30", "0.20 (-0.10)"]).axes
    bars = [(bar.get_x(), round(bar.get_width(), 9)) for bar in axes.containers[0]]
    assert bars == [(0, 0.3), (0.3, -0.1)]


def test_nothing_is_drawn_of_no_rows():
    none = LEVELS[:0]
    assert plot.dots(none) is plot.pairs(none, none) is plot.pair_panels({}) is plot.lines(none, "k") is None
    assert plot.frontier(none, "s", "recall", []) is plot.stacked(none, {}) is plot.waterfall(none, []) is None
    assert plot.bars({}, []) is None


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


DOTS = pd.DataFrame({"mean": [0.2, 0.6], "low": [-0.1, 0.5], "high": [0.4, 0.7]}, ["dense", "mine"])


def test_curves_have_a_panel_per_value_and_a_line_per_other_value():
    rows = [("company", fold, epoch, 1 / epoch) for fold in range(5) for epoch in (1, 2)]
    frame = pd.DataFrame([*rows, ("filing", 0, 1, 1.0)], columns=["folds by", "fold", "epoch", "loss"])
    figure = plot.curves(frame, "epoch", "loss", "folds by", "fold")
    assert [axes.get_title() for axes in figure.axes] == ["folds by company", "folds by filing"]
    assert [len(axes.lines) for axes in figure.axes] == [5, 1]
    assert plot.curves(frame.iloc[:0], "epoch", "loss", "folds by", "fold") is None


def test_panels_of_dots_share_their_rows_and_some_are_hollow():
    figure = plot.dot_panels({"κ, number": DOTS.assign(filled=[True, False]), "κ, text": DOTS})
    first, second = figure.axes
    assert [label.get_text() for label in first.get_yticklabels()] == ["Dense", "mine"]
    assert [len({*map(tuple, axes.collections[-1].get_facecolors())}) for axes in (first, second)] == [2, 1]
    assert len(first.lines) == 1, "at zero, as an interval reaches below it"
    assert plot.dot_panels({}) is None
    assert plot.dot_panels({"κ": DOTS.iloc[:0]}) is None


def test_equal_shares_are_on_the_diagonal():
    frame = pd.DataFrame({"people": [0.5, 0.2, 0.1], "measure": [0.5, 0.3, 0.1], "given": ["a search", "", "a search"]})
    (axes,) = plot.agreement(frame, "people", "measure", "given").axes
    assert [len(dots.get_offsets()) for dots in axes.collections] == [2, 1]
    assert plot.agreement(frame.iloc[:0], "people", "measure", "given") is None


def test_pairs_begin_at_zero_unless_one_is_below_it():
    left = [plot.pairs(one, one).axes[0].get_xlim()[0] for one in (DOTS, DOTS.clip(lower=0.1))]
    assert left[0] < -0.1
    assert left[1] == 0


def test_kappas_are_laid_out_by_kind_and_by_labelling():
    agreed = pd.DataFrame(
        [("f1", "text", 3, 0.2), ("f1", "number", 2, 0.5), ("right", "number", 2, 0.9), ("f1", "all", 5, 0)]
    )
    agreed = agreed.set_axis(["metric", "kind", "n", "kappa"], axis=1).assign(kappa_low=0.0, kappa_high=1.0)
    found = panels(agreed)
    assert [*found] == ["κ, text (n = 3)", "κ, number (n = 2)"]
    assert found["κ, number (n = 2)"]["filled"].to_dict() == {"f1": False, "right": True}
    assert found["κ, text (n = 3)"]["mean"].isna().tolist() == [False, True]
    rows = pd.DataFrame({"labelling": ["judge", "gold page"], "hand": "useful", "kappa": [0.0, 0.4]})
    assert drawn_kappas(rows)["filled"].to_dict() == {"judge – useful": False, "gold page – useful": True}


def test_what_a_system_was_given_is_in_its_name():
    found = [given_to(name) for name in ("gpt4_closedBook", "llama2_sharedStore", "gpt4_inContext", "gpt4_oracle", "x")]
    assert found == ["no filing", "a search", "the whole filing", "the gold pages", ""]


@pytest.mark.parametrize(
    "drawn",
    [
        lambda: plot.dot_panels({}),
        lambda: plot.count_panels(pd.DataFrame()),
        lambda: plot.forest(levels(names=[]).assign(verdict=[]), "verdict"),
        lambda: plot.sweep(levels(names=[]), "alpha", "by"),
    ],
)
def test_no_rows_are_no_figure(drawn):
    assert drawn() is None
