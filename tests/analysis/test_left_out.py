"""Rows that published sets lack, priced by what was timed on FinanceBench."""

import pytest

from lib.analysis import left_out
from lib.analysis.measured import TIMES
from lib.typed import read_csv


def test_a_row_that_is_not_published_has_the_minutes_that_it_took_where_it_was_timed():
    sets = left_out.published_sets("default")
    found = left_out.left_out(sets)
    times = read_csv(sets[left_out.TIMED_ON].file(TIMES)).set_index("method")
    assert "demo" not in sets
    assert not found["minutes"].isna().any()
    for row in found.itertuples():
        assert f"standard/{row.method}" not in sets[row.set].manifest["runs"]
    of = found.set_index(["set", "method"])["minutes"]
    n = sets["page-questions"].manifest["n_questions"]  # over the same filings
    seconds = times.at["hyde", "index_s"] + n * times.at["hyde", "question_s"]
    assert of["page-questions", "hyde"] == pytest.approx(seconds / 60)
    assert of["unseen-companies", "fixed_512_records"] == of["unseen-companies", "fixed_512"]  # of the row it changes
    table = left_out.by_kind(found)
    assert table["rows"].sum() == len(found)
    assert (table["fewest"] <= table["most"]).all()


def test_without_times_nothing_is_priced():
    assert left_out.left_out({}).empty
