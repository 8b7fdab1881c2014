"""The method table: every row is a function with settings that the profile has."""

import inspect

import pytest

from lib.chunkings.table import CHUNKINGS
from lib.methods import MATCHED, METHODS, OWN, baselines, chosen, measured, of_family
from lib.profile import load_profile
from lib.words import StudyError


def test_unknown_method_lists_the_known():
    with pytest.raises(StudyError, match="no method 'bm52': say one of dense, bm25, "):
        chosen(["bm25", "bm52"])
    for nothing in ([], 5, ""):
        with pytest.raises(StudyError, match="methods is .*: give names"):
            chosen(nothing)


@pytest.mark.parametrize("name", METHODS)
def test_every_row_is_a_function_with_settings_that_the_profile_has(name):
    row = METHODS[name]
    assert set(row.settings) <= set(load_profile("default"))
    assert set(row.uses) <= set(METHODS)
    assert row.chunking in ("", *CHUNKINGS)
    assert row.source or row.family == MATCHED  # the study's own idea
    inspect.signature(row.score).bind("study", "candidates", **row.options)


def test_what_rows_change_leads_step_by_step_to_a_method_of_the_study_itself():
    own = of_family()
    assert len(METHODS) > len(own)
    for name in METHODS:
        passed = [name]
        while passed[-1] not in own:
            passed.append(METHODS[passed[-1]].changes)
            assert len(passed) <= 4, passed


def test_siblings_are_neither_baselines_nor_chosen_unasked():
    assert not {"bm25_k12", "rrf_10"} & {*baselines(), *chosen(None)}
    assert chosen(["rrf_10"]) == ["rrf_10"]
    assert chosen(None, otherwise=["dense", "rrf_10"]) == ["dense", "rrf_10"]
    assert chosen("bm25 dense") == chosen("[bm25, dense]") == ["bm25", "dense"]


def test_a_profile_runs_all_siblings_or_those_that_it_lists():
    runs = measured(load_profile("default"))
    assert ("rrf_10", "standard") in runs
    assert ("rrf_10", "oracle-page") not in runs
    few = load_profile("default").replaced({"siblings.rows": ["bm25_k12", "rrf_10"], "siblings.without": ["rrf_10"]})
    own = {name for family in OWN for name in of_family(family)}
    assert {name for name, _ in measured(few)} - own == {"bm25_k12"}
