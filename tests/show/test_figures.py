"""The figures of the first chapters: in the book's width, sorted, and with no name in a legend that is not drawn."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from lib.analysis.decomposition import METRIC_OF
from lib.show import figures, groups
from lib.show.display import smallest_type

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


def test_curves_name_a_few_methods():
    rows = [(m, metric, k, 0.5, 0.4, 0.6) for m in METHODS for metric in ("doc_recall", "page_recall") for k in (1, 5)]
    recalls = pd.DataFrame(rows, columns=["method", "metric", "k", "mean", "low", "high"])
    drawn = figures.recall_curves(recalls, ["dense"])
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["Dense"]
    assert [len(axes.lines) for axes in drawn.axes] == [3, 3]
    assert float(smallest_type(drawn)) >= 8


def test_every_line_of_a_budget_has_its_name_and_coloured_ones_its_colour():
    rows = [(m, metric, n, 0.5) for m in METHODS for metric in ("doc_recall", "page_recall") for n in (500, 1000)]
    curves = pd.DataFrame(rows, columns=["method", "metric", "budget", "mean"])
    drawn = figures.budget_curves(curves, ["dense"])
    for axes in drawn.axes:
        assert sorted(text.get_text().replace("\n", " ") for text in axes.texts) == sorted(map(figures.title, METHODS))
        assert [text.get_color() for text in axes.texts if text.get_text() == "Dense"] == [figures.COLOURS[0]]
        assert [line.get_color() for line in axes.lines].count(figures.GREY) == 2
    assert float(smallest_type(drawn)) >= 8
