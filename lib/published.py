"""Published results: a read-only layer of the store, in the repository, beside the files that outside checks read.

``manifest.json`` lists every stage with its key; of those that are published also their files. Measured runs and their
metrics are rows of ``runs.parquet`` and ``metrics.parquet``. ``make verify`` compares all files with the manifest's
hashes (:mod:`extras.publish.verify`); here they are read.
"""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from lib.data.layout import Dataset
from lib.files import MANIFEST, digest_of_file, published_folders
from lib.frames import read_csv, read_table
from lib.profile import Settings
from lib.runs import placed
from lib.schema import FILING_COLUMNS, FURTHER_PAGES, PUBLISHED_COLUMNS, RUN_COLUMNS, StudyError

RUNS_FILE, METRICS_FILE = "runs.parquet", "metrics.parquet"
ANSWERS_FILE, GENERATIONS_FILE = "answers.csv.gz", "generations.jsonl.gz"
OF_RUN = ["condition", "method"]
RUNS_STORED = [*OF_RUN, "question_id", "rank", "chunk_id", "score"]
FIRST_PRECISION = "bfloat16"  # of what was published before manifests had one
LETTERS = {"": str, "upper": str.upper, "lower": str.lower}
REQUIRED = "dataset fingerprint filings_digest commit date settings inputs runs files stages".split()  # of a manifest


@dataclass(frozen=True)
class PublishedDataset(Dataset):
    """What is published of a dataset, without any text."""

    fingerprint: str
    filings_digest: str
    lacks: tuple[str, ...]
    has_text: ClassVar[bool] = False


class Published:
    """The published results of one dataset under one profile, ``book/results/<dataset>/<profile>``."""

    def __init__(self, root: Path):
        self.root = Path(root)

    @classmethod
    def of(cls, dataset: str, profile: str) -> "Published | None":
        """The results of a dataset and profile, or None when nothing was published."""
        return cls.all(profile).get(dataset)

    @classmethod
    def all(cls, profile: str) -> "dict[str, Published]":
        """The results of a profile by dataset."""
        return {folder.parent.name: cls(folder) for folder in published_folders() if folder.name == profile}

    def read(self, name: str, reader: Callable[[Path], object]) -> object:
        """What a reader makes of a published file; a StudyError with its error where the file is missing or broken."""
        path = self.root / name
        try:
            return reader(path)
        except (OSError, ValueError, KeyError, TypeError, EOFError, zlib.error) as error:
            raise StudyError(f"{path} cannot be read ({type(error).__name__}: {error}); restore it with git") from None

    def file(self, name: str) -> Path:
        """The path of a published file."""
        return self.root / name

    @cached_property
    def manifest(self) -> dict:
        """What the results were made from."""

        def read(path: Path) -> dict:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            return {name: manifest[name] for name in REQUIRED} | manifest

        return self.read(MANIFEST, read)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the manifest, which has the hash of every other file."""
        return digest_of_file(self.root / MANIFEST)

    @property
    def precision(self) -> str:
        """What the precision ``auto`` was on the machine that computed the results."""
        return self.manifest.get("precision", FIRST_PRECISION)

    @property
    def sentence(self) -> str:
        """Which run the results are from, for captions."""
        of = f"{self.manifest['date']}, commit {self.manifest['commit'][:10]}, manifest {self.digest[:10]}"
        return f"Published run of {of}, not recomputed here."

    @cached_property
    def stages(self) -> dict[tuple[str, str], dict]:
        """The manifest's records by stage and key."""
        return {(record["stage"], record["key"]): record for record in self.manifest["stages"]}

    def find(self, stage: str, key: str) -> tuple[Path, dict] | None:
        """The folder of an entry's files, and its record; None where it was not published."""
        record = self.stages.get((stage, key), {})
        if "files" not in record:
            return None
        folders = [(self.root / file["path"]).parent for file in record["files"].values()]
        return next(iter(folders), self.root), record

    @cached_property
    def runs(self) -> "Runs":
        """All measured runs by condition and method."""
        return self.read(RUNS_FILE, lambda path: Runs(read_table(path)))

    @cached_property
    def places(self) -> dict[str, tuple[str, str]]:
        """Condition and method of each measured run by its key."""
        return {run["key"]: tuple(place.split("/")) for place, run in self.manifest["runs"].items()}

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """All published metrics, one row per question, method, condition, metric and depth; texts as categories."""
        return self.read(METRICS_FILE, read_table)

    def metrics_of(self, method: str, condition: str) -> pd.DataFrame:
        """The published rows of one run, in their order; texts as categories, the same of every run."""
        return self.metrics.iloc[self._rows_of_metrics[condition, method]].reset_index(drop=True)

    @cached_property
    def _rows_of_metrics(self) -> dict[tuple[str, str], np.ndarray]:
        return self.metrics.groupby(OF_RUN, observed=True).indices

    @cached_property
    def filings(self) -> pd.DataFrame:
        """FILING_COLUMNS."""
        return self.read("filings.csv", lambda path: read_csv(path)[[*FILING_COLUMNS]])

    @cached_property
    def questions(self) -> pd.DataFrame:
        """The questions without texts, in the dataset's order: PUBLISHED_COLUMNS, FURTHER_PAGES and ``doc_period``."""
        periods = self.filings[["doc_name", "doc_period"]]

        def read(path: Path) -> pd.DataFrame:
            table = read_csv(path, gold_pages=str, also=str)
            further = table.reindex(columns=FURTHER_PAGES)
            table = table[PUBLISHED_COLUMNS].join(further)
            lists = {name: table[name].fillna("").astype(str).str.split() for name in ("gold_pages", *FURTHER_PAGES)}
            for name in ("gold_pages", "also"):
                lists[name] = lists[name].map(lambda pages: [*map(int, pages)])
            return table.assign(**lists).merge(periods, "left", "doc_name", validate="many_to_one")

        return self.read("questions.csv", read)

    def dataset(self) -> PublishedDataset:
        """The dataset without its texts."""
        about = self.manifest
        return PublishedDataset(
            name=about["dataset"],
            root=self.root,
            questions=self.questions,
            filings=self.filings,
            evidence=pd.DataFrame(columns=["question_id", "doc_name", "page", "text", "line"]),
            question_file=self.root / "questions.csv",
            collection=about.get("collection", about["dataset"]),
            lacks=tuple(about.get("lacks", ())),
            fingerprint=about["fingerprint"],
            filings_digest=about["filings_digest"],
        )

    def settings(self, profile: Settings) -> Settings:
        """The sections of a profile with the values that the results were made with, where both have the same settings:
        of rows that read another section, nothing published is found."""
        dataset = self.dataset()
        of_sets = profile.for_sets(dataset.collection, dataset.name)
        other = self.redefined(of_sets)
        return of_sets.updated({name: value for name, value in self.manifest["settings"].items() if name not in other})

    def redefined(self, profile: Settings) -> set[str]:
        """The sections that have other settings than those of a profile, or are in one of both alone."""
        about = self.manifest["settings"]
        names = {*about, *profile} - {"sets"}
        return {name for name in names if not _same_settings(about.get(name), profile.get(name))}

    def generations(self, questions: pd.DataFrame) -> list[dict]:
        """The published generations as records; echoes of questions, which are gaps, are put back where these are."""
        if GENERATIONS_FILE not in self.manifest["files"]:
            return []
        lines = self.read(GENERATIONS_FILE, lambda path: gzip.decompress(path.read_bytes()).decode().splitlines())
        records, text_of = list(map(json.loads, lines)), questions.set_index("question_id").get("question")
        for record in records:
            if (pieces := record.pop("pieces", None)) and text_of is not None:
                record["text"] = from_pieces(pieces, text_of[record["question_id"]])
        return records


