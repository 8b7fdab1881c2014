"""A study: one dataset under one profile, with every result looked up in the store before it is computed.

This is what notebooks and retrievers hold. It offers the frames (``filings``, ``pages``, ``chunks``, ``questions``),
``run(method, condition)`` and the settings (``profile``), and writes the files of the contract to ``view``.
"""

import copy
import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import pandas as pd
import pymupdf

from lib import absent, conditions, runs
from lib.data.chunks import load_tokenizer, split_pages
from lib.data.dataset import Dataset
from lib.data.locate import open_dataset
from lib.data.pages import extract_pages
from lib.models.generator import open_generator
from lib.models.prompts import Generator
from lib.models.weights import fetch, weights_hash
from lib.models.written import GenerationLog, Model
from lib.profile import Settings, load_profile
from lib.published import Published, PublishedDataset
from lib.reuse import Reuse
from lib.store import Store, digest_of
from lib.view import ViewFiles
from lib.words import Condition, NeedsFilings

VIEW_VARIABLE = "RETRIEVAL_GAP_VIEW"
ROOT = Path(__file__).resolve().parent.parent
PAGES_VERSION = 1
CHUNKS_VERSION = 1


class Study(Reuse, ViewFiles):
    """One dataset under one profile.

    Args:
        dataset: the records and where the filings lie.
        profile: which models and sizes.
        artifacts: directory for everything computed.
        published: results in the repository that may stand in for computing; None to ignore them.
        chapter: who asks, for the log of stages.
        view: directory of the contract's files; by default ``home``, ``<artifacts>/<dataset>/<profile>``.
    """

    def __init__(
        self,
        dataset: Dataset,
        profile: Settings,
        artifacts: Path = ROOT / "artifacts",
        published: Published | None = None,
        chapter: str = "",
        view: Path | None = None,
    ):
        self.dataset = dataset
        self.profile = profile
        self.published = published
        self.chapter = chapter
        self.corpus = ""
        self.base = self
        self.home = Path(artifacts) / dataset.name / profile.name
        self.view = Path(view or self.home)
        self.store = Store(Path(artifacts) / "store", on_entry=self._log_stage)
        self._memo: dict[object, object] = {}

    @classmethod
    def open(
        cls,
        dataset: str = "",
        profile: str = "default",
        results: str = "published",
        artifacts: Path = ROOT / "artifacts",
        chapter: str = "",
        changes: dict[str, object] | None = None,
    ) -> "Study":
        """Open a study by names, as the notebooks' parameters give them.

        Args:
            dataset: ``financebench``, ``demo``, a path, or empty for the first that can be had.
            profile: name of a profile or path of a YAML file.
            results: ``published`` to reuse published results, ``fresh`` to ignore them.
            artifacts: directory for everything computed.
            chapter: who asks, for the log of stages.
            changes: dotted settings that replace the profile's; the view then is a directory of its own.

        Raises:
            StudyError: a name that does not exist or data that cannot be used.
        """
        settings = load_profile(profile)
        settings["name"] = Path(profile).stem
        published = Published.in_place_of(dataset, settings.name) if results == "published" else None
        if published:
            print(
                f"FinanceBench's filings are not here. {published.sentence} For a live run say DATASET=demo."
            )
            found, settings = published.dataset(), settings.updated(published.manifest["settings"])
            absent.tell_instead_of_failing()
        else:
            found = open_dataset(dataset)
            if found.name == "demo":
                settings = settings.replaced(settings.demo)
            published = Published.matching(found, settings.name) if results == "published" else None
        changed = {name: value for name, value in (changes or {}).items() if value is not None}
        view = Path(os.environ.get(VIEW_VARIABLE) or Path(artifacts) / found.name / settings.name)
        if changed:
            settings = settings.replaced(changed)
            view = view / "reruns" / digest_of(changed)[:12]
        return cls(found, settings, Path(artifacts), published, chapter, view)

    def with_changes(self, changes: dict[str, object]) -> "Study":
        """This study with dotted settings of its profile replaced; nothing published stands in for it."""
        settings = self.profile.replaced(changes)
        return Study(self.dataset, settings, self.store.root.parent, None, self.chapter, self.view)

    def over(self, corpus: str) -> "Study":
        """This study over another chunk table: ``chunks`` and all that is made of them are that table's.

        Args:
            corpus: a name of :data:`lib.chunkings.table.CHUNKINGS`; the study's own chunks when empty.
        """
        if not corpus:
            return self.base
        return self.base.memo(("over", corpus), lambda: self.base._over(corpus))

    def _over(self, corpus: str) -> "Study":
        from lib.chunkings.table import chunk_table  # the table of chunkings is built on studies

        other = copy.copy(self)
        other.corpus, other._memo = corpus, {}
        other.__dict__.pop("chunks_digest", None)
        other.__dict__["chunks"] = chunk_table(self, corpus)  # in place of the cached property
        return other

    def memo(self, key: object, compute: Callable[[], object]) -> object:
        """A value that is kept while this process lives."""
        if key not in self._memo:
            self._memo[key] = compute()
        return self._memo[key]

    @property
    def has_filings(self) -> bool:
        """Whether the filings and the questions' text are here; without them, published results are all there is."""
        return not isinstance(self.dataset, PublishedDataset)

    def need_filings(self, what: str) -> None:
        """Say that something cannot be had without the filings.

        Raises:
            NeedsFilings: they are not here.
        """
        if not self.has_filings:
            raise NeedsFilings(f"{what} needs the filings, which are not on this machine")

    @property
    def questions(self) -> pd.DataFrame:
        """QUESTION_COLUMNS, in the dataset's order; without filings only those that hold no text."""
        return self.dataset.questions

    @cached_property
    def pages(self) -> pd.DataFrame:
        """PAGE_COLUMNS of every filing; extracted and checked against the gold pages at the first call."""
        self.need_filings("the pages' text")
        params = {"dataset": self.dataset.fingerprint, "pymupdf": pymupdf.VersionBind}

        def compute(target: Path) -> None:
            extract_pages(self.dataset).to_parquet(target / "pages.parquet", index=False)

        entry = self.store.get("pages", params, compute, PAGES_VERSION)
        self.show(entry.path / "pages.parquet")
        return pd.read_parquet(entry.path / "pages.parquet")

    @cached_property
    def filings(self) -> pd.DataFrame:
        """FILING_COLUMNS."""
        if not self.has_filings:
            return self.dataset.filings
        counts = self.pages.groupby("doc_name").size().rename("n_pages")
        return self.dataset.filings.merge(counts, left_on="doc_name", right_index=True, how="left")

    @cached_property
    def chunks(self) -> pd.DataFrame:
        """CHUNK_COLUMNS of every page."""
        self.need_filings("the chunks' text")
        settings, weights = self.profile.chunks, self.profile.embedder.weights
        params = {
            "pages": self.pages_digest,
            "size": settings.size,
            "overlap": settings.overlap,
            "tokenizer": weights_hash(weights),
        }

        def compute(target: Path) -> None:
            table = split_pages(self.pages, load_tokenizer(fetch(weights)), settings.size, settings.overlap)
            table.to_parquet(target / "chunks.parquet", index=False)

        entry = self.store.get("chunks", params, compute, CHUNKS_VERSION)
        self.show(entry.path / "chunks.parquet")
        return pd.read_parquet(entry.path / "chunks.parquet")

    @cached_property
    def pages_digest(self) -> str:
        """What identifies the pages' content."""
        return digest_of(self.pages.astype({"page": int}).to_dict("list"))[:20]

    @cached_property
    def chunks_digest(self) -> str:
        """What identifies the chunks: their ids and keys."""
        return digest_of([self.chunks["chunk_id"].tolist(), self.chunks["key"].tolist()])[:20]

    @cached_property
    def questions_digest(self) -> str:
        """What identifies the questions and their gold pages."""
        self.need_filings("the questions' text")
        columns = self.questions[["question_id", "question", "doc_name", "gold_pages"]]
        return digest_of([list(map(str, row)) for row in columns.itertuples(index=False)])[:20]

    def settings_of(self, sections: tuple[str, ...]) -> dict:
        """Sections of the profile as a key's part, with each model's name replaced by its weights' hash."""
        return {name: _with_hashes(self.profile[name]) for name in sections}

    def run_params(self, name: str, condition: Condition) -> dict:
        """All that a method's run depends on."""
        from lib.chunkings.table import table_params
        from lib.methods import method as row_of  # the method table is built on studies

        method = row_of(name)
        params = {
            "method": name,
            "condition": condition,
            "chunks": self.chunks_digest,
            "questions": self.questions_digest,
            "settings": self.settings_of(method.settings),
            "depth": self.profile.run.depth,
            "code": method.code_version(),
            "inputs": self.memo(("inputs", name), lambda: digest_of(method.other_inputs(self))[:20]),
            "uses": [self.run_params(used, condition) for used in method.uses],
        }
        if method.options:
            params["options"] = dict(method.options)
        if method.corpus:
            params["corpus"] = table_params(self, method.corpus)
        return params

    def run(self, name: str, condition: Condition = "standard") -> pd.DataFrame:
        """One method's ranked chunks under one condition (RUN_COLUMNS): stored, published, or computed now."""
        entry = self.run_entry(name, condition)
        path = entry.path / "run.trec.gz"
        self.show(path, f"runs/{condition}/{name}.trec.gz")
        return self.memo(("run", entry.key), lambda: runs.read_trec(path))

    def candidates(self, condition: Condition):
        """The candidate matrix of a condition, see :func:`lib.conditions.candidates`."""
        make = conditions.candidates
        return self.memo(("candidates", condition), lambda: make(condition, self.questions, self.chunks))

    def rank_method(self, name: str, allowed, depth: int) -> pd.DataFrame:
        """Score with a method, keep what is allowed, and rank to ``depth``."""
        from lib.methods import method as row_of

        row = row_of(name)
        scores = row.score(self, allowed, **row.options).astype("float32", copy=True)
        scores[~allowed] = float("-inf")
        return runs.rank(scores, self.questions, self.chunks, depth)

    def generation_log(self) -> GenerationLog:
        """What language models wrote for this study; shared by all reruns."""
        weights = self.profile.generator.weights
        model = Model(weights, weights_hash(weights))
        published = self.published if self.has_filings else None
        published = published and published.whole_generations(
            self.questions, self.home / "generations.published.jsonl"
        )
        return GenerationLog(self.home / "generations.jsonl", model, published, self.store.say)

    def make_generator(self) -> Generator:
        """The profile's language model; its weights and runtime are fetched only now."""
        return open_generator(self.profile.generator, fetch(self.profile.generator.weights))


def _with_hashes(settings: object) -> object:
    if not isinstance(settings, dict):
        return settings
    return {
        key: weights_hash(value) if key == "weights" else _with_hashes(value)
        for key, value in settings.items()
    }
