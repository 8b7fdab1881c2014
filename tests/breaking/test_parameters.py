"""Every parameter of every chapter is checked before anything is computed: a wrong value ends in one sentence."""

import ast
import re

import nbformat
import pytest

from lib.book.notebooks import chapters
from lib.studies import NOTEBOOKS
from tests.breaking.damage import cases

pytestmark = [pytest.mark.slow, pytest.mark.breaking]

NAMES = {"a list": [1], "a number": 5, "nothing": None, "a folder that is not there": "no/such", "no user": "~no-user"}
METHODS = {
    "none": [],
    "no text": "",
    "a number": 5,
    "a table": {"bm25": 1},
    "unknown": ["nope"],
    "not a name": [["bm25"]],
}
COUNTS = {"zero": 0, "below zero": -1, "text": "5", "a fraction": 2.5, "a truth value": True}
PRICES = {
    "below zero": -1,
    "no number": float("nan"),
    "endless": float("inf"),
    "text": "1e-2",
    "nothing": None,
    "true": True,
}
#: By parameter: values that it cannot have, each with its name.
WRONG = {
    **dict.fromkeys(["dataset", "profile", "results", "questions"], NAMES),
    **dict.fromkeys(["methods", "baselines"], METHODS),
    "baseline": {"unknown": "nope", "a number": 5, "a list": ["bm25"]},
    "k": COUNTS | {"not measured": 7, "nothing": None},
    **dict.fromkeys(["pages", "chunk_size"], COUNTS),
    "second": NAMES | {"a null": "a\0b", "too long": "x" * 300},
    **dict.fromkeys(["core_hour", "gib_month"], PRICES),
}


def beginning(name: str) -> tuple[dict[str, object], str]:
    """A chapter's parameters, and its code until the study is open."""
    cells = [cell.source for cell in nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells]
    parameters = next(cell for cell in cells if cell.startswith("dataset = "))
    body = ast.parse(next(cell for cell in cells if re.search("^study = ", cell, re.M))).body
    opens = next(place for place, one in enumerate(body) if ast.unparse(one).startswith("study = "))
    values: dict[str, object] = {}
    exec(parameters, values)
    del values["__builtins__"]
    return values | {"dataset": "demo"}, ast.unparse(ast.Module(body[: opens + 1], []))


CASES = {
    f"{name}, {parameter}, {what}": (name, parameter, value)
    for name in chapters()
    for parameter in beginning(name)[0]
    for what, value in WRONG[parameter].items()
}


@cases(("name", "parameter", "value"), CASES)
def test_a_wrong_value_of_a_parameter_is_named(told, name, parameter, value):
    values, code = beginning(name)
    shown = [*value] if isinstance(value, list | dict) and len(value) else [value]
    with told(repr(shown[0]).strip("'")):
        exec(code, values | {parameter: value})


@pytest.mark.parametrize("name", chapters())
def test_the_values_of_the_chapter_itself_are_right(told, name):
    values, code = beginning(name)
    with told(None):
        exec(code, values)
