"""Growth: lines through the logit of recall, where two of them cross, changes, and what an archive costs."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis import growth
from lib.stats import Resampling
from tests.made import make_study

PAGES = {84: 1000, 150: 10_000, 250: 100_000}
IDS = [f"q{number}" for number in range(40)]
DRAWS = Resampling(pd.Series([number // 4 for number in range(40)], IDS), 500)


def measured(n_found, method: str = "dense", kind: str = growth.MIXED, draw: int = 0) -> pd.DataFrame:
    """Recall of 40 questions at each size: 1 for the first so many of them."""
    rows = [
        (kind, draw, size, pages, method, name, 5, 1.0, float(number < n))
        for (size, pages), n in zip(PAGES.items(), n_found, strict=False)
        for number, name in enumerate(IDS)
    ]
    return pd.DataFrame(rows, columns=growth.GROWTH_COLUMNS)


@pytest.mark.parametrize(
    ("n_found", "left_out", "at_a_million"),
    [
        ((32, 20, 8), 0, 1 / 17),  # odds of 4, 1 and 1/4 of 40: each tenfold divides the odds by 4
        ((32, 20, 20), 8 / 40 - 20 / 40, None),  # from 32 and 20 the line expects 8
        ((40, 40, 40), 0, 1 - 0.5 / 40),  # all found has a line, too
    ],
)
def test_a_recall_whose_logit_is_a_straight_line_is_fitted_and_extrapolated(n_found, left_out, at_a_million):
    law = growth.law(measured(n_found), DRAWS)
    assert law.left_out[0] == pytest.approx(left_out, abs=1e-9)
    assert law.left_out[1] <= law.left_out[0] <= law.left_out[2]
    assert at_a_million is None or law.at(1_000_000)[0] == pytest.approx(at_a_million)
    assert left_out or law.error == pytest.approx(0, abs=0.02)


def test_laws_need_three_sizes_of_filings_added_at_random():
    three, two = measured((32, 20, 8)), measured((32, 20), "bm25")
    alone = measured((32, 20, 8), "splade", "asked companies")
    found = growth.laws(pd.concat([three, two, alone]), DRAWS)
    assert list(found) == ["dense"]
    row = growth.law_table(found, [1_000_000]).iloc[0]
    assert (row["method"], row["at_1000000"]) == ("dense", pytest.approx(1 / 17))
    assert row["slope"] == pytest.approx(-np.log(4)), "the odds are divided by 4"
    assert growth.law_table({}, [10]).empty


def line(level: float, slope: float) -> growth.Law:
    values = np.array([level, slope])
    return growth.Law(values, np.stack([values] * 3), (10.0, 100.0), 0.0, (0.0, 0.0, 0.0))


def test_the_leader_is_compared_with_the_others_where_it_has_a_line():
    laws = {"dense": line(4.0, -1.0), "bm25": line(0.0, 0.0), "splade": line(-2.0, 0.0)}
    found = growth.against(laws, "dense", 1_000_000)
    assert found.index.tolist() == ["bm25", "splade"], "the best other first"
    low = 1 / (1 + np.exp(2))  # the logit is 4 - 6
    assert found[["recall", "leader_recall", "difference"]].iloc[0].tolist() == pytest.approx([0.5, low, low - 0.5])
    assert found["crossing"].tolist() == [10_000, 1_000_000], "4 - log10(pages) is 0, and -2"
    assert found["verdict"].tolist() == ["likely loss", "inconclusive"], "of equal recalls nothing is shown"
    assert growth.against(laws, "hyde", 100).empty
    assert growth.against({"dense": laws["dense"]}, "dense", 100).empty
    assert np.isnan(growth.crossing(laws["bm25"], laws["bm25"]))


def test_recall_by_size_is_the_mean_of_draws_at_their_mean_pages():
    draws = measured((40,)), measured((20,), draw=1).assign(n_pages=3000)
    other = measured((0,), kind="other companies")
    questions = pd.DataFrame({"question_id": IDS, "company": "Acme"})
    (row,) = growth.by_size(make_study(questions=questions), pd.concat([*draws, other])).to_dict("records")
    assert (row["method"], row["n_filings"], row["n_pages"], row["n"]) == ("dense", 84, 2000, 40)
    assert row["page_recall"] == pytest.approx((1 + 0.5) / 2)


def test_an_archive_costs_per_page_what_the_largest_measured_one_did():
    stages = [("embed", 50, 999.0, 1.0, 9.0, np.nan), ("embed", 100, 7200.0, 1.0, 1024.0, np.nan)]
    stages += [("words", 100, 5.0, 2048.0, 0.0, 0.5), ("vectors", 100, 5.0, 1024.0, 0.0, 0.25)]
    found = growth.archive_costs(pd.DataFrame(stages, columns=growth.COST_COLUMNS), [1000])
    assert found.iloc[0].tolist() == pytest.approx([1000, 20.0, 10.0, 20.0, 10.0, 7.5]), "searching is not indexing"
