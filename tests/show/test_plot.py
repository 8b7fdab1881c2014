"""Plots of frames: what stands where, whose name is beside it, and no figure of no rows."""

import pandas as pd
import pytest

from lib.show import plot
from lib.show.figures import COLOURS

METHODS = pd.Index(["dense", "bm25"], name="method")
LEVELS = pd.DataFrame({"mean": [0.3, 0.2], "low": [0.2, 0.1], "high": [0.4, 0.3]}, METHODS)


def names(axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def test_dots_have_a_row_per_method_by_its_title():
    (axes,) = plot.dots(LEVELS, "page recall@5").axes
    assert names(axes) == ["Dense", "BM25"]
    assert axes.collections[-1].get_offsets()[:, 0].tolist() == [0.3, 0.2]
    assert axes.get_xlabel() == "page recall@5"


def test_pairs_are_hollow_before_and_filled_after_and_named_where_there_is_room():
    after = LEVELS.assign(mean=[0.5, float("nan")])
    (axes,) = plot.pairs(LEVELS, after, ["all filings", "matched"]).axes
    first, second = axes.lines
    assert (first.get_markerfacecolor(), second.get_markerfacecolor()) == ("white", COLOURS[0])
    assert [(text.get_text(), text.xy) for text in axes.texts] == [("all filings", (0.3, 0)), ("matched", (0.5, 0))]
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
