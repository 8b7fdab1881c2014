"""A study: one dataset under one profile, with every result looked up in the store before it is computed.

This is what notebooks and retrievers hold. Beside the frames (:mod:`lib.frames`) it offers ``run(method, condition)``
and what keys depend on. :func:`lib.studies.open_study` opens one by name.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from lib import runs
from lib.files import digest_of
from lib.frames import Frames
from lib.models.generator import open_generator
from lib.models.prompts import Generator
from lib.models.weights import fetch, weights_hash
from lib.models.written import GenerationLog, Model
from lib.store import Entry
from lib.words import Condition, StudyError

if TYPE_CHECKING:
    from lib.methods import Method

GENERATIONS, RUN = "generations.jsonl", "run.trec.gz"
ALWAYS = ("chunks", "run")  # sections of the profile that every method depends on


class Study(Frames):
    """One dataset under one profile, searched by the methods of a table; its arguments are those of Frames."""

    def method(self, name: str) -> "Method":
        """A row of the method table.

        Raises:
            StudyError: there is no such method; the message lists those there are.
        """
        if name not in self.methods:
            raise StudyError(f"no method {name!r}: say one of {', '.join(self.methods)}")
        return self.methods[name]

    def run_params(self, name: str, condition: Condition) -> dict:
        """All that a method's run depends on."""
        method = self.method(name)
        return {
            "method": name,
            "version": method.version,
            "condition": condition,
            "chunks": self.with_chunks(method.chunking).digest("chunks"),
            "questions": self.digest("questions"),
            "settings": self.settings_of((*ALWAYS, *method.settings)),
            "options": dict(method.options),
            "inputs": self.inputs_digest(name),
            "uses": [self.run_params(used, condition) for used in method.uses],
        }

    def inputs_digest(self, name: str) -> str:
        """What a method's scores depend on beside settings, such as written texts; without filings as published."""
        method = self.method(name)
        if method.inputs is None:
            return ""
        if not self.has_text:
            return self.published.manifest["inputs"].get(name, "") if self.published else ""
        return self.memo(("inputs", name), lambda: digest_of(method.inputs(self._for(name)))[:20])

    def run(self, name: str, condition: Condition = "standard") -> pd.DataFrame:
        """One method's ranked chunks under one condition (RUN_COLUMNS): stored, published, or computed now."""
        entry = self.run_entry(name, condition)
        place = self.published.places.get(entry.key) if entry.origin == "published" else None
        if place:
            return self.memo(("run", entry.key), partial(self.published.runs.get, place))
        if entry.origin != "published":
            self.link(entry.path / RUN, f"runs/{condition}/{name}.trec.gz")
        return self.memo(("run", entry.key), partial(runs.read_trec, entry.file(RUN)))

    def run_entry(self, name: str, condition: Condition = "standard") -> Entry:
        """The stored entry of a run; its ``digest`` identifies the run's content."""

        def compute(target: Path) -> None:
            searched = self.with_chunks(self.method(name).chunking)
            run = searched.rank_method(name, searched.candidates(condition), self.profile.run.depth)
            (target / RUN).write_bytes(runs.to_trec(run, name))

        stage, params = f"runs/{condition}/{name}", self.run_params(name, condition)
        return self.store.get(stage, params, compute, public=True)

    def run_digest(self, name: str, condition: Condition = "standard") -> str:
        """What identifies the content of a run."""
        return self.run_entry(name, condition).digest

    def candidates(self, condition: Condition) -> np.ndarray:
        """The candidate matrix of a condition, see :func:`lib.runs.candidates`."""
        make = runs.candidates
        return self.memo(("candidates", condition), lambda: make(condition, self.questions, self.chunks))

    def rank_method(self, name: str, allowed: np.ndarray, depth: int) -> pd.DataFrame:
        """Score with a method, keep what is allowed, and rank to ``depth`` (RUN_COLUMNS).

        Raises:
            UndeclaredSetting: the method reads a section of the profile that its row does not declare.
        """
        self.need_filings(f"a run of {name}")
        method = self.method(name)
        scores = method.score(self._for(name), allowed, **method.options).astype("float32", copy=True)
        scores[~allowed] = float("-inf")
        return runs.rank(scores, self.questions, self.chunks, depth)

    def _for(self, name: str) -> Self:
        """This study as a method sees it: with those sections of the profile alone that it or what it uses declares."""
        rows, sections = [self.method(name)], [*ALWAYS]
        for row in rows:
            sections += row.settings
            rows += map(self.method, row.uses)
        return self._copy(profile=self.profile.only(sections, name), _whole=self._whole or self)

    def generation_log(self) -> GenerationLog:
        """What a language model wrote for this study; shared by all reruns."""
        weights = self.profile.generator.weights
        model = Model(weights, weights_hash(weights))
        read = lambda: self.published.generations(self.questions)  # noqa: E731
        published = self.memo("generations", read) if self.published else [] if self.uses_published else None
        return GenerationLog(self.home / GENERATIONS, self.cache, model, published, self.store.say)

    def make_generator(self) -> Generator:
        """The profile's language model; its weights and runtime are fetched only now."""
        return open_generator(self.profile.generator, fetch(self.profile.generator.weights))

    @property
    def provenance(self) -> str:
        """What a caption adds where results were not recomputed here."""
        origins = {entry.origin for (stage, _), entry in self.store.log.items() if stage[:5] == "runs/"}
        return f" {self.published.sentence}" if "published" in origins else ""
