"""What a retriever is, what it may see of a study, and values that stay in memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import Protocol, Self

import numpy as np
import pandas as pd
from tokenizers import Tokenizer

from lib.cache import Cache
from lib.data.layout import Dataset
from lib.models.prompts import Generator
from lib.models.written import GenerationLog
from lib.profile import Settings
from lib.schema import CONDITIONS, Condition, StudyError
from lib.store import Store

#: Families of this study, whose rows are tested together. main: the standard methods, and those that are trained;
#: matched: one of them behind the metadata match; ordered: a page scorer with another stage two; general: others, each
#: compared with the method that it changes; stored: a method in a vector store; strict: a trained one without twins of
#: test questions. The last two are compared with that method alone (APART).
MAIN, MATCHED, ORDERED, GENERAL, STORED, STRICT = OWN = ("main", "matched", "ordered", "general", "stored", "strict")
APART = (STORED, STRICT)
MOST_NEAR, LEAST_NEAR = 3, 0.5  # methods that an unknown name may mean; the share of its letters that they have
#: What a method does that plain search does not; after a metadata match, what else it does does not count.
PURPOSES = (
    PLAIN := "One plain search",
    FUSION := "Fusion",
    REWRITING := "Query rewriting",
    RERANKING := "Rerankers",
    READING := "Chunks read by a language model",
    CONTEXT := "Context before each chunk",
    OTHER_CHUNKS := "Other chunks",
    TABLES := "Tables and titles as text",
    METADATA := "Metadata match",
    COVER_PAGES := "Metadata match from cover pages",
    SCORERS := "Page scorers",
    AHEAD := "Ahead",
)


class Search(Protocol):
    """What a retriever may see: the frames of a study, the settings that its row declares, and where results are kept.

    A study gives it to each of its methods, see :class:`lib.study.Study`.
    """

    dataset: Dataset
    questions: pd.DataFrame  # columns of all frames: see lib.schema
    pages: pd.DataFrame
    filings: pd.DataFrame
    chunks: pd.DataFrame  # those that are searched
    chunking: str  # name of their table; empty for the study's own
    profile: Settings  # the declared sections alone; any other is an UndeclaredSetting
    tokenizer: Tokenizer  # of the encoder
    store: Store
    cache: Cache
    index_folder: Path  # of the collections of chunk tables, see lib.models.index

    def with_chunks(self, chunking: str) -> Self:
        """The same over another chunk table."""

    def rank_method(self, name: str, allowed: np.ndarray, depth: int) -> pd.DataFrame:
        """The ranking of another method among the allowed chunks."""

    def run(self, name: str, condition: Condition = "standard") -> pd.DataFrame:
        """The stored run of another method that the row ``uses``."""

    def candidates(self, condition: Condition) -> np.ndarray:
        """The candidate matrix of a condition."""

    def generation_log(self) -> GenerationLog:
        """What a language model wrote."""

    def make_generator(self) -> Generator:
        """The profile's language model."""

    def need_filings(self, what: str) -> None:
        """Refuse what is impossible without the filings: NeedsFilings where their texts are not on this machine."""

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file of the study's outputs, whole or not at all."""

    def digest(self, name: str) -> str:
        """What identifies the content of a frame."""

    def settings_of(self, sections: Sequence[str]) -> dict:
        """Sections of the profile as a part of a key."""

    def memo(self, key: object, compute: Callable[[], object]) -> object:
        """A value that is kept while the process lives."""


@dataclass(frozen=True)
class Chunking:
    """A way to cut the filings into chunks."""

    make: Callable[..., pd.DataFrame]  # of a Search over the study's own chunks, and options; gives CHUNK_COLUMNS
    options: Mapping[str, object] = field(default_factory=dict)
    settings: tuple[str, ...] = ("chunks", "embedder")  # sections of the profile that the function reads
    version: int = 1  # raised when the table has other chunks than before


@dataclass(frozen=True)
class Method:
    """A named retrieval pipeline: a row of the table in :mod:`lib.methods`."""

    name: str  # as in file names and tables
    title: str
    pipeline: str  # what happens to a question, step by step
    source: str  # keys of the bibliography
    score: Callable[..., np.ndarray]
    purpose: str  # of PURPOSES
    settings: tuple[str, ...] = ()  # sections of the profile that the scores depend on
    uses: tuple[str, ...] = ()  # methods whose runs this one reads
    options: Mapping[str, object] = field(default_factory=dict)  # keyword arguments of ``score``, JSON-able
    chunking: str = ""  # another chunk table that is searched (lib.chunkings.table)
    inputs: Callable[..., object] | None = None  # gives what else scores depend on, JSON-able, as written texts
    writes: Mapping[str, float] = field(default_factory=dict)  # kind of text → share of its texts that the row reads
    changes: str = ""  # the method that the row is compared with, of which it changes one thing
    version: int = 1  # raised when the scores change although nothing above does
    needs: tuple[str, ...] = ()  # of lib.methods.NEEDS
    family: str = MAIN  # of OWN, or the key of the sibling study that the row is from
    conditions: tuple[Condition, ...] = CONDITIONS  # those that it is measured under

    @property
    def is_trained(self) -> bool:
        """Whether it learns from questions (in folds)."""
        return "training" in self.needs

    def citation(self) -> str:
        """The sources as the book cites them."""
        return f"{{cite}}`{self.source}`" if self.source else "this study"


def memoized(make: Callable) -> Callable:
    """Keep what a function of a Search and hashable arguments gives while the process lives."""
    name, form = f"{make.__module__}.{make.__qualname__}", signature(make)

    @wraps(make)
    def looked_up(search: Search, *given: object) -> object:
        bound = form.bind(search, *given)
        bound.apply_defaults()
        return search.memo((name, *bound.args[1:]), partial(make, *bound.args))

    return looked_up


def unknown_method(name: object, known: Iterable[str]) -> StudyError:
    """The error that there is no method of a name, with the nearest names."""
    near = get_close_matches(str(name), known, MOST_NEAR, cutoff=LEAST_NEAR)
    meant = f"is {' or '.join(near)} meant? " if near else ""
    return StudyError(f"unknown method {name!r}; {meant}`make methods` lists all")
