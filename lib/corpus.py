"""A corpus: the filings, pages, chunk tables and questions of a dataset under a profile, and what identifies them.

Every frame is looked up in the store before it is computed; the files of the contract are written to ``outputs``.
"""

import copy
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Self

import pandas as pd
from tokenizers import Tokenizer

from lib.cache import Cache
from lib.data.chunks import load_tokenizer, split_pages
from lib.data.layout import Dataset
from lib.data.pages import check_gold, extract_pages
from lib.files import ROOT, digest_of, digest_of_file, temporary_path, write_atomically
from lib.method import Chunking, Search
from lib.models.weights import fetch, weights_hash
from lib.models.written import GenerationLog, Model
from lib.profile import Settings
from lib.published import Published
from lib.schema import CHUNK_COLUMNS, NeedsFilings
from lib.store import Store

ARTIFACTS = ROOT / "artifacts"
GENERATIONS, INDEX = "generations.jsonl", "chroma"
PAGES_VERSION = 1
CHUNKS_VERSION = 1
#: Files of data that go with a section of the profile, and the digests with which keys were made that do not name them.
DATA_FILES = {
    "bm25": {"text/stop_words.txt": "e74feb668ca57f0910d4"},
    "ahead": {"ahead/kinds.yaml": "15c1c5b3455a690da138", "statements/items.yaml": "d4a3975be11b8413334f"},
    "answers": {"statements/asked.yaml": "b1bb5b93c5843894c9cf", "metrics/answers.yaml": "a87e2f0e1cf2f6baa82c"},
}
QUESTION_IDENTITY = ("question_id", "question", "doc_name", "gold_pages")
QUESTION_LABELS = ("question_type", "doc_type", "company", "doc_period")


@cache
def data_file_digests(*sections: str) -> dict[str, dict[str, str]]:
    """What edited data files of sections add to a key: the digests that differ from those of DATA_FILES."""
    known = {name: digest for section in sections for name, digest in DATA_FILES.get(section, {}).items()}
    digests = {name: digest_of_file(ROOT / "lib" / name)[:20] for name in known}
    files = {name: digest for name, digest in digests.items() if digest != known[name]}
    return {"files": files} if files else {}


