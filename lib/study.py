"""A study: the frames of a dataset under a profile, and the runs of methods over them.

What is expensive is looked up in the store before it is computed. Retrievers see a part of a study, :class:`Searched`.
:func:`lib.studies.open_study` opens one by name.
"""

import copy
import gzip
import hashlib
import io
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Self

import numpy as np
import pandas as pd
from tokenizers import Tokenizer

from lib import runs
from lib.cache import Cache
from lib.data.chunks import load_tokenizer, split_pages
from lib.data.layout import Dataset
from lib.data.pages import check_gold, extract_pages, hint_of_shift
from lib.files import ARTIFACTS, INDEX, digest_of, exclusively, report, temporary_path, write_atomically
from lib.keys import settings_of
from lib.method import Chunking, Method, Search, unknown_method
from lib.models.generator import open_generator
from lib.models.prompts import Generator
from lib.models.weights import fetch, weights_hash
from lib.models.written import GenerationLog, Model
from lib.profile import Settings
from lib.published import Published
from lib.schema import CHUNK_COLUMNS, Condition, Names, NeedsFilings, StudyError
from lib.store import Entry, Store

GENERATIONS = "generations.jsonl"
PAGES_VERSION = CHUNKS_VERSION = DIGESTS_VERSION = 1
FRAMES = ("dataset", "filings", "pages", "chunks", "questions", "evidence")  # that have a digest
RUN_SECTIONS = ("chunks", "run")  # of the profile, that every method depends on
IDENTITY = ("question_id", "question", "doc_name", "gold_pages")
FRESH = Names(results="fresh")
LABELS = ("question_type", "doc_type", "company", "doc_period")