class TextsOnly(Published):
    """Published results of which a study takes what language models wrote, and computes all else."""

    def find(self, stage: str, key: str) -> tuple[Path, dict] | None:
        """None: no stage's result is taken."""
        return None


def _same_settings(value: object, now: object) -> bool:
    """Whether a published section has the settings of a profile's; a name or number is one setting."""
    if isinstance(value, dict) and isinstance(now, dict):
        return value.keys() == now.keys()
    return not isinstance(value, dict) and not isinstance(now, dict) and None not in (value, now)


class Runs(Mapping[tuple[str, str], pd.DataFrame]):
    """Runs (RUN_COLUMNS) of a table of RUNS_STORED by condition and method, each made when it is asked for."""

    def __init__(self, table: pd.DataFrame):
        self.table, self._rows = table, table.groupby(OF_RUN, observed=True).indices
        self.chunks = placed(table["chunk_id"].cat.categories.to_series())

    def __getitem__(self, place: tuple[str, str]) -> pd.DataFrame:
        part = self.table.iloc[self._rows[place]].reset_index(drop=True)
        chunks = self.chunks.iloc[part["chunk_id"].cat.codes].reset_index(drop=True)
        typed = part[["question_id", "rank", "score"]].astype({"question_id": str, "rank": np.int64})
        return chunks.assign(**typed)[list(RUN_COLUMNS)]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def questions_csv(questions: pd.DataFrame) -> str:
    """What is published of questions, without text, as CSV."""
    lists = questions[["gold_pages", *FURTHER_PAGES]].map(lambda pages: " ".join(map(str, pages)))
    columns = [*PUBLISHED_COLUMNS, *(name for name in FURTHER_PAGES if lists[name].any())]
    return questions.assign(**lists)[columns].to_csv(index=False)


def by_question(runs: pd.DataFrame, questions: pd.DataFrame) -> pd.DataFrame:
    """Runs, one under the other, with each question's rows together: they are alike, so that the file is smaller."""
    place = pd.Index(questions["question_id"]).get_indexer(runs["question_id"])
    return runs.iloc[np.argsort(place, kind="stable")]


def from_pieces(pieces: list[str | list], question: str) -> str:
    """The text that was published as pieces: strings, and references into the question, ``[start, end]`` in characters,
    with a third item where the letters are ``upper`` or ``lower``."""

    def referenced(start: int, end: int, letters: str = "") -> str:
        return "".join(map(LETTERS[letters], question[start:end]))

    return "".join(piece if isinstance(piece, str) else referenced(*piece) for piece in pieces)
