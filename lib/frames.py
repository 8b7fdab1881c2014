"""The frames of a dataset under a profile: filings, pages, chunks and questions, what identifies them, and the outputs.

Every frame is looked up in the store before it is computed; the files of the contract are written to ``outputs``.
"""

import copy
import json
import shutil
from collections.abc import Callable, Mapping
from functools import cache, partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pandas as pd
from tokenizers import Tokenizer

from lib.cache import Cache
from lib.data.chunks import load_tokenizer, split_pages
from lib.data.layout import Dataset
from lib.data.pages import check_gold, extract_pages
from lib.files import ROOT, aside, digest_of, digest_of_file, write_atomically
from lib.models.weights import fetch, weights_hash
from lib.profile import Settings
from lib.published import Published
from lib.store import Store
from lib.words import CHUNK_COLUMNS, NeedsFilings, StudyError

if TYPE_CHECKING:
    from lib.chunkings.table import Chunking
    from lib.methods import Method

ARTIFACTS = ROOT / "artifacts"
PAGES_VERSION = 1
CHUNKS_VERSION = 1
LATER = {"engine": "torch"}  # of published manifests: with these values no part of a key
#: Files of data that go with a section of the profile, and the digests with which keys were made that do not name them.
READ = {
    "bm25": {"retrievers/stop_words.txt": "e74feb668ca57f0910d4"},
    "ahead": {"ahead/kinds.yaml": "15c1c5b3455a690da138", "data/items.yaml": "d4a3975be11b8413334f"},
    "answers": {"answers/asked.yaml": "b1bb5b93c5843894c9cf", "metrics/answers.yaml": "a87e2f0e1cf2f6baa82c"},
}
QUESTION_IDENTITY = ("question_id", "question", "doc_name", "gold_pages")
QUESTION_LABELS = ("question_type", "doc_type", "company", "doc_period")


@cache
def edited(*sections: str) -> dict[str, dict[str, str]]:
    """What sections' files of data add to a key: the digests of those that are not as in READ; nothing if all are."""
    known = {name: digest for section in sections for name, digest in READ.get(section, {}).items()}
    digests = {name: digest_of_file(ROOT / "lib" / name)[:20] for name in known}
    files = {name: digest for name, digest in digests.items() if digest != known[name]}
    return {"files": files} if files else {}


def remembered(function: Callable) -> Callable:
    """Keep what a function of a study and hashable arguments gives while the process lives, see :meth:`Frames.memo`.

    ``key`` of the function gives the memo's key, by which a study that knows the value already can put it there.
    """

    def key(*given: object) -> tuple:
        return (f"{function.__module__}.{function.__qualname__}", *given)

    @wraps(function)
    def recalled(study: "Frames", *given: object) -> object:
        return study.memo(key(*given), partial(function, study, *given))

    recalled.key = key
    return recalled