class Study:
    """A dataset under a profile and a method table.

    Args:
        published: results that are used where they have the wanted keys.
        outputs: the folder of the contract's files, by default ``home``, ``artifacts/<dataset>/<profile>``.
        chapter: name of the asking chapter, for the log of stages.
        names: what it was opened by; unless its results are ``fresh``, texts that another profile's log has from its
            publication are used, too, where nothing is ``published`` of this one.
        parameters: the chapter's own, such as ``k``.

    Attributes:
        questions: QUESTION_COLUMNS.
        has_text: whether the filings are on this machine.
        chunking: name of the chunk table that ``chunks`` is, empty for the study's own.
    """

    def __init__(
        self,
        dataset: Dataset,
        profile: Settings,
        methods: Mapping[str, Method],
        chunkings: Mapping[str, Chunking],
        artifacts: Path = ARTIFACTS,
        published: Published | None = None,
        outputs: Path | None = None,
        chapter: str = "",
        names: Names = FRESH,
        parameters: Mapping[str, object] = MappingProxyType({}),
    ):
        self.dataset, self.profile, self.methods, self.chunkings = dataset, profile, methods, chunkings
        self.published, self.chapter, self.names, self.artifacts = published, chapter, names, Path(artifacts)
        self.home = self.artifacts / dataset.name / profile.name
        self.outputs = Path(outputs or self.home)
        self.store = Store(self.artifacts / "store", on_use=self._log_stage, published=published)
        self.cache = Cache(self.artifacts / "cache.sqlite")
        self.index_folder = self.artifacts / INDEX
        self.questions, self.has_text = dataset.questions, dataset.has_text
        self.chunking, self.parameters = "", parameters
        self._memo: dict[object, tuple[object, set[str]]] = {}

    # frames

    @property
    def filings(self) -> pd.DataFrame:
        """FILING_COLUMNS."""
        if "n_pages" in self.dataset.filings:
            return self.dataset.filings
        count = lambda: self.pages.groupby("doc_name").size().rename("n_pages")  # noqa: E731
        counts = self.with_chunks("").memo("n_pages", count)
        return self.dataset.filings.merge(counts, left_on="doc_name", right_index=True, how="left")

    @property
    def pages(self) -> pd.DataFrame:
        """PAGE_COLUMNS of every filing; extracted once for all question sets, and the gold pages of each checked."""

        def read() -> pd.DataFrame:
            params = self._pages_params()
            pages = self._text("pages", params, lambda: extract_pages(self.dataset), PAGES_VERSION)
            params |= {"questions": self.dataset.fingerprint}
            self.store.frame("gold", params, lambda: check_gold(self.dataset, pages))
            if hint := hint_of_shift(self.dataset, pages):
                report(hint)
            return pages

        return self.with_chunks("").memo("pages", read)

    @property
    def chunks(self) -> pd.DataFrame:
        """CHUNK_COLUMNS of every page, of the table that is searched."""
        return self.memo("chunks", self._split if self.chunking == "" else self._cut_otherwise)

    def _split(self) -> pd.DataFrame:
        """The study's own chunks: spans of tokens."""
        settings = self.profile.chunks
        make = lambda: split_pages(self.pages, self.tokenizer, settings.size, settings.overlap)  # noqa: E731
        return self._text("chunks", self.chunks_params(), make, CHUNKS_VERSION)

    def _cut_otherwise(self) -> pd.DataFrame:
        """The chunks of another table."""
        name, way = self.chunking, self.chunkings[self.chunking]

        def make() -> pd.DataFrame:
            searched = Searched(self.with_chunks(""), self.profile.only(way.settings, name), ())
            table = way.make(searched, **way.options)[list(CHUNK_COLUMNS)]
            if table["chunk_id"].duplicated().any():
                raise ValueError(f"{name}: chunk ids occur twice")
            return table

        return self._text(f"chunkings/{name}", self.chunks_params(name), make, way.version)

    def with_chunks(self, chunking: str) -> Self:
        """This study over another chunk table, an empty name for its own; a StudyError where there is none."""
        if chunking and chunking not in self.chunkings:
            raise StudyError(f"unknown chunk table {chunking!r}; choose from {', '.join(self.chunkings)}")
        return self if chunking == self.chunking else self.replaced(chunking=chunking)

    def with_changes(self, changes: Mapping[str, object]) -> Self:
        """This study with dotted settings of its profile replaced."""
        return self.replaced(profile=self.profile.replaced(changes), _memo={})

    def replaced(self, **changes: object) -> Self:
        """This study with other attributes, such as ``outputs``; both share what is in memory."""
        other = copy.copy(self)
        other.__dict__.update(changes)
        return other

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the encoder, without truncation or padding."""
        return load_tokenizer(fetch(self.profile.embedder.weights))

    def need_filings(self, what: str) -> None:
        """Refuse what is impossible without the filings: NeedsFilings where they are not on this machine."""
        if not self.has_text:
            download = "download them with DATASET=financebench, or use DATASET=demo"
            raise NeedsFilings(f"{what} needs the filings, which are not on this machine; {download}")

    def need_answers(self, what: str) -> None:
        """Refuse what is impossible without the questions' answers: a StudyError where no question has one."""
        if "answer" in self.dataset.lacks:
            raise StudyError(f"{what} needs answers, which the questions of {self.dataset.name} lack")

    def _text(self, stage: str, params: dict, make: Callable[[], pd.DataFrame], version: int) -> pd.DataFrame:
        """A stored frame of text; its stage's name is also that of a file of the contract."""
        self.need_filings(f"the text of {stage}")
        entry = self.store.frame_entry(stage, params, make, version)
        self.link(entry.file(entry.names[0]), f"{stage}.parquet")
        return entry.frame()

    # keys

    def digest(self, name: str) -> str:
        """What identifies the content of a frame, 20 hex digits.

        ``dataset``, ``filings`` (the files), ``pages``, ``chunks`` (ids and keys; those of another table are known by
        what they are made from), ``questions`` (texts, gold pages and labels) or ``evidence``.
        """
        if name in ("dataset", "filings"):
            return self.dataset.fingerprint if name == "dataset" else self.dataset.filings_digest
        if name not in FRAMES:
            raise ValueError(f"no digest of {name!r}; choose from {', '.join(FRAMES)}")
        over = self if name == "chunks" else self.with_chunks("")
        return over.memo(("digest", name), lambda: over._digest(name))

    def _digest(self, name: str) -> str:
        if name == "chunks" and self.chunking:
            version = self.chunkings[self.chunking].version
            return digest_of([self.chunking, version, self.chunks_params(self.chunking)])[:20]
        params, version = {"dataset": self.dataset.fingerprint}, DIGESTS_VERSION
        if name == "pages":
            params, version = self._pages_params(), PAGES_VERSION
        elif name == "chunks":
            params, version = self.chunks_params(), CHUNKS_VERSION
        make = lambda: digest_of(self._content(name))[:20]  # noqa: E731
        return self.store.frame(f"digests/{name}", params, make, version, public=True)

    def _content(self, name: str) -> object:
        """What a digest is made of, JSON-able."""
        if name == "pages":
            return self.pages.astype({"page": int}).to_dict("list")
        if name == "chunks":
            return [self.chunks["chunk_id"].tolist(), self.chunks["key"].tolist()]
        self.need_filings("the questions' text")
        _ = self.pages  # gold pages are checked before anything is measured against them
        columns = ["evidence"] if name == "evidence" else [*IDENTITY, *LABELS]
        return [list(map(str, row)) for row in self.questions[columns].itertuples(index=False)]

    def _pages_params(self) -> dict:
        import pymupdf

        return {"filings": self.dataset.filings_digest, "pymupdf": pymupdf.VersionBind}

    def chunks_params(self, chunking: str = "") -> dict:
        """What the chunks of a table depend on, JSON-able."""
        if chunking:
            own = self.with_chunks("")
            digests = {name: own.digest(name) for name in ("pages", "chunks", "filings")}
            return digests | {"settings": self.settings_of(self.chunkings[chunking].settings)}
        given = {"pages": self.digest("pages"), "tokenizer": weights_hash(self.profile.embedder.weights)}
        return given | {name: self.profile.chunks[name] for name in ("size", "overlap")}

    def settings_of(self, sections: Sequence[str]) -> dict:
        """Sections of the profile as a part of a key, see :func:`lib.keys.settings_of`."""
        return settings_of(self.profile, sections)

    def memo(self, key: object, make: Callable[[], object]) -> object:
        """A value that stays in memory, by chunk table and key; the stages that it used count for each who asks."""
        place = self.chunking, key
        if place not in self._memo:
            with self.store.recording() as used:
                self._memo[place] = make(), used
        value, used = self._memo[place]
        self.store.note(used)
        return value

    # runs

    def method(self, name: str) -> Method:
        """A row of the method table; a StudyError that names the nearest ones where there is none."""
        if name not in self.methods:
            raise unknown_method(name, self.methods)
        return self.methods[name]

    def run(self, name: str, condition: Condition = "standard") -> pd.DataFrame:
        """One method's ranked chunks under one condition (RUN_COLUMNS): stored, published, or computed now."""
        entry = self.run_entry(name, condition)
        if entry.origin == "published":
            return self.memo(("run", entry.key), lambda: self.published.runs[self.published.places[entry.key]])
        return self.memo(("run", entry.key), entry.frame)

    def run_entry(self, name: str, condition: Condition = "standard") -> Entry:
        """The stored entry of a run; its ``digest`` identifies the run's content."""

        def make() -> pd.DataFrame:
            self.need_filings(f"a run of {name}")
            searched = self.with_chunks(self.method(name).chunking)
            return searched.rank_method(name, searched.candidates(condition), self.profile.run.depth)

        stage, params = f"runs/{condition}/{name}", self.run_params(name, condition)
        return self.store.frame_entry(stage, params, make, public=True, digest=partial(run_digest, tag=name))

    def has_run(self, name: str, condition: Condition) -> bool:
        """Whether a run is published, or can be computed here."""
        return self.has_text or bool(self.published and f"{condition}/{name}" in self.published.manifest["runs"])

    def run_params(self, name: str, condition: Condition) -> dict:
        """All that a method's run depends on."""
        method = self.method(name)
        return {
            "method": name,
            "version": method.version,
            "condition": condition,
            "chunks": self.with_chunks(method.chunking).digest("chunks"),
            "questions": self.digest("questions"),
            "settings": settings_of(self.profile, (*RUN_SECTIONS, *method.settings)),
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

    def candidates(self, condition: Condition) -> np.ndarray:
        """The candidate matrix of a condition, see :func:`lib.runs.candidates`."""
        return self.memo(("candidates", condition), partial(runs.candidates, condition, self.questions, self.chunks))

    def rank_method(self, name: str, allowed: np.ndarray, depth: int) -> pd.DataFrame:
        """Score with a method, mask what is not allowed, and rank to ``depth`` (RUN_COLUMNS).

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

    def restricted_to(self, name: str) -> "Searched":
        """What a method sees of this study, with the sections of the profile that it or what it uses declares."""
        rows, sections = [self.method(name)], [*RUN_SECTIONS]
        for row in rows:
            sections += row.settings
            rows += map(self.method, row.uses)
        return Searched(self, self.profile.only(sections, name), self.method(name).uses)

    @property
    def has_used_published_runs(self) -> bool:
        """Whether a run that was asked for came from what was published."""
        runs = (entry for (stage, _), entry in self.store.log.items() if stage.startswith("runs/"))
        return any(entry.origin == "published" for entry in runs)

    # texts of a language model

    def generation_log(self) -> GenerationLog:
        """What the profile's language model wrote for this dataset and profile; all reruns share it."""
        weights = self.profile.generator.weights
        published = None if self.names.results == "fresh" else []
        if self.published:
            published = self.memo("generations", lambda: self.published.generations(self.questions))
        model = Model(weights, weights_hash(weights))
        return GenerationLog(self.home / GENERATIONS, self.cache, model, published, self.store.say)

    def make_generator(self) -> Generator:
        """The profile's language model; its weights and runtime are fetched only now."""
        return open_generator(self.profile.generator, fetch(self.profile.generator.weights))

    # outputs

    def alone(self) -> AbstractContextManager[None]:
        """Hold the outputs of the dataset, which a book, its site and ``measure`` write whole; others wait."""
        return exclusively(self.artifacts / "locks" / f"outputs-{self.dataset.name}", self.store.say)

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file of ``outputs``, whole or not at all."""
        return write_atomically(self.outputs / name, content)

    def link(self, path: Path, name: str) -> Path:
        """Put a stored file under its contract name into ``outputs`` (a hard link where the disk allows it)."""
        target = self.outputs / name
        if target.exists() and target.samefile(path):
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = temporary_path(target)
        try:
            temporary.hardlink_to(path)
        except OSError:
            shutil.copyfile(path, temporary)
        return temporary.replace(target)

    def _log_stage(self, stage: str, key: str, origin: str) -> None:
        """Append a line to ``stages.jsonl``: which chapter used which stage, and where its result was from."""
        record = {"chapter": self.chapter, "stage": stage, "key": key, "origin": origin}
        self.outputs.mkdir(parents=True, exist_ok=True)
        with (self.outputs / "stages.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


class Searched:
    """What a method sees of a study: the members of :class:`lib.method.Search` and no other, with its own profile, and
    the runs of the methods that it ``uses``. Anything else is an AttributeError that names it.
    """

    def __init__(self, study: Study, profile: Settings, uses: Sequence[str]):
        self._study, self.profile, self._uses = study, profile, uses

    def __getattr__(self, name: str) -> object:
        if name not in SEARCH_MEMBERS:
            raise AttributeError(f"a method cannot read {name!r} of a study; lib.method.Search has what it can")
        return getattr(self._study, name)

    def with_chunks(self, chunking: str) -> Self:
        """The same over another chunk table."""
        return Searched(self._study.with_chunks(chunking), self.profile, self._uses)

    def run(self, name: str, condition: Condition = "standard") -> pd.DataFrame:
        """The stored run of another method, which the row has to list in ``uses``."""
        if name not in self._uses:
            raise AttributeError(f"a method cannot read the run of {name!r}, which its row does not list in uses")
        return self._study.run(name, condition)

    def rank_method(self, name: str, allowed: np.ndarray, depth: int) -> pd.DataFrame:
        """The ranking of another method among the allowed chunks; the row has to declare that one's settings."""
        self.profile.only(self._study.method(name).settings, name)
        return self._study.rank_method(name, allowed, depth)

    def settings_of(self, sections: Sequence[str]) -> dict:
        """Sections of the profile as a part of a key."""
        return settings_of(self.profile, sections)


SEARCH_MEMBERS = {*Search.__annotations__, *(name for name in vars(Search) if not name.startswith("_"))}


def run_digest(run: pd.DataFrame, tag: str) -> str:
    """What identifies a run's content in keys, 20 hex digits: the digest of its gzipped TREC file."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:  # other bytes than those of gzip.compress
        file.write(runs.trec_lines(run, tag))
    return digest_of({"run.trec.gz": hashlib.sha256(packed.getvalue()).hexdigest()})[:20]
