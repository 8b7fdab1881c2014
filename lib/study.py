"""A study: one dataset under one profile, with every result looked up in the store before it is computed.

This is what notebooks and retrievers hold. It offers the frames (``filings``, ``pages``, ``chunks``, ``questions``),
``run(method, condition)`` and the settings (``profile``), and writes the files of the contract to ``outputs``.
:func:`lib.studies.open_study` opens one by name.
"""

import copy
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
import pymupdf

from lib import runs
from lib.cache import Cache
from lib.data.chunks import load_tokenizer, split_pages
from lib.data.dataset import check_gold, extract_pages
from lib.data.layout import Dataset
from lib.files import ROOT, aside, digest_of, write_atomically
from lib.models.generator import open_generator
from lib.models.prompts import Generator
from lib.models.weights import fetch, weights_hash
from lib.models.written import GenerationLog, Model, take_over
from lib.profile import Settings
from lib.published import Published
from lib.store import Entry, Store
from lib.words import CHUNK_COLUMNS, Condition, NeedsFilings, StudyError

if TYPE_CHECKING:
    from lib.chunkings.table import Chunking
    from lib.methods import Method

ARTIFACTS = ROOT / "artifacts"
GENERATIONS = "generations.jsonl"
PAGES_VERSION = 1
CHUNKS_VERSION = 1
ALWAYS = ("chunks", "run")  # sections of the profile that every method depends on
QUESTION_IDENTITY = ("question_id", "question", "doc_name", "gold_pages")
QUESTION_LABELS = ("question_type", "doc_type", "company", "doc_period")


