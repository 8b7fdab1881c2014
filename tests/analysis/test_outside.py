"""Outside sets, and rows that published sets lack: what was measured once, and what measuring the rest would take."""

import pandas as pd
import pytest

from lib.analysis import left_out
from lib.analysis.measured import TIMES
from lib.analysis.outside import PATH, outside_sets
from lib.frames import read_csv
from lib.published import Published
from lib.stats import Resampling

DRAWS = Resampling(pd.Series(dtype=object), 200, 3)


def test_each_set_has_its_recalls_by_method_and_its_own_companies(tmp_path):
    rows = [
        ("one", method, question, company, metric, value)
        for metric, value in (("page_recall", 0.5), ("doc_recall", 1.0))
        for method in ("ahead", "dense")
        for question, company in (("01", "ash"), ("02", "birch"))
    ]
    path = tmp_path / "outside.csv"
    pd.DataFrame(rows, columns="set method question_id company metric value".split()).to_csv(path, index=False)
    found = outside_sets(DRAWS, path)["one"]
    assert found.pages.to_dict("list") == {"ahead": [0.5, 0.5], "dense": [0.5, 0.5]}
    assert found.documents.index.tolist() == ["01", "02"]  # ids stay texts
    assert found.draws.company.to_dict() == {"01": "ash", "02": "birch"}
    assert (found.draws.n_draws, found.draws.seed) == (200, 3)


def test_every_question_of_the_set_was_measured_by_every_method():
    sets = outside_sets(DRAWS, PATH)
    assert {name: len(one.pages) for name, one in sets.items()} == {"MMLongBench-Doc": 82}
    assert not any(one.pages.isna().any(axis=None) or one.documents.isna().any(axis=None) for one in sets.values())


def test_a_row_that_is_not_published_has_the_minutes_that_it_took_where_it_was_timed():
    sets = Published.all("default")
    found = left_out.left_out(sets)
    times = read_csv(sets[left_out.TIMED_ON].file(TIMES)).set_index("method")
    assert "demo" not in {*found["set"]}
    assert not found["minutes"].isna().any()
    for row in found.itertuples():
        assert f"standard/{row.method}" not in sets[row.set].manifest["runs"]
    of = found.set_index(["set", "method"])["minutes"]
    n = sets["page-questions"].manifest["n_questions"]  # over the same filings
    seconds = times.at["hyde", "index_s"] + n * times.at["hyde", "question_s"]
    assert of["page-questions", "hyde"] == pytest.approx(seconds / 60)
    assert of["unseen-companies", "fixed_512_records"] == of["unseen-companies", "fixed_512"]  # of the row it changes
    assert left_out.by_kind(found)["rows"].sum() == len(found)
    assert left_out.left_out({}).empty
