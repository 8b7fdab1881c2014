"""The figures of the first chapters: in the book's width, sorted, and with no name in a legend that is not drawn."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from lib.analysis.decomposition import METRIC_OF
from lib.show import figures, groups
from lib.show.display import smallest_type
from lib.show.strategies import finding

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
    for drawn in (figures.dumbbells(summary(), METHODS), groups.decomposition_bars(summary(), METHODS, 5)):
        assert names(drawn)[0].startswith("Light page scorer")
        assert names(drawn)[-1] == "BM25"
        assert float(smallest_type(drawn)) >= 8


def test_the_parts_of_a_bar_differ_in_lightness_and_are_told_in_words():
    light = [np.dot(plt.matplotlib.colors.to_rgb(one), (0.3, 0.6, 0.1)) for one in groups.STEP_COLOURS.values()]
    assert light == sorted(light)
    assert min(np.diff(light)) > 0.02
    said = groups.in_words(summary(), "dense")
    assert (said["best"], said["found"], said["page"], said["document"]) == ("Dense", "20%", "50%", "30%")


def test_steps_of_the_ladder_stand_on_each_other():
    steps = pd.DataFrame({"title": ["Dense", "+ page kinds"], "page_recall": [0.3, 0.8], "difference": [np.nan, 0.5]})
    drawn = figures.waterfall(steps.assign(low=0.2, high=0.9))
    assert [(bar.get_x(), bar.get_width()) for bar in drawn.axes[0].patches] == [(0, 0.3), (0.3, 0.5)]
    assert [text.get_text() for text in drawn.axes[0].texts] == ["0.30", "0.80 (+0.50)"]
    assert float(smallest_type(drawn)) >= 8


def test_of_two_joined_dots_the_first_is_hollow_and_a_missing_one_is_left_out():
    drawn, axes = plt.subplots()
    parts = {"before": pd.DataFrame({"mean": [0.2, 0.3]}), "after": pd.DataFrame({"mean": [0.4, np.nan]})}
    figures.paired_dots(axes, parts, ["Dense", "BM25"])
    first, second = axes.lines
    assert (first.get_markerfacecolor(), second.get_markerfacecolor()) == ("white", figures.COLOURS[0])
    assert [*first.get_xdata()] == [0.2, 0.3]
    assert names(drawn) == ["Dense", "BM25"]


def test_no_strategy_is_no_gain():
    assert finding([]).startswith("Of 0 strategies, 0 find measurably more")
