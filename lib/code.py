"""What a module's code means, as a hash that comments, docstrings and layout leave alone."""

import ast
import hashlib
import importlib.util
import inspect
from functools import cache
from pathlib import Path
from types import ModuleType


def code_hash(module: ModuleType | str) -> str:
    """A hash of a module's syntax tree without docstrings: it changes when the code changes its meaning.

    Args:
        module: a module, or the dotted name of one, which then is read and not imported.
    """
    if isinstance(module, str):
        return _hash_of(Path(importlib.util.find_spec(module).origin).read_text())
    return _hash_of(inspect.getsource(module))


@cache
def _hash_of(source: str) -> str:
    return hashlib.sha256(repr(_shape(ast.parse(source))).encode()).hexdigest()[:16]


def _shape(node: object) -> object:
    """A syntax tree as tuples, without docstrings and empty fields: later Pythons add fields that are empty here."""
    if isinstance(node, list):
        return [_shape(item) for item in node if not _is_docstring(item)]
    if not isinstance(node, ast.AST):
        return node
    fields = [(name, value) for name, value in ast.iter_fields(node) if value is not None and value != []]
    return type(node).__name__, [(name, _shape(value)) for name, value in fields]


def _is_docstring(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
