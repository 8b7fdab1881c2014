"""The method table: every row is a function with settings that the profile has."""

import inspect

import pytest

from lib.chunkings.table import CHUNKINGS
from lib.methods import METHODS, method, of_family
from lib.profile import load_profile
from lib.words import StudyError


def test_unknown_method_lists_the_known():
    with pytest.raises(StudyError, match="no method 'bm52': say one of dense, bm25, "):
        method("bm52")


@pytest.mark.parametrize("name", METHODS)
def test_every_row_is_a_function_with_settings_that_the_profile_has(name):
    row = method(name)
    assert set(row.settings) <= set(load_profile("default"))
    assert set(row.uses) <= set(METHODS)
    assert row.chunking in ("", *CHUNKINGS)
    assert row.source
    inspect.signature(row.score).bind("study", "candidates", **row.options)


def test_every_row_of_a_sibling_study_changes_one_of_the_study_itself():
    own = of_family()
    assert len(METHODS) > len(own)
    assert all(row.changes in own for row in METHODS.values() if row.name not in own)
