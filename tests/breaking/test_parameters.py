"""Every parameter of every chapter is checked before anything is computed: a wrong value ends in one sentence."""

import ast

import nbformat
import pytest

from lib.book.notebooks import chapters
from lib.studies import NOTEBOOKS

pytestmark = [pytest.mark.slow, pytest.mark.breaking]

#: By parameter: values that it cannot have.
WRONG = {
    **{key: [[1], None, "no/such"] for key in "dataset profile results questions".split()},
    **{key: [[], {"bm25": 1}, ["nope"], [["bm25"]]] for key in ("methods", "baselines")},
    "baseline": ["nope", 5],
    "k": [0, True, "5", 7, None],
    **{key: [0, True, "5", 2.5] for key in ("pages", "chunk_size")},
    "second": [5, None, "no/such", "a\0b"],
    **{key: [-1, float("nan"), "1e-2"] for key in ("core_hour", "gib_month")},
}


def beginning(name: str) -> tuple[dict[str, object], str]:
    """A chapter's parameters, and its code until the study is open."""
    cells = [cell.source for cell in nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells]
    parameters = next(cell for cell in cells if cell.startswith("dataset = "))
    body = ast.parse(next(cell for cell in cells if "\nstudy = " in f"\n{cell}")).body
    opens = next(place for place, one in enumerate(body) if ast.unparse(one).startswith("study = "))
    values: dict[str, object] = {}
    exec(parameters, values)
    del values["__builtins__"]
    return values | {"dataset": "demo"}, ast.unparse(ast.Module(body[: opens + 1], []))


@pytest.mark.parametrize("name", chapters())
def test_a_wrong_value_of_a_parameter_is_named_and_the_chapter_s_own_are_right(told, name):
    values, code = beginning(name)
    exec(code, dict(values))
    for parameter in values:
        for wrong in WRONG[parameter]:
            shown = next(iter(wrong)) if isinstance(wrong, list | dict) and wrong else wrong
            with told(repr(shown).strip("'")):
                exec(code, values | {parameter: wrong})
