"""A row of the method table: which function scores, over which chunks, with which settings."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from lib.code import code_hash
from lib.words import CONDITIONS, Condition

Score = Callable[..., np.ndarray]
MAIN = "main"


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
        index_stages: stages of the store that index the filings for this method.
        query_stages: stages of the store that prepare its questions.
        function: name of the function in the module.
        code: other modules whose code the scores depend on.
        inputs: name of a function in the module, ``inputs(study)``, that gives what else the scores depend on.
        is_trained: whether it learns from questions (in folds).
        options: keyword arguments of the function, JSON-able: what tells the rows of one function apart.
        corpus: name of another chunk table that is searched (:mod:`lib.chunkings`); empty for the study's own.
        family: ``main``, or the key of the sibling study that the row is from.
        conditions: those that it is measured under.
    """

    name: str
    title: str
    pipeline: str
    source: str
    module: str
    settings: tuple[str, ...]
    uses: tuple[str, ...] = ()
    index_stages: tuple[str, ...] = ()
    query_stages: tuple[str, ...] = ()
    function: str = "score"
    code: tuple[str, ...] = ()
    inputs: str = ""
    is_trained: bool = False
    options: Mapping[str, object] = field(default_factory=dict)
    corpus: str = ""
    family: str = MAIN
    conditions: tuple[Condition, ...] = CONDITIONS

    def score(self, study, candidates: np.ndarray) -> np.ndarray:
        """The score matrix under the given candidates; see :mod:`lib.study` for what a study offers."""
        function = getattr(importlib.import_module(self.module), self.function)
        return function(study, candidates, **self.options)

    def citation(self) -> str:
        """The sources as the book cites them."""
        return f"{{cite}}`{self.source}`"

    def code_version(self) -> str:
        """A hash of the code behind the method, blind to comments, docstrings and layout."""
        return "-".join(code_hash(name) for name in (self.module, *self.code))

    def other_inputs(self, study) -> object:
        """What the scores depend on beside settings and code, JSON-able; None for most methods."""
        return getattr(importlib.import_module(self.module), self.inputs)(study) if self.inputs else None
