"""A study: a corpus that is searched by methods, with every run looked up in the store before it is computed.

This is what notebooks hold, and what retrievers see a part of (:class:`lib.method.Search`).
:func:`lib.studies.open_study` opens one by name.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from lib import runs
from lib.corpus import Corpus, settings_of
from lib.files import digest_of
from lib.method import Method
from lib.models.generator import open_generator
from lib.models.prompts import Generator
from lib.models.weights import fetch
from lib.models.written import GenerationLog
from lib.schema import Condition, StudyError
from lib.store import Entry

RUN = "run.trec.gz"
ALWAYS = ("chunks", "run")  # sections of the profile that every method depends on


class Study:
    """A corpus under the methods of a table; most members of the corpus are the study's too.

    ``profile`` is the corpus's, or for a method the sections that it declares; ``chunking`` names the chunk table that
    ``chunks`` is, empty for the study's own; ``parameters`` are the chapter's own, such as ``k``.
    """

    dataset, published = property(attrgetter("corpus.dataset")), property(attrgetter("corpus.published"))
    store, cache = property(attrgetter("corpus.store")), property(attrgetter("corpus.cache"))
    index_folder = property(attrgetter("corpus.index_folder"))
    home, outputs = property(attrgetter("corpus.home")), property(attrgetter("corpus.outputs"))
    write, link = property(attrgetter("corpus.write")), property(attrgetter("corpus.link"))
    questions, filings = property(attrgetter("dataset.questions")), property(attrgetter("corpus.filings"))
    pages, tokenizer = property(attrgetter("corpus.pages")), property(attrgetter("corpus.tokenizer"))
    need_filings, has_text = property(attrgetter("corpus.need_filings")), property(attrgetter("dataset.has_text"))

    def __init__(self, corpus: Corpus, methods: Mapping[str, Method]):
        self.corpus, self.methods, self.profile, self.chunking = corpus, methods, corpus.profile, ""
        self.parameters: dict[str, object] = {}

    def _replace(self, **changes: object) -> Self:
        other = copy.copy(self)
        other.__dict__.update(changes)
        return other

    def with_changes(self, changes: Mapping[str, object]) -> Self:
        """This study with dotted settings of its profile replaced."""
        corpus = self.corpus.with_changes(changes)
        return self._replace(corpus=corpus, profile=corpus.profile)

    def with_chunks(self, chunking: str) -> Self:
        """This study over another chunk table, an empty name for its own; a StudyError where there is none."""
        known = self.corpus.chunkings
        if chunking and chunking not in known:
            raise StudyError(f"no chunk table {chunking!r}: say one of {', '.join(known)}")
        return self if chunking == self.chunking else self._replace(chunking=chunking)

    @property
    def chunks(self) -> pd.DataFrame:
        """CHUNK_COLUMNS of every page, of the table that is searched."""
        if self.chunking:
            return self.corpus.table(self.chunking, self._replace(chunking="", profile=self.corpus.profile))
        return self.corpus.chunks()

    def digest(self, name: str) -> str:
        """What identifies a frame (:meth:`lib.corpus.Corpus.digest`), the ``dataset``, or ``run=CONDITION/METHOD``."""
        if name.startswith("run="):
            condition, _, method = name[4:].partition("/")
            return self.run_entry(method, condition).digest
        return self.dataset.fingerprint if name == "dataset" else self.corpus.digest(name, self.chunking)

    def settings_of(self, sections: Sequence[str]) -> dict:
        """Sections of the profile as a part of a key, see :func:`lib.corpus.settings_of`."""
        return settings_of(self.profile, sections)

    def memo(self, key: object, compute: Callable[[], object]) -> object:
        """A value that is kept while this process lives, by chunk table and key."""
        return self.corpus.memo((self.chunking, key), compute)

    def need_answers(self, what: str) -> None:
        """Refuse what is impossible without the questions' answers: a StudyError where no question has one."""
        if "answer" in self.dataset.lacks:
            raise StudyError(f"{what} needs answers, which the questions of {self.dataset.name} lack")

    def method(self, name: str) -> Method:
        """A row of the method table; a StudyError that lists the names where there is none."""
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
        return self.memo(("inputs", name), lambda: digest_of(method.inputs(self.restricted_to(name)))[:20])

    def run(self, name: str, condition: Condition = "standard") -> pd.DataFrame:
        """One method's ranked chunks under one condition (RUN_COLUMNS): stored, published, or computed now."""
        entry = self.run_entry(name, condition)
        read = partial(runs.read_trec, entry.file(RUN))
        if entry.origin != "published":
            self.link(entry.path / RUN, f"runs/{condition}/{name}.trec.gz")
        elif place := self.published.places.get(entry.key):
            read = partial(self.published.runs.get, place)
        return self.memo(("run", entry.key), read)

    def run_entry(self, name: str, condition: Condition = "standard") -> Entry:
        """The stored entry of a run; its ``digest`` identifies the run's content."""

        def compute(target: Path) -> None:
            self.need_filings(f"a run of {name}")
            searched = self.with_chunks(self.method(name).chunking)
            run = searched.rank_method(name, searched.candidates(condition), self.profile.run.depth)
            (target / RUN).write_bytes(runs.to_trec(run, name))

        return self.store.get(f"runs/{condition}/{name}", self.run_params(name, condition), compute, public=True)

    def has_run(self, name: str, condition: Condition) -> bool:
        """Whether a run is published, or can be computed here."""
        return self.has_text or f"{condition}/{name}" in self.published.manifest["runs"]

    def candidates(self, condition: Condition) -> np.ndarray:
        """The candidate matrix of a condition, see :func:`lib.runs.candidates`."""
        return self.memo(("candidates", condition), lambda: runs.candidates(condition, self.questions, self.chunks))

    def rank_method(self, name: str, allowed: np.ndarray, depth: int) -> pd.DataFrame:
        """Score with a method, keep what is allowed, and rank to ``depth`` (RUN_COLUMNS).

        An UndeclaredSetting names the method where it reads a section of the profile that its row does not declare, a
        StudyError one whose scores have another shape than ``allowed``, a ValueError one that gives NaN.
        """
        method = self.method(name)
        scores = np.array(method.score(self.restricted_to(name), allowed, **method.options), "float32")
        if scores.shape != allowed.shape:
            needed = f"give one for each question and chunk, {allowed.shape}"
            raise StudyError(f"{name} gives scores of the shape {scores.shape}; {needed}")
        scores[~allowed] = float("-inf")
        try:
            return runs.rank(scores, self.questions, self.chunks, depth)
        except ValueError as error:
            raise ValueError(f"{name}, {error}") from None

    def restricted_to(self, name: str) -> Self:
        """This study as a method sees it: with those sections of the profile alone that it or what it uses declares."""
        rows, sections = [self.method(name)], [*ALWAYS]
        for row in rows:
            sections += row.settings
            rows += map(self.method, row.uses)
        return self._replace(profile=self.corpus.profile.only(sections, name))

    def generation_log(self) -> GenerationLog:
        """What a language model wrote for this study; shared by all reruns."""
        return self.corpus.generation_log(self.profile.generator.weights)

    def make_generator(self) -> Generator:
        """The profile's language model; its weights and runtime are fetched only now."""
        return open_generator(self.profile.generator, fetch(self.profile.generator.weights))

    @property
    def provenance(self) -> str:
        """What a caption adds where results were not recomputed here."""
        origins = {entry.origin for (stage, _), entry in self.store.log.items() if stage[:5] == "runs/"}
        return f" {self.published.sentence}" if "published" in origins else ""