class Study:
    """One dataset under one profile.

    Args:
        dataset: the records and where the filings are.
        profile: which models and sizes.
        methods: the method table, by name.
        chunkings: the other chunk tables, by name.
        artifacts: directory for everything computed.
        published: results that are used where they have the wanted keys; None to compute everything.
        outputs: directory of the contract's files; by default ``home``, ``<artifacts>/<dataset>/<profile>``.
        chapter: name of the asking chapter, for the log of stages.

    Attributes:
        home: directory of this dataset and profile.
        store: stored results.
        cache: what models gave, item by item.
        chunking: name of the chunk table that ``chunks`` is; empty for the study's own.
        parameters: the chapter's own parameters, such as ``k``.
    """

    def __init__(
        self,
        dataset: Dataset,
        profile: Settings,
        methods: "Mapping[str, Method]",
        chunkings: "Mapping[str, Chunking]",
        artifacts: Path = ARTIFACTS,
        published: Published | None = None,
        outputs: Path | None = None,
        chapter: str = "",
    ):
        self.dataset, self.profile, self.methods, self.chunkings = dataset, profile, methods, chunkings
        self.published, self.chapter, self.chunking = published, chapter, ""
        self.home = Path(artifacts) / dataset.name / profile.name
        self.outputs = Path(outputs or self.home)
        # the demo shows everything at work: of its published results only the language model's texts are used
        layer = None if dataset.name == "demo" else published
        self.store = Store(Path(artifacts) / "store", on_use=self._log_stage, published=layer)
        self.cache = Cache(Path(artifacts) / "cache.sqlite")
        self._memo: dict[object, tuple[object, set[str]]] = {}
        self.parameters: dict[str, object] = {}
        self._whole: Self | None = None  # the study with its whole profile, where a method sees a part

    def _copy(self, **changes: object) -> Self:
        other = copy.copy(self)
        other.__dict__.update(changes)
        return other

    def with_changes(self, changes: dict[str, object]) -> Self:
        """This study with dotted settings of its profile replaced."""
        return self._copy(profile=self.profile.replaced(changes), _memo={}, _whole=None)

    def with_chunks(self, chunking: str) -> Self:
        """This study over another chunk table: ``chunks`` and all that is made of them are that table's.

        Raises:
            StudyError: there is no such table.
        """
        if chunking == self.chunking:
            return self
        if chunking and chunking not in self.chunkings:
            raise StudyError(f"no chunk table {chunking!r}: say one of {', '.join(self.chunkings)}")
        return self._copy(chunking=chunking)

    @property
    def original(self) -> Self:
        """This study over its own chunks."""
        return self.with_chunks("")

    def memo(self, key: object, compute: Callable[[], object]) -> object:
        """A value that is kept while this process lives, by chunk table and key; the stages behind it are noted."""
        place = (self.chunking, key)
        if place not in self._memo:
            with self.store.recording() as asked:
                self._memo[place] = compute(), asked
        value, asked = self._memo[place]
        self.store.note(asked)
        return value

    @property
    def has_text(self) -> bool:
        """Whether the filings and the questions' text are on this machine."""
        return self.dataset.has_text

    def need_filings(self, what: str) -> None:
        """Refuse what is impossible without the filings.

        Raises:
            NeedsFilings: they are not on this machine.
        """
        if not self.has_text:
            raise NeedsFilings(f"{what} needs the filings, which are not on this machine")

    @property
    def questions(self) -> pd.DataFrame:
        """QUESTION_COLUMNS, in the dataset's order; without filings only those that contain no text."""
        return self.dataset.questions

    @property
    def pages(self) -> pd.DataFrame:
        """PAGE_COLUMNS of every filing; extracted once for all question sets, and the gold pages of each checked."""

        def checked() -> pd.DataFrame:
            params = {"filings": self.dataset.filings_digest, "pymupdf": pymupdf.VersionBind}
            pages = self._text("pages", "pages", params, lambda: extract_pages(self.dataset), PAGES_VERSION)
            params |= {"questions": self.dataset.fingerprint}
            self.store.value("gold", params, lambda: check_gold(self.dataset, pages))
            return pages

        return self.memo("pages", checked)

    def _text(self, name: str, stage: str, params: dict, make: Callable[[], pd.DataFrame], version: int):
        """A stored frame of text, which is also a file of the contract."""
        self.need_filings(f"the {name.partition('/')[0]}' text")

        def compute(target: Path) -> None:
            make().to_parquet(target / f"{Path(name).name}.parquet", index=False)

        entry = self.store.get(stage, params, compute, version)
        return pd.read_parquet(self.link(entry.path / f"{Path(name).name}.parquet", f"{name}.parquet"))

    @property
    def filings(self) -> pd.DataFrame:
        """FILING_COLUMNS."""
        if "n_pages" in self.dataset.filings:
            return self.dataset.filings
        counts = self.memo("n_pages", lambda: self.pages.groupby("doc_name").size().rename("n_pages"))
        return self.dataset.filings.merge(counts, left_on="doc_name", right_index=True, how="left")

    @property
    def chunks(self) -> pd.DataFrame:
        """CHUNK_COLUMNS of every page."""
        return self.memo("chunks", (self._whole or self).with_chunks(self.chunking)._chunks)

    def _chunks(self) -> pd.DataFrame:
        def split() -> pd.DataFrame:
            tokenizer = load_tokenizer(fetch(self.profile.embedder.weights))
            return split_pages(self.pages, tokenizer, self.profile.chunks.size, self.profile.chunks.overlap)

        def make() -> pd.DataFrame:
            made = table.make(self.original, **table.options)[list(CHUNK_COLUMNS)]
            if made["chunk_id"].duplicated().any():
                raise ValueError(f"{self.chunking}: chunk ids occur twice")
            return made

        if not self.chunking:
            return self._text("chunks", "chunks", self._chunks_params(), split, CHUNKS_VERSION)
        table, name = self.chunkings[self.chunking], f"chunkings/{self.chunking}"
        return self._text(name, name, self._chunks_params(), make, table.version)

    def _chunks_params(self) -> dict:
        if self.chunking:
            digests = {name: self.original.digest(name) for name in ("pages", "chunks", "filings")}
            return digests | {"settings": self.settings_of(self.chunkings[self.chunking].settings)}
        settings, tokenizer = self.profile.chunks, weights_hash(self.profile.embedder.weights)
        given = {"pages": self.digest("pages"), "size": settings.size, "overlap": settings.overlap}
        return given | {"tokenizer": tokenizer}

    def digest(self, name: str) -> str:
        """What identifies the content of a frame, 20 hex digits.

        Args:
            name: ``pages``, ``chunks`` (ids and keys), ``questions`` (texts, gold pages and labels), ``evidence`` or
                ``filings`` (the files).
        """
        if name == "filings":
            return self.dataset.filings_digest
        whole = (self._whole or self).with_chunks(self.chunking)
        return self.memo(("digest", name), lambda: whole._digest(name))

    def _digest(self, name: str) -> str:
        stage, params, version = f"digests/{name}", {"dataset": self.dataset.fingerprint}, 1
        if name == "pages":
            params = {"filings": self.dataset.filings_digest, "pymupdf": pymupdf.VersionBind}
            version = PAGES_VERSION
        elif name == "chunks":
            params, version = self._chunks_params(), CHUNKS_VERSION
            if self.chunking:  # known by what it is made from: building a table can take long
                return digest_of([self.chunking, self.chunkings[self.chunking].version, params])[:20]
        make = lambda: digest_of(self._content(name))[:20]  # noqa: E731
        return self.store.value(stage, params, make, version, public=True)

    def _content(self, name: str) -> object:
        """What a digest is made of, JSON-able."""
        if name == "pages":
            return self.pages.astype({"page": int}).to_dict("list")
        if name == "chunks":
            return [self.chunks["chunk_id"].tolist(), self.chunks["key"].tolist()]
        self.need_filings("the questions' text")
        _ = self.pages  # gold pages are checked before anything is measured against them
        columns = ["evidence"] if name == "evidence" else [*QUESTION_IDENTITY, *QUESTION_LABELS]
        return [list(map(str, row)) for row in self.questions[columns].itertuples(index=False)]

    def settings_of(self, sections: tuple[str, ...]) -> dict:
        """Sections of the profile as a part of a key, with each model's name replaced by its weights' hash."""
        return {name: _with_hashes(self.profile[name]) for name in sections}

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

    def method(self, name: str) -> "Method":
        """A row of the method table.

        Raises:
            StudyError: there is no such method; the message lists those there are.
        """
        if name not in self.methods:
            raise StudyError(f"no method {name!r}: say one of {', '.join(self.methods)}")
        return self.methods[name]

    def run(self, name: str, condition: Condition = "standard") -> pd.DataFrame:
        """One method's ranked chunks under one condition (RUN_COLUMNS): stored, published, or computed now."""
        entry = self.run_entry(name, condition)
        self.link(entry.path / "run.trec.gz", f"runs/{condition}/{name}.trec.gz")
        return self.memo(("run", entry.key), lambda: runs.read_trec(entry.path / "run.trec.gz"))

    def run_entry(self, name: str, condition: Condition = "standard") -> Entry:
        """The stored entry of a run; its ``digest`` identifies the run's content."""

        def compute(target: Path) -> None:
            searched = self.with_chunks(self.method(name).chunking)
            run = searched.rank_method(name, searched.candidates(condition), self.profile.run.depth)
            runs.write_trec(run, target / "run.trec.gz", name)

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

    def need_answers(self, what: str) -> None:
        """Refuse what is impossible without the questions' answers.

        Raises:
            StudyError: no question has one.
        """
        if "answer" in self.dataset.lacks:
            raise StudyError(f"{what} needs answers, which the questions of {self.dataset.name} lack")

    def generation_log(self) -> GenerationLog:
        """What language models wrote for this study, and for its collection about filings; shared by all reruns."""
        of_filings = self.home.parents[1] / self.dataset.collection / self.home.name / GENERATIONS
        if self.has_text and of_filings.is_file() and self.dataset.collection != self.dataset.name:
            doc_names = set(self.filings["doc_name"])
            self.memo("texts of filings", lambda: take_over(of_filings, self.home / GENERATIONS, doc_names))
        weights = self.profile.generator.weights
        read = lambda: self.published.generations(self.questions)  # noqa: E731
        published = self.published and self.memo("generations", read)
        model = Model(weights, weights_hash(weights))
        return GenerationLog(self.home / GENERATIONS, model, published, self.store.say)

    def make_generator(self) -> Generator:
        """The profile's language model; its weights and runtime are fetched only now."""
        return open_generator(self.profile.generator, fetch(self.profile.generator.weights))

    @property
    def provenance(self) -> str:
        """What a caption adds where results were not recomputed here."""
        origins = {entry.origin for (stage, _), entry in self.store.log.items() if stage[:5] == "runs/"}
        return f" {self.published.sentence}" if "published" in origins else ""

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file of ``outputs``, whole or not at all."""
        return write_atomically(self.outputs / name, content)

    def link(self, path: Path, name: str) -> Path:
        """Put a stored file under its contract name into ``outputs`` (a hard link where the disk allows it)."""
        target = self.outputs / name
        if not (target.exists() and target.stat().st_ino == path.stat().st_ino):
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = aside(target)
            try:
                temporary.hardlink_to(path)
            except OSError:
                shutil.copyfile(path, temporary)
            temporary.replace(target)
        return target

    def _log_stage(self, stage: str, key: str, origin: str) -> None:
        """Append a line to ``stages.jsonl``: which chapter used which stage, and where its result was from."""
        record = {"chapter": self.chapter, "stage": stage, "key": key, "origin": origin}
        log = self.outputs / "stages.jsonl"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a") as file:
            file.write(json.dumps(record) + "\n")


def _with_hashes(settings: object) -> object:
    if not isinstance(settings, dict):
        return settings
    hashed = {"weights": weights_hash(settings["weights"])} if "weights" in settings else {}
    return {key: hashed.get(key) or _with_hashes(value) for key, value in settings.items()}
