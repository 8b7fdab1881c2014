"""The tables of the ladder: each step next to the one before, and the whole next to what it is without a part."""

from collections.abc import Mapping, Sequence

import pandas as pd

from lib.show.display import number, with_interval
from lib.stats import clustered_bootstrap, clustered_bootstrap_difference, holm, paired_randomisation_test


def rung_values(metrics: pd.DataFrame, name: str, metric: str = "page_recall") -> pd.Series:
    """A rung's values by question id."""
    part = metrics[metrics["metric"] == f"rung_{metric}/{name}"]
    return part.set_index("question_id")["value"]


def steps(
    study, pages: Mapping[str, pd.Series], docs: Mapping[str, pd.Series], against: Sequence[str | None]
) -> pd.DataFrame:
    """Each step with its interval and its difference from another step.

    Args:
        study: gives companies and the bootstrap's settings.
        pages: title of the step to page recall by question id, in the order of the table.
        docs: title to document recall.
        against: for each step the title that it is compared with, or None.

    Returns:
        title, doc_recall, page_recall, low, high, difference, difference_low, difference_high, p_holm, n.
    """
    settings = study.profile.significance
    company_of = study.questions.set_index("question_id")["company"]
    rows = []
    for (title, values), other in zip(pages.items(), against, strict=True):
        company = company_of.reindex(values.index)
        found = clustered_bootstrap(values, company, settings.n_draws, settings.seed)
        row = {"title": title, "doc_recall": docs[title].mean(), "page_recall": found.mean}
        row |= {"low": found.low, "high": found.high, "n": found.n}
        if other is not None:
            pair = values, pages[other].reindex(values.index), company, settings.n_draws, settings.seed
            apart = clustered_bootstrap_difference(*pair)
            row |= {"difference": apart.mean, "difference_low": apart.low, "difference_high": apart.high}
            row["p"] = paired_randomisation_test(*pair)
        rows.append(row)
    frame = pd.DataFrame(rows)
    tested = frame["p"].notna()
    frame.loc[tested, "p_holm"] = holm(frame.loc[tested, "p"])
    return frame


def steps_table(frame: pd.DataFrame, compared: str) -> pd.DataFrame:
    """:func:`steps` as it is printed.

    Args:
        frame: the steps.
        compared: head of the column of differences.
    """
    difference = [
        "–"
        if pd.isna(row.difference)
        else with_interval(row.difference, row.difference_low, row.difference_high)
        for row in frame.itertuples()
    ]
    return pd.DataFrame(
        {
            "Step": frame["title"],
            "Document recall": frame["doc_recall"].map(number),
            "Page recall": [with_interval(row.page_recall, row.low, row.high) for row in frame.itertuples()],
            compared: difference,
            "p (Holm)": frame["p_holm"].map(lambda p: number(p, 3)),
            "n": frame["n"],
        }
    )
