"""The method table, and the code hash that decides whether a run is still good."""

import importlib.util
import itertools
import sys

import pytest

from lib import code
from lib.methods import METHODS, code_hash, method
from lib.profile import load_profile
from lib.words import StudyError

ORIGINAL = '''
"""A module."""

def score(study, candidates):
    """Scores."""
    return [x * 2 for x in candidates]
'''


@pytest.fixture
def hash_of(tmp_path):
    numbers = itertools.count()

    def load(source: str) -> str:
        path = tmp_path / f"module_{next(numbers)}.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return code_hash(module)

    return load


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    return", "    # why this is so\n    return"),
        ('"""Scores."""', '"""Scores, said better.\n\n    At length.\n    """'),
        ('    """Scores."""\n', ""),
        ('"""A module."""\n', ""),
        ("[x * 2 for x in candidates]", "[\n        (x * 2)\n        for x in candidates\n    ]"),
    ],
)
def test_code_hash_is_blind_to_comments_docstrings_and_layout(hash_of, old, new):
    assert old in ORIGINAL
    assert hash_of(ORIGINAL.replace(old, new)) == hash_of(ORIGINAL)


@pytest.mark.parametrize(
    ("old", "new"),
    [("x * 2", "x * 3"), ("x * 2", "x * 2.0"), ("x * 2", "2 * x"), ("score", "scores"), ("2", "'2'")],
)
def test_code_hash_sees_a_change_of_meaning(hash_of, old, new):
    assert hash_of(ORIGINAL.replace(old, new)) != hash_of(ORIGINAL)


def test_code_hash_is_the_same_under_every_python(hash_of):
    assert hash_of(ORIGINAL) == "51c0b9511b79120f"


def test_code_hash_of_a_name_is_that_of_the_module_which_need_not_be_imported(monkeypatch):
    assert code_hash("lib.code") == code_hash(code)
    monkeypatch.delitem(sys.modules, "lib.page_scorer.training", raising=False)
    assert len(code_hash("lib.page_scorer.training")) == 16
    assert "lib.page_scorer.training" not in sys.modules


def test_unknown_method_lists_the_known():
    with pytest.raises(StudyError, match="no method 'bm52': say one of dense, bm25, "):
        method("bm52")


@pytest.mark.parametrize("name", METHODS)
def test_every_row_is_a_function_with_settings_that_the_profile_has(name):
    row = method(name)
    profile = load_profile("default")
    assert set(row.settings) <= set(profile)
    assert set(row.uses) <= set(METHODS)
    assert row.name == name
    assert row.source


@pytest.mark.parametrize("name", METHODS)
def test_every_row_can_be_called(name):
    row = method(name)
    if importlib.util.find_spec(row.module) is None:
        pytest.skip(f"{row.module} is not there yet")
    assert callable(getattr(importlib.import_module(row.module), row.function))
    assert [len(one) for one in row.code_version().split("-")] == [16] * (1 + len(row.code))