class Corpus:
    """The frames of one dataset under one profile.

    ``published`` results are used where they have the wanted keys; ``outputs``, by default ``home``, is the folder of
    the contract's files; ``chapter`` is the asking one, for the log of stages. ``uses_published`` says whether texts
    that another profile's log has from its publication are used.
    """

    def __init__(
        self,
        dataset: Dataset,
        profile: Settings,
        chunkings: Mapping[str, Chunking],
        artifacts: Path = ARTIFACTS,
        published: Published | None = None,
        outputs: Path | None = None,
        chapter: str = "",
    ):
        self.dataset, self.profile, self.chunkings = dataset, profile, chunkings
        self.published, self.chapter, self.uses_published = published, chapter, published is not None
        self.home = Path(artifacts) / dataset.name / profile.name
        self.outputs = Path(outputs or self.home)
        # the demo shows everything at work: of its published results only the language model's texts are used
        layer = None if dataset.name == "demo" else published
        self.store = Store(Path(artifacts) / "store", on_use=self._log_stage, published=layer)
        self.cache = Cache(Path(artifacts) / "cache.sqlite")
        self.index_folder = Path(artifacts) / INDEX
        self._memo: dict[object, tuple[object, set[str]]] = {}

    def with_changes(self, changes: Mapping[str, object]) -> Self:
        """This corpus with dotted settings of its profile replaced."""
        other = copy.copy(self)
        other.profile, other._memo = self.profile.replaced(changes), {}
        return other

    def memo(self, key: object, compute: Callable[[], object]) -> object:
        """A value that is kept while this process lives, by its key; the stages behind it are noted."""
        if key not in self._memo:
            with self.store.recording() as asked:
                self._memo[key] = compute(), asked
        value, asked = self._memo[key]
        self.store.note(asked)
        return value

    def need_filings(self, what: str) -> None:
        """Refuse what is impossible without the filings: NeedsFilings where they are not on this machine."""
        if not self.dataset.has_text:
            mend = "say DATASET=financebench to download them, or DATASET=demo"
            raise NeedsFilings(f"{what} needs the filings, which are not on this machine; {mend}")

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

        def make() -> pd.DataFrame:
            params = self._pages_params()
            pages = self._text("pages", params, lambda: extract_pages(self.dataset), PAGES_VERSION)
            params |= {"questions": self.dataset.fingerprint}
            self.store.frame("gold", params, lambda: check_gold(self.dataset, pages))
            return pages

        return self.memo("pages", make)

    def _pages_params(self) -> dict:
        import pymupdf

        return {"filings": self.dataset.filings_digest, "pymupdf": pymupdf.VersionBind}

    def chunks(self) -> pd.DataFrame:
        """The study's own chunks of every page, CHUNK_COLUMNS."""

        def split() -> pd.DataFrame:
            settings = self.profile.chunks
            return split_pages(self.pages, self.tokenizer, settings.size, settings.overlap)

        return self.memo("chunks", lambda: self._text("chunks", self.chunks_params(), split, CHUNKS_VERSION))

    def table(self, name: str, search: Search) -> pd.DataFrame:
        """Another chunk table, CHUNK_COLUMNS, made of what a search over the study's own chunks sees."""
        table = self.chunkings[name]

        def make() -> pd.DataFrame:
            made = table.make(search, **table.options)[list(CHUNK_COLUMNS)]
            if made["chunk_id"].duplicated().any():
                raise ValueError(f"{name}: chunk ids occur twice")
            return made

        stage, params = f"chunkings/{name}", self.chunks_params(name)
        return self.memo(("chunks", name), lambda: self._text(stage, params, make, table.version))

    def chunks_params(self, table: str = "") -> dict:
        """What the chunks of a table depend on, JSON-able."""
        if table:
            digests = {name: self.digest(name) for name in ("pages", "chunks", "filings")}
            return digests | {"settings": settings_of(self.profile, self.chunkings[table].settings)}
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

    def digest(self, name: str, table: str = "") -> str:
        """What identifies the content of a frame, 20 hex digits: ``pages``, ``chunks`` (ids and keys; those of another
        ``table`` are known by what they are made from), ``questions`` (texts, gold pages and labels), ``evidence`` or
        ``filings`` (the files)."""
        if name == "filings":
            return self.dataset.filings_digest
        return self.memo(("digest", table, name), lambda: self._digest(name, table))

    def _digest(self, name: str, table: str) -> str:
        if name == "chunks" and table:
            return digest_of([table, self.chunkings[table].version, self.chunks_params(table)])[:20]
        params, version = {"dataset": self.dataset.fingerprint}, 1
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
            chunks = self.chunks()
            return [chunks["chunk_id"].tolist(), chunks["key"].tolist()]
        self.need_filings("the questions' text")
        _ = self.pages  # gold pages are checked before anything is measured against them
        columns = ["evidence"] if name == "evidence" else [*QUESTION_IDENTITY, *QUESTION_LABELS]
        return [list(map(str, row)) for row in self.dataset.questions[columns].itertuples(index=False)]

    def generation_log(self, weights: str) -> GenerationLog:
        """What a language model wrote for this dataset and profile."""
        published = [] if self.uses_published else None
        if self.published:
            published = self.memo("generations", lambda: self.published.generations(self.dataset.questions))
        model = Model(weights, weights_hash(weights))
        return GenerationLog(self.home / GENERATIONS, self.cache, model, published, self.store.say)

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


def settings_of(profile: Settings, sections: Sequence[str]) -> dict:
    """Sections of a profile as a part of a key, with each model's name replaced by its weights' hash, and with their
    edited files of data."""
    hashed = {name: _with_hashes(profile[name]) for name in sections}
    return {name: value | more if (more := data_file_digests(name)) else value for name, value in hashed.items()}


def _with_hashes(settings: object) -> object:
    if not isinstance(settings, dict):
        return settings
    return {key: weights_hash(value) if key == "weights" else _with_hashes(value) for key, value in settings.items()}
