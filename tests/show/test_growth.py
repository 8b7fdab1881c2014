"""What the chapter on growing collections shows of small frames."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lib.analysis import growth
from lib.show import growth as show


def points():
    rows = [
        ("dense", 84, 1000, 0.9, 0.5, 0.4, 0.6, 10, 0.8, 1.0),
        ("bm25", 84, 1000, 0.6, 0.2, 0.1, 0.3, 10, 0.5, 0.7),
        ("dense", 150, 2000, 0.8, 0.3, 0.2, 0.4, 10, 0.7, 0.9),
    ]
    columns = ["method", "n_filings", "n_pages", "doc_recall", "page_recall", "low", "high", "n"]
    return pd.DataFrame(rows, columns=[*columns, "doc_low", "doc_high"])


def test_the_finding_names_rows_that_were_measured_over_both_ends_and_others_have_a_dash():
    assert show.finding(points(), 5) == "From 1,000 to 2,000 pages, page recall@5: Dense 0.50 → 0.30."
    assert "Nothing was measured" in show.finding(None, 5)
    shown = show.sizes_table(points()).set_index("Method")
    assert shown.loc["Dense"].tolist() == ["0.50 [0.40, 0.60]", "0.30 [0.20, 0.40]"]
    assert shown.loc["BM25", "150 filings"] == "–"


def test_dots_are_drawn_for_all_and_lines_for_those_with_a_law_and_costs_stage_by_stage():
    law = growth.Law(np.array([3.0, -1.0]), np.tile([3.0, -1.0], (5, 1)), 0.0, None, (1000, 2000))
    drawn = show.curves(points(), {"page_recall": {"dense": law}}, ["dense", "bm25"])
    (axes,) = drawn.axes
    assert {"-", "--"} <= {line.get_linestyle() for line in axes.lines}
    assert axes.get_xscale() == "log"
    stages, sizes = ("embed", "words"), (1000, 2000)
    rows = [(stage, n, n / 100, 50.0, 1.0, np.nan) for stage in stages for n in sizes]
    drawn = show.cost_curve(pd.DataFrame(rows, columns=growth.COST_COLUMNS))
    np.testing.assert_allclose(drawn.axes[0].lines[0].get_ydata(), [10, 10])
    plt.close("all")
