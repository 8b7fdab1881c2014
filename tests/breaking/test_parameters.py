"""Every parameter of every chapter is checked before anything is computed: a wrong value ends in one sentence."""

import ast
import re

import nbformat
import pytest

from lib.book.notebooks import chapters
from lib.studies import NOTEBOOKS

pytestmark = [pytest.mark.slow, pytest.mark.breaking]

#: By parameter: values that it cannot have.
WRONG = {
    **{name: [[1], None, "no/such"] for name in "dataset profile results questions".split()},
    **{name: [[], {"bm25": 1}, ["nope"], [["bm25"]]] for name in "methods baselines".split()},
    "baseline": ["nope", 5],
    "k": [0, True, "5", 7, None],
    **{name: [0, True, "5", 2.5] for name in "pages chunk_size".split()},
    "second": [5, None, "no/such", "a\0b"],
    **{name: [-1, float("nan"), "1e-2"] for name in "core_hour gib_month".split()},
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


CASES = [
    (name, parameter, value) for name in chapters() for parameter in beginning(name)[0] for value in WRONG[parameter]
]


@pytest.mark.parametrize(("name", "parameter", "value"), CASES, ids=ascii)
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
