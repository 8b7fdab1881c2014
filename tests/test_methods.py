"""The method table: every row is a function with settings that the profile has."""

import inspect

import pytest

from lib.chunkings.table import CHUNKINGS
from lib.methods import MATCHED, METHODS, OWN, baselines, chosen, measured, of_family
from lib.profile import load_profile
from lib.words import StudyError


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["bm25", "bm52"], "no method 'bm52': say one of dense, bm25, "),
        *((nothing, "methods is .*: give names") for nothing in ([], 5, "")),
    ],
)
def test_what_is_no_method_lists_the_known(names, message):
    with pytest.raises(StudyError, match=message):
        chosen(names)


@pytest.mark.parametrize("name", METHODS)
def test_every_row_is_a_function_with_settings_that_the_profile_has(name):
    row, changed = METHODS[name], [name]
    assert set(row.settings) <= set(load_profile("default"))
    assert set(row.uses) <= set(METHODS)
    assert row.chunking in ("", *CHUNKINGS)
    assert row.source or row.family == MATCHED  # the study's own idea
    inspect.signature(row.score).bind("study", "candidates", **row.options)
    while changed[-1] not in of_family():  # step by step to a method of the study itself
        changed.append(METHODS[changed[-1]].changes)
        assert len(changed) <= 4, changed


def test_a_row_needs_what_it_reads_needs():
    row = METHODS["multi_hyde_records_rerank"]
    assert row.needs == ("language model", "metadata", "cross-encoder")
    assert (row.changes, row.conditions) == ("multi_hyde_records", ("standard",))
    sibling = METHODS["hybrid_rerank"]
    assert (sibling.source, sibling.changes) == ("akarsu2026bm25corrective,nogueira2019bert", "hybrid_rrf")


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
