"""The campaign's half about inputs: a part of it runs, and finds what is wrong where something is."""

import pytest

from extras.breaking import inputs
from extras.breaking.cases import run_cases


@pytest.fixture
def sound(tmp_path):
    return inputs.Sound(tmp_path / "inputs")


def test_every_damage_to_generations_is_good(sound):
    outcomes = run_cases(inputs.generations(sound), lambda line: None)
    assert len(outcomes) == 5
    assert [one.case.name for one in outcomes if not one.is_good] == []


def test_any_value_in_a_field_is_the_same_each_time():
    first, second = (list(map(repr, inputs.drawn(inputs.JSON, 20))) for _ in range(2))
    assert (len(first), first) == (20, second)
