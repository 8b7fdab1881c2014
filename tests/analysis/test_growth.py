"""The law of recall against pages, with numbers that one can see."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lib.analysis import growth
from lib.profile import load_profile
from lib.stats import Resampling
from tests.made import make_study

IDS = [f"q{n}" for n in range(40)]
STUDY = make_study(500, questions=pd.DataFrame({"question_id": IDS, "company": [n // 4 for n in range(40)]}))
PAGES = {84: 1000, 150: 10_000, 250: 100_000}


def measured(*n_found: int) -> pd.DataFrame:
    """One method that finds the pages of the first so many questions over each size."""
    rows = [
        ("mixed", 0, size, PAGES[size], "dense", name, 5, 1.0, float(number < n))
        for size, n in zip(PAGES, n_found, strict=True)
        for number, name in enumerate(IDS)
    ]
    return pd.DataFrame(rows, columns=growth.GROWTH_COLUMNS)


def test_a_recall_whose_logit_is_a_straight_line_is_fitted_and_extrapolated_by_a_fifth_of_the_draws():
    """32, 20 and 8 of 40: odds of 4, 1 and 1/4, so that each tenfold divides the odds by 4."""
    law = growth.laws(STUDY, measured(32, 20, 8))["dense"]
    assert law.line[1] == pytest.approx(-np.log(4))
    assert (law.error, law.left_out[0]) == pytest.approx((0, 0), abs=1e-9)
    assert law.at(1_000_000)[0] == pytest.approx(1 / 17)
    assert law.n_pages == (1000, 100_000)
    assert len(law.draws) == 100
    assert load_profile("default").significance.n_draws // growth.PER_LAW == 2000
    assert growth.laws(STUDY, measured(32, 20, 8).query("n_filings > 84")) == {}  # two sizes


@pytest.mark.parametrize(("n_found", "left_out", "at_a_million"), [((32, 20, 20), -0.3, None), ((40,) * 3, 0, 79 / 80)])
def test_the_size_that_is_left_out_shows_a_law_that_is_wrong_and_all_found_has_a_law_too(
    n_found, left_out, at_a_million
):
    """From 32 and 20 the law expects 8; 20 are found."""
    law = growth.law(measured(*n_found), replace(Resampling.of(STUDY), n_draws=200))
    assert law.left_out[0] == pytest.approx(left_out)
    assert law.left_out[1] <= law.left_out[0] <= law.left_out[2]
    assert at_a_million is None or law.at(1_000_000)[0] == pytest.approx(at_a_million)
