"""The figures of two question sets side by side."""

import matplotlib.pyplot as plt
import pandas as pd

from lib.show import question_sets as show


def test_ranks_are_a_line_for_each_row_and_steep_ones_are_told_apart():
    means = pd.DataFrame(
        {"one": range(7, 0, -1), "two": [1, 6, 5, 4, 3, 2, 7]},
        index=["dense", "bm25", "splade"] + ["hyde", "rerank", "hybrid_rrf", "ahead"],
    )
    (axes,) = show.ranks(means / 10).axes
    lines = {line.get_ydata()[0]: line for line in axes.lines}
    assert [*lines[1].get_ydata()] == [1, 7]
    assert [*lines[7].get_ydata()] == [7, 1]
    assert [lines[place].get_linestyle() for place in (1, 2, 7)] == ["--", "-", "-"]
    assert lines[7].get_linewidth() > lines[2].get_linewidth()
    plt.close("all")


def test_lines_are_named_at_their_ends_and_all_but_the_first_of_a_set_are_dashed():
    rows = [("one", "one", -1, -0.2), ("one", "one", 1, 0.1), ("one", "control", 1, 0.0), ("two", "two", 1, 0.4)]
    found = pd.DataFrame(rows, columns=["set", "line", "words", "mean"]).assign(low=-0.3, high=0.5)
    (axes,) = show.lines(found, "words", "words", {1, -1}).axes
    drawn = [line for line in axes.lines if len(line.get_xdata()) and line.get_linestyle() in ("-", "--")]
    assert [[-1, -0.2], [1, 0.1]] in [line.get_xydata().tolist() for line in drawn]
    assert {text.get_text() for text in axes.texts} == {"one", "control", "two"}
    assert [line.get_linestyle() for line in drawn].count("--") == 1
    assert axes.get_xticks().tolist() == [-1, 1]
    plt.close("all")
