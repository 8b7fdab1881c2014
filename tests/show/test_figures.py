"""The figures of the first chapters: in the book's width, sorted, and with no name in a legend that is not drawn."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from lib.analysis.decomposition import METRIC_OF
from lib.show import figures, groups
from lib.show.drawn import smallest_type

METHODS = ["bm25", "dense", "page_scorer_light_order_records"]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def summary() -> pd.DataFrame:
    """Page recall 0.1, 0.2, 0.3 over all filings and 0.4 more with the filing given, and the parts of the evidence."""
    rows = [
        (method, condition, "page_recall", mean := 0.1 + 0.1 * place + more, mean - 0.05, mean + 0.05)
        for place, method in enumerate(METHODS)
        for condition, more in (("standard", 0.0), ("oracle-document", 0.4))
    ]
    parts = {"found": 0.1, "chunk": 0.0, "page": 0.6, "document": 0.3}
    rows += [
        (method, "standard", METRIC_OF[step], share + 0.1 * place * {"found": 1, "page": -1}.get(step, 0), 0, 1)
        for place, method in enumerate(METHODS)
        for step, share in parts.items()
    ]
    return pd.DataFrame(rows, columns=["method", "condition", "metric", "mean", "low", "high"])


def names(drawn: plt.Figure) -> list[str]:
    return [label.get_text() for label in drawn.axes[0].get_yticklabels()]


def test_the_best_method_is_on_top_and_the_type_legible():
    drawn = groups.decomposition_bars(summary(), METHODS, 5)
    assert names(drawn)[0].startswith("Light page scorer")
    assert names(drawn)[-1] == "BM25"
    assert float(smallest_type(drawn)) >= 8


def test_a_bar_of_what_is_lost_adds_to_one_and_small_parts_have_no_number():
    lost = pd.DataFrame(
        {"method": ["dense", "Mine"], "found": [0.25, 0.75], "page": [0.5, 0.24], "document": [0.25, 0.01]}
    )
    drawn = figures.lost_bars(lost)
    axes = drawn.axes[0]
    ends = {round(bar.get_x() + bar.get_width(), 9) for bar in axes.containers[-1]}
    assert ends == {1.0}
    assert {"Dense", "Mine", "found", "right filing, wrong page", "wrong filing"} <= {
        one.get_text() for one in axes.texts
    }
    assert sorted(one.get_text() for one in axes.texts if one.get_text().isdigit()) == ["24", "25", "25", "50", "75"]
    assert float(smallest_type(drawn)) >= 9


def test_the_parts_of_a_bar_differ_in_lightness():
    light = [np.dot(plt.matplotlib.colors.to_rgb(one), (0.3, 0.6, 0.1)) for one in groups.STEP_COLOURS.values()]
    assert light == sorted(light)
    assert min(np.diff(light)) > 0.02


def test_of_two_joined_dots_the_first_is_hollow_and_a_missing_one_is_left_out():
    drawn, axes = plt.subplots()
    parts = {"before": pd.DataFrame({"mean": [0.2, 0.3]}), "after": pd.DataFrame({"mean": [0.4, np.nan]})}
    figures.paired_dots(axes, parts, ["Dense", "BM25"])
    first, second = axes.lines
    assert (first.get_markerfacecolor(), second.get_markerfacecolor()) == ("white", figures.COLOURS[0])
    assert [*first.get_xdata()] == [0.2, 0.3]
    assert names(drawn) == ["Dense", "BM25"]
