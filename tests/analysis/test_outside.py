"""The outside set, and what published sets lack: what was measured once, and what measuring the rest would take."""

import pandas as pd
import pytest

from lib.analysis import left_out
from lib.analysis.measured import TIMES
from lib.analysis.outside import PATH, outside_set
from lib.frames import read_csv
from lib.methods import METHODS
from lib.published import Published
from lib.stats import Resampling

DRAWS = Resampling(pd.Series(dtype=object), 200, 3)


def test_recalls_are_by_method_and_draws_of_the_companies_of_the_set():
    found, known = outside_set(DRAWS), pd.read_csv(PATH, dtype={"question_id": str, "company": str})
    assert (found.name, len(found.pages)) == ("MMLongBench-Doc", 82)
    for metric, recalls in {"page_recall": found.pages, "doc_recall": found.documents}.items():
        of = known[(known["method"] == "dense") & (known["metric"] == metric)]
        assert recalls["dense"].to_dict() == dict(zip(of["question_id"], of["value"], strict=True))
        assert not recalls.isna().any(axis=None)
    assert found.draws.company.astype(str).to_dict() == dict(zip(known["question_id"], known["company"], strict=True))
    assert (found.draws.n_draws, found.draws.seed) == (200, 3)


def test_a_row_that_is_not_published_has_the_minutes_that_it_took_where_it_was_timed():
    sets = Published.all("default")
    found = left_out.left_out(sets)
    times = read_csv(sets[left_out.TIMED_ON].file(TIMES)).set_index("method")
    assert "demo" not in {*found["set"]}
    timed = {row.name for row in METHODS.values() if {row.name, row.changes, *row.uses} & {*times.index}}
    untimed = {*found.loc[found["minutes"].isna(), "method"]}
    assert not untimed & timed
    assert untimed <= {name for name in METHODS if f"standard/{name}" not in sets[left_out.TIMED_ON].manifest["runs"]}
    for row in found.itertuples():
        assert f"standard/{row.method}" not in sets[row.set].manifest["runs"]
    of = found.set_index(["set", "method"])["minutes"]
    n = sets["page-questions"].manifest["n_questions"]  # over the same filings
    seconds = times.at["hyde", "index_s"] + n * times.at["hyde", "question_s"]
    assert of["page-questions", "hyde"] == pytest.approx(seconds / 60)
    assert of["unseen-companies", "fixed_512_records"] == of["unseen-companies", "fixed_512"]  # of the row it changes
    assert left_out.by_kind(found)["rows"].sum() == len(found)
    assert left_out.left_out({}).empty
