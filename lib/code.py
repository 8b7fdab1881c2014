"""What a module's code means, as a hash that comments, docstrings and layout leave alone."""

import ast
import hashlib
import inspect
from types import ModuleType


def code_hash(module: ModuleType) -> str:
    """A hash of a module's syntax tree without docstrings: it changes when the code changes its meaning."""
    return hashlib.sha256(repr(_shape(ast.parse(inspect.getsource(module)))).encode()).hexdigest()[:16]


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
