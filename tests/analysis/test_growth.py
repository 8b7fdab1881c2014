"""The law of recall against pages, and what an archive costs, with numbers that one can see."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis import growth
from lib.profile import load_profile
from tests.made import make_study

IDS = [f"q{n}" for n in range(40)]
COMPANY = pd.Series([n // 4 for n in range(40)], IDS)
PAGES = {84: 1000, 150: 10_000, 250: 100_000}


def measured(found_by_size: dict[int, int]) -> pd.DataFrame:
    """One method that finds the pages of the first so many questions over each size."""
    rows = [
        ("mixed", 0, size, PAGES[size], "dense", name, 5, 1.0, float(number < n_found))
        for size, n_found in found_by_size.items()
        for number, name in enumerate(IDS)
    ]
    return pd.DataFrame(rows, columns=growth.GROWTH_COLUMNS)


def test_a_recall_whose_logit_is_a_straight_line_is_fitted_and_extrapolated():
    """32, 20 and 8 of 40: odds of 4, 1 and 1/4, so that each tenfold divides the odds by 4."""
    law = growth.law(measured({84: 32, 150: 20, 250: 8}), COMPANY)
    assert law.line[1] == pytest.approx(-np.log(4))
    assert law.error == pytest.approx(0, abs=1e-9)
    assert law.left_out.mean == pytest.approx(0, abs=1e-9)
    assert law.at(1_000_000)[0] == pytest.approx(1 / 17)
    assert law.n_pages == (1000, 100_000)


def test_a_law_takes_a_fifth_of_the_profile_s_draws(monkeypatch):
    study = make_study(500, questions=pd.DataFrame({"question_id": IDS, "company": COMPANY.to_numpy()}))
    assert len(growth.laws(study, measured({84: 32, 150: 20, 250: 8}))["dense"].draws) == 100
    assert load_profile("default").significance.n_draws // growth.PER_LAW == 2000


def test_the_size_that_is_left_out_shows_a_law_that_is_wrong_and_all_found_has_a_law_too():
    """From 32 and 20 the law expects 8; 20 are found."""
    law = growth.law(measured({84: 32, 150: 20, 250: 20}), COMPANY)
    assert law.left_out.mean == pytest.approx(8 / 40 - 20 / 40)
    assert law.left_out.low <= law.left_out.mean <= law.left_out.high
    law = growth.law(measured({84: 40, 150: 40, 250: 40}), COMPANY)
    assert law.at(1_000_000)[0] == pytest.approx(1 - 0.5 / 40)