class Frames:
    """The frames of one dataset under one profile.

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
        self.uses_published = published is not None  # or texts that another profile's log has from its publication
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
        if chunking and chunking not in self.chunkings:
            raise StudyError(f"no chunk table {chunking!r}: say one of {', '.join(self.chunkings)}")
        return self if chunking == self.chunking else self._copy(chunking=chunking)

    @property
    def original(self) -> Self:
        """This study over its own chunks."""
        return self.with_chunks("")

    @property
    def whole(self) -> Self:
        """This study with its whole profile, where a method sees a part of it."""
        return (self._whole or self).with_chunks(self.chunking)

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

    def need_answers(self, what: str) -> None:
        """Refuse what is impossible without the questions' answers.

        Raises:
            StudyError: no question has one.
        """
        if "answer" in self.dataset.lacks:
            raise StudyError(f"{what} needs answers, which the questions of {self.dataset.name} lack")

    @property
    def questions(self) -> pd.DataFrame:
        """QUESTION_COLUMNS, in the dataset's order; without filings only those that contain no text."""
        return self.dataset.questions

    @property
    def filings(self) -> pd.DataFrame:
        """FILING_COLUMNS."""
        if "n_pages" in self.dataset.filings:
            return self.dataset.filings
        counts = self.memo("n_pages", lambda: self.pages.groupby("doc_name").size().rename("n_pages"))
        return self.dataset.filings.merge(counts, left_on="doc_name", right_index=True, how="left")

    @property
    def pages(self) -> pd.DataFrame:
        """PAGE_COLUMNS of every filing; extracted once for all question sets, and the gold pages of each checked."""
        return self.memo("pages", self._pages)

    def _pages(self) -> pd.DataFrame:
        params = self._pages_params()
        pages = self._text("pages", params, lambda: extract_pages(self.dataset), PAGES_VERSION)
        params |= {"questions": self.dataset.fingerprint}
        self.store.value("gold", params, lambda: check_gold(self.dataset, pages))
        return pages

    def _pages_params(self) -> dict:
        import pymupdf

        return {"filings": self.dataset.filings_digest, "pymupdf": pymupdf.VersionBind}

    @property
    def chunks(self) -> pd.DataFrame:
        """CHUNK_COLUMNS of every page."""
        return self.memo("chunks", self.whole._chunks)

    def _chunks(self) -> pd.DataFrame:
        def split() -> pd.DataFrame:
            settings = self.profile.chunks
            return split_pages(self.pages, self.tokenizer, settings.size, settings.overlap)

        def make() -> pd.DataFrame:
            made = table.make(self.original, **table.options)[list(CHUNK_COLUMNS)]
            if made["chunk_id"].duplicated().any():
                raise ValueError(f"{self.chunking}: chunk ids occur twice")
            return made

        if not self.chunking:
            return self._text("chunks", self._chunks_params(), split, CHUNKS_VERSION)
        table = self.chunkings[self.chunking]
        return self._text(f"chunkings/{self.chunking}", self._chunks_params(), make, table.version)

    def _chunks_params(self) -> dict:
        if self.chunking:
            digests = {name: self.original.digest(name) for name in ("pages", "chunks", "filings")}
            return digests | {"settings": self.settings_of(self.chunkings[self.chunking].settings)}
        given = {"pages": self.digest("pages"), "tokenizer": weights_hash(self.profile.embedder.weights)}
        return given | {name: self.profile.chunks[name] for name in ("size", "overlap")}

    def _text(self, name: str, params: dict, make: Callable[[], pd.DataFrame], version: int) -> pd.DataFrame:
        """A stored frame of text, by its stage's name, which is also a file of the contract."""
        self.need_filings(f"the {name.partition('/')[0]}' text")
        file = f"{Path(name).name}.parquet"

        def compute(target: Path) -> None:
            make().to_parquet(target / file, index=False)

        entry = self.store.get(name, params, compute, version)
        return pd.read_parquet(self.link(entry.path / file, f"{name}.parquet"))

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the encoder, without truncation or padding."""
        return load_tokenizer(fetch(self.profile.embedder.weights))

    def settings_of(self, sections: tuple[str, ...]) -> dict:
        """Sections of the profile as a part of a key, with each model's name replaced by its weights' hash, and with
        their edited files of data."""
        hashed = {name: _with_hashes(self.profile[name]) for name in sections}
        return {name: value | more if (more := edited(name)) else value for name, value in hashed.items()}

    def digest(self, name: str) -> str:
        """What identifies the content of a frame, 20 hex digits.

        Args:
            name: ``pages``, ``chunks`` (ids and keys), ``questions`` (texts, gold pages and labels), ``evidence`` or
                ``filings`` (the files).
        """
        if name == "filings":
            return self.dataset.filings_digest
        return self.memo(("digest", name), lambda: self.whole._digest(name))

    def _digest(self, name: str) -> str:
        params, version = {"dataset": self.dataset.fingerprint}, 1
        if name == "pages":
            params, version = self._pages_params(), PAGES_VERSION
        elif name == "chunks":
            params, version = self._chunks_params(), CHUNKS_VERSION
            if self.chunking:  # known by what it is made from: building a table can take long
                return digest_of([self.chunking, self.chunkings[self.chunking].version, params])[:20]
        make = lambda: digest_of(self._content(name))[:20]  # noqa: E731
        return self.store.value(f"digests/{name}", params, make, version, public=True)

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

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file of ``outputs``, whole or not at all."""
        return write_atomically(self.outputs / name, content)

    def link(self, path: Path, name: str) -> Path:
        """Put a stored file under its contract name into ``outputs`` (a hard link where the disk allows it)."""
        target = self.outputs / name
        if not (target.exists() and target.samefile(path)):
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
        self.outputs.mkdir(parents=True, exist_ok=True)
        with (self.outputs / "stages.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")


def _with_hashes(settings: object) -> object:
    if not isinstance(settings, dict):
        return settings
    hashed = {"weights": weights_hash(settings["weights"])} if "weights" in settings else {}
    kept = {key: value for key, value in settings.items() if key not in LATER or LATER[key] != value}
    return {key: hashed.get(key) or _with_hashes(value) for key, value in kept.items()}
