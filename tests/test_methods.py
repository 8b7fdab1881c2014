"""The method table and its sets, and what a function keeps: in memory by its arguments, in the store by all it read."""

import inspect

import pytest

from lib.chunkings.table import CHUNKINGS
from lib.method import MATCHED, OWN, memoized, stored
from lib.method_sets import baselines, chosen, compared, in_comparisons, measured, of_family
from lib.methods import METHODS, row
from lib.profile import load_profile
from lib.schema import StudyError

DEFAULT = load_profile("default")


@pytest.mark.parametrize("name", METHODS)
def test_every_row_is_a_function_with_settings_that_the_profile_has(name):
    row, changed = METHODS[name], [name]
    assert set(row.settings) <= set(DEFAULT)
    assert set(row.uses) <= set(METHODS)
    assert row.chunking in ("", *CHUNKINGS)
    assert row.source or row.family == MATCHED  # the study's own idea
    if row.family == MATCHED:
        assert row.options.get("method", row.options.get("first_stage")) == row.changes == row.uses[0]
    inspect.signature(row.score).bind("study", "candidates", **row.options)
    while changed[-1] not in of_family():  # step by step to a method of the study itself
        changed.append(METHODS[changed[-1]].changes)
        assert len(changed) <= 4, changed


def test_a_second_row_of_a_name_is_refused():
    with pytest.raises(ValueError, match="the method dense is in the table twice"):
        row("dense", "Dense", "question", "robertson2009bm25", METHODS["dense"].score)


def test_a_row_needs_what_it_reads_needs():
    found = METHODS["multi_hyde_records_rerank"]
    assert found.needs == ("language model", "metadata", "cross-encoder")
    assert (found.changes, found.conditions) == ("multi_hyde_records", ("standard",))
    sibling = METHODS["hybrid_rerank"]
    assert (sibling.source, sibling.changes) == ("akarsu2026bm25corrective,nogueira2019bert", "hybrid_rrf")


def test_what_is_no_method_lists_the_known():
    with pytest.raises(StudyError, match="no method 'bm52': say one of dense, bm25, "):
        chosen(["bm25", "bm52"])
    for nothing in ([], 5, ""):
        with pytest.raises(StudyError, match="methods is .*: give names"):
            chosen(nothing)


def test_siblings_are_in_no_set_that_nobody_asked_for_and_a_profile_runs_all_or_those_that_it_lists():
    assert not {"bm25_k12", "rrf_10"} & {*baselines(), *chosen(None)}
    assert chosen(None, otherwise=["dense", "rrf_10"]) == chosen("dense rrf_10") == chosen("[dense, rrf_10]")
    runs = measured(DEFAULT)
    assert ("rrf_10", "standard") in runs
    assert ("rrf_10", "oracle-page") not in runs
    few = DEFAULT.replaced({"siblings.rows": ["bm25_k12", "rrf_10"], "siblings.without": ["rrf_10"]})
    own = {name for family in OWN for name in of_family(family)}
    assert {name for name, _ in measured(few)} - own == {"bm25_k12"}


def test_a_search_in_a_vector_store_is_measured_and_stands_in_no_comparison():
    runs, conditions = measured(DEFAULT), METHODS["dense_chroma"].conditions
    assert [run for run in runs if run not in compared(DEFAULT)] == [("dense_chroma", one) for one in conditions]
    assert {*METHODS} - {*in_comparisons()} == {"dense_chroma"}
    assert "dense_chroma" not in {*baselines(), *chosen(None)}
    assert "dense_chroma" not in {name for name, _ in measured(load_profile("base"))}


PROFILE = {"bm25": {"k1": 1.5}}


@pytest.fixture
def search(fake_study):
    return fake_study(["cash?"], ["net cash", "sales"], PROFILE)


def test_a_value_is_made_once_for_its_arguments(search):
    made = []

    @memoized
    def twice(study, n):
        made.append(n)
        return 2 * n

    assert [twice(search, n) for n in (1, 2, 1)] == [2, 4, 2]
    assert made == [1, 2]


def test_a_key_has_the_arguments_that_the_stage_does_not_name_what_is_read_and_the_settings(search):
    on = ["chunks", "run={condition}/{name}"]

    @stored("words/{name}", on=on, settings=["bm25"], version=2)
    def counted(study, name, least=1, condition="standard"):
        return study.chunks["text"].str.split().str.len().ge(least).tolist()

    search.digest = "digest of {}".format
    search.settings_of = lambda sections: {one: search.profile[one] for one in sections}
    assert counted(search, "all", least=2) == [True, False]
    [(stage, key)] = search.store.log
    params = {"least": 2, "condition": "standard", "settings": PROFILE}
    params |= {"chunks": "digest of chunks", "run": "digest of run=standard/all"}
    assert (stage, key) == ("words/all", search.store.key("words/all", params, 2))
    assert counted(search, "all") == [True, True]
    assert len(search.store.log) == 2
