"""The method table: name → pipeline → source paper. A new retriever is one function and one row here."""

import ast
import hashlib
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from lib.words import StudyError

Score = Callable[[object, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Method:
    """A named retrieval pipeline.

    Attributes:
        name: as in file names and tables.
        title: as a reader sees it.
        pipeline: what happens to a question, step by step.
        source: keys of the bibliography.
        module: module whose ``score(study, candidates)`` gives the score matrix (n_questions, n_chunks).
        settings: sections of the profile that the scores depend on.
        uses: methods whose runs this one reads.
        function: name of the function in the module.
    """

    name: str
    title: str
    pipeline: str
    source: str
    module: str
    settings: tuple[str, ...]
    uses: tuple[str, ...] = ()
    function: str = "score"

    def score(self, study, candidates: np.ndarray) -> np.ndarray:
        """The score matrix under the given candidates; see :mod:`lib.study` for what a study offers."""
        return getattr(importlib.import_module(self.module), self.function)(study, candidates)

    def code_version(self) -> str:
        """A hash of the code of the method's module, blind to comments, docstrings and layout."""
        return code_hash(importlib.import_module(self.module))


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
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


_ROWS = (
    Method(
        "dense",
        "Dense",
        "question → embedding → cosine with the best window of each chunk",
        "karpukhin2020dpr,reimers2019sbert",
        "lib.retrievers.dense",
        ("embedder",),
    ),
    Method(
        "bm25",
        "BM25",
        "question → finance tokens → Okapi BM25 over chunks",
        "robertson2009bm25",
        "lib.retrievers.bm25",
        ("bm25",),
    ),
    Method(
        "hybrid_rrf",
        "Hybrid RRF",
        "dense and BM25 → reciprocal rank fusion",
        "cormack2009rrf",
        "lib.retrievers.fusion",
        ("hybrid_rrf",),
        ("dense", "bm25"),
    ),
)

METHODS: dict[str, Method] = {method.name: method for method in _ROWS}


def method(name: str) -> Method:
    """A row of the table.

    Raises:
        StudyError: there is no such method; the message lists those there are.
    """
    if name not in METHODS:
        raise StudyError(f"no method {name!r}: say one of {', '.join(METHODS)}")
    return METHODS[name]
