"""The tables of the ladder: each step next to the one before, and the whole next to what it is without a part."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lib.show.display import Column, interval, number, p_value, printed, with_interval
from lib.stats import Resampling, holm
from lib.study import Study


def rung_values(metrics: pd.DataFrame, name: str, metric: str = "page_recall") -> pd.Series:
    """A rung's values by question id."""
    return metrics[metrics["metric"] == f"rung_{metric}/{name}"].set_index("question_id")["value"]


def steps(
    study: Study, pages: Mapping[str, pd.Series], docs: Mapping[str, pd.Series], against: Sequence[str | None]
) -> pd.DataFrame:
    """Each step with its interval and its difference from another step; columns as :func:`steps_table` reads them.

    Args:
        pages, docs: title of the step to page and document recall by question id, in the order of the table.
        against: for each step the title that it is compared with, or None.
    """
    draws, rows = Resampling.of(study), []
    for (title, values), other in zip(pages.items(), against, strict=True):
        tested = [np.nan] * 4
        if other is not None:
            tested = [*draws.difference(values, pages[other])[:3], draws.p(values, pages[other])]
        rows.append([title, docs[title].mean(), *draws.interval(values)[:4], *tested])
    columns = ["title", "doc_recall", "page_recall", "low", "high", "n"]
    frame = pd.DataFrame(rows, columns=[*columns, "difference", "difference_low", "difference_high", "p"])
    tested = frame["p"].notna()
    frame.loc[tested, "p_holm"] = holm(frame.loc[tested, "p"])
    return frame


def steps_table(frame: pd.DataFrame, compared: str) -> pd.DataFrame:
    """:func:`steps` as printed, with the heading of the column of differences."""
    difference = "difference", "difference_low", "difference_high"
    return printed(
        frame,
        Column("Step", "title"),
        Column("Document recall", "doc_recall", number),
        interval("Page recall", "page_recall", "low", "high"),
        Column(compared, difference, lambda *values: "–" if np.isnan(values[0]) else with_interval(*values)),
        Column("p (Holm)", "p_holm", p_value),
        Column("n", "n"),
    )
