"""The method table: every row is a function with settings that the profile has."""

import inspect

import pytest

from lib.chunkings.table import CHUNKINGS
from lib.method import MATCHED
from lib.method_sets import of_family
from lib.methods import METHODS
from lib.profile import load_profile


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
