"""What an approximate search returns of an exact one, and which searches are timed."""

import pandas as pd

from lib.analysis import vector_store
from lib.profile import load_profile
from tests.analysis.conftest import refuse
from tests.made import make_study


def run(**chunks: str) -> pd.DataFrame:
    """A run that names a question's chunks by letters, the best first."""
    rows = [(question, rank, name) for question, names in chunks.items() for rank, name in enumerate(names, 1)]
    return pd.DataFrame(rows, columns=["question_id", "rank", "chunk_id"])


def test_agreement_is_the_share_of_the_first_chunks_that_are_among_the_first_of_the_other():
    found = vector_store.agreement(run(q1="abcd", q2="ab"), run(q1="acbe", q2="ba"), [1, 2, 4])
    assert found.to_dict("index") == {"q1": {1: 1.0, 2: 0.5, 4: 0.75}, "q2": {1: 0.0, 2: 1.0, 4: 1.0}}
    assert vector_store.agreement(run(q1="a"), run(), [1]).loc["q1", 1] == 0.0


def test_times_are_by_the_conditions_that_have_both_runs_and_none_where_nothing_can_be_timed(monkeypatch):
    def study(profile: str, missing: tuple = ()):
        return make_study(profile=load_profile(profile), has_run=lambda *one: one not in missing)

    default = study("default")
    assert vector_store.conditions(default) == ["standard", "oracle-document", "oracle-page"]
    assert vector_store.conditions(study("default", [("dense", "oracle-page")])) == ["standard", "oracle-document"]
    rows = [("standard", "dense", 0.5), ("standard", "dense_chroma", 0.25)]
    timed = pd.DataFrame(rows, columns=vector_store.TIME_COLUMNS[:3])
    monkeypatch.setattr(vector_store, "search_times", lambda study: timed)
    assert vector_store.times(default).loc["standard", ["dense", "dense_chroma"]].tolist() == [0.5, 0.25]
    assert vector_store.times(study("base")).empty
    monkeypatch.setattr(vector_store, "search_times", refuse)
    assert vector_store.times(default).empty
