"""Published results: a read-only layer of the store, in the repository, beside the files that outside checks read.

``manifest.json`` lists every stage with its key; of those that are published also their files, with the hash of the
uncompressed content. Measured runs and their metrics are rows of ``runs.parquet`` and ``metrics.parquet``.
"""

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
from pydantic import BaseModel, ValidationError

from lib.data.layout import Dataset
from lib.files import ROOT, digest_of_file
from lib.profile import Settings
from lib.runs import placed, trec_lines
from lib.schema import FILING_COLUMNS, RUN_COLUMNS, StudyError
from lib.typed import read_csv, read_table

RESULTS = ROOT / "book" / "results"
MANIFEST, RUNS_FILE, METRICS_FILE = "manifest.json", "runs.parquet", "metrics.parquet"
ANSWERS_FILE, GENERATIONS_FILE = "answers.csv.gz", "generations.jsonl.gz"
OF_RUN = ["condition", "method"]
RUNS_STORED = [*OF_RUN, "question_id", "rank", "chunk_id", "score"]
FIRST_PRECISION = "bfloat16"  # of what was published before manifests had one
EXPORT_LEVEL = 1  # of compression of what each book writes
LETTERS = {"": str, "upper": str.upper, "lower": str.lower}
PUBLISHED_COLUMNS = ["question_id", "question_type", "doc_name", "doc_type", "company", "gold_pages"]


class Stated(BaseModel):
    """What a manifest has to state."""

    class Run(BaseModel):
        sha256: str

    class Stage(BaseModel):
        stage: str
        key: str

    dataset: str
    fingerprint: str
    filings_digest: str
    commit: str
    date: str
    settings: dict
    inputs: dict[str, str]
    runs: dict[str, Run]
    files: dict[str, str]
    stages: list[Stage]


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
        found = cls(RESULTS / dataset / profile)
        return found if (found.root / MANIFEST).is_file() else None

    @cached_property
    def manifest(self) -> dict:
        """What the results were made from; a StudyError where the file is broken or lacks what it has to state."""
        path = self.root / MANIFEST
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            Stated.model_validate(found, strict=True)
        except ValidationError as error:
            wrong = dict.fromkeys(".".join(map(str, one["loc"][:3])) or "anything" for one in error.errors())
            listed = ", ".join([*wrong][:5])
            raise StudyError(f"{path} does not state {listed}; restore it with git, or publish again") from None
        except (ValueError, OSError, RecursionError) as error:
            raise StudyError(f"{path} is broken ({error}); restore it with git") from None
        return found

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the manifest, which has the hash of every other file."""
        return digest_of_file(self.root / MANIFEST)

    def file(self, name: str) -> Path:
        """A published file whose bytes are those of the manifest; else a StudyError."""
        path = self.root / name
        if not path.is_file() or digest_of_file(path) != self.manifest["files"].get(name):
            wrong = "is not the published one" if path.is_file() else "is missing"
            raise StudyError(f"{path} {wrong}; restore it with git")
        return path

    @property
    def precision(self) -> str:
        """What the precision ``auto`` was on the machine that computed the results."""
        return self.manifest.get("precision", FIRST_PRECISION)

    @property
    def sentence(self) -> str:
        """Which run the results are from, for captions."""
        made = f"{self.manifest['date']}, commit {self.manifest['commit'][:10]}, manifest {self.digest[:10]}"
        return f"Published run of {made}, not recomputed here."

    @cached_property
    def stages(self) -> dict[tuple[str, str], dict]:
        """The manifest's records by stage and key."""
        return {(record["stage"], record["key"]): record for record in self.manifest["stages"]}

    def find(self, stage: str, key: str) -> tuple[Path, dict] | None:
        """The folder of an entry's files, and its record; None where it was not published, or a file is not its own."""
        record, folder = self.stages.get((stage, key), {}), self.root
        for name, file in record.get("files", {}).items():
            path = self.root / file["path"]
            is_known = file["path"] in self.manifest["files"] and ".." not in PurePosixPath(file["path"]).parts
            if not is_known or path.name not in (name, f"{name}.gz") or not path.is_relative_to(self.root):
                return None
            content = path.read_bytes() if path.is_file() else b""
            with suppress(gzip.BadGzipFile, EOFError, zlib.error):
                content = content if path.name == name else gzip.decompress(content)
            if hashlib.sha256(content).hexdigest() != file["sha256"]:
                return None
            folder = path.parent
        return (folder, record) if "files" in record else None

    @cached_property
    def runs(self) -> "Runs":
        """All measured runs by condition and method."""
        try:
            return Runs(self._read(RUNS_FILE, read_table, RUNS_STORED))
        except ValueError as error:
            raise self._refused(RUNS_FILE, [error]) from None

    @cached_property
    def places(self) -> dict[str, tuple[str, str]]:
        """Condition and method of each measured run by its key."""
        return {run["key"]: tuple(place.split("/")) for place, run in self.manifest["runs"].items()}

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """All published metrics, one row per question, method, condition, metric and depth; texts as categories."""
        return read_table(self.file(METRICS_FILE))

    def metrics_of(self, method: str, condition: str) -> pd.DataFrame:
        """The published rows of one run, in their order; texts as categories, the same of every run."""
        return self.metrics.iloc[self._rows_of_metrics[condition, method]].reset_index(drop=True)

    @cached_property
    def _rows_of_metrics(self) -> dict[tuple[str, str], np.ndarray]:
        return self.metrics.groupby(OF_RUN, observed=True).indices

    @cached_property
    def filings(self) -> pd.DataFrame:
        """FILING_COLUMNS."""
        found = self._read("filings.csv", read_csv, FILING_COLUMNS)
        if twice := found.loc[found["doc_name"].duplicated(), "doc_name"].tolist():
            raise self._refused("filings.csv", [f"the filing {name} is listed twice" for name in twice])
        return found

    def _read(self, name: str, read: Callable[[Path], pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
        found = read(self.file(name))
        if lacking := [column for column in columns if column not in found]:
            raise self._refused(name, [f"it lacks the column {column}" for column in lacking])
        return found

    def _refused(self, name: str, wrong: Sequence[object]) -> StudyError:
        """The error that names what is wrong with a published file."""
        listed = "; ".join(map(str, wrong[:5]))
        return StudyError(f"{self.root / name}: {listed}; restore it with git, or publish again")

    def dataset(self) -> PublishedDataset:
        """The dataset without its texts, in the dataset's order."""
        table = self._read("questions.csv", partial(read_csv, gold_pages=str), PUBLISHED_COLUMNS)
        gold, stated = table["gold_pages"].fillna(""), self.manifest
        faults = {
            "question {0} is listed twice": table["question_id"].duplicated(),
            "the gold pages of question {0} are no page numbers: {1!r}": ~gold.str.fullmatch(
                "[0-9]{1,9}( [0-9]{1,9})*"
            ),
            "the filing {2} of question {0} is not in filings.csv": ~table["doc_name"].isin(self.filings["doc_name"]),
        }
        about = table.assign(gold_pages=gold)[["question_id", "gold_pages", "doc_name"]]
        if wrong := [form.format(*row) for form, of in faults.items() for row in about[of].to_numpy()]:
            raise self._refused("questions.csv", wrong)
        period = table["doc_name"].map(self.filings.set_index("doc_name")["doc_period"])
        return PublishedDataset(
            name=stated["dataset"],
            root=self.root,
            questions=table.assign(gold_pages=[[*map(int, text.split())] for text in gold], doc_period=period),
            filings=self.filings,
            evidence=pd.DataFrame(columns=["question_id", "doc_name", "page", "text", "line"]),
            question_file=self.root / "questions.csv",
            collection=stated.get("collection", stated["dataset"]),
            lacks=tuple(stated.get("lacks", ())),
            fingerprint=stated["fingerprint"],
            filings_digest=stated["filings_digest"],
        )

    def settings(self, profile: Settings) -> Settings:
        """The sections of a profile with the values that the results were made with."""
        found = self.dataset()
        known = profile.for_sets(found.collection, found.name)
        return known.updated({name: value for name, value in self.manifest["settings"].items() if name in known})

    def generations(self, questions: pd.DataFrame) -> list[dict]:
        """The published generations as records; echoes of questions, which are gaps, are put back where these are."""
        if GENERATIONS_FILE not in self.manifest["files"]:
            return []
        lines = gzip.decompress(self.file(GENERATIONS_FILE).read_bytes()).decode().splitlines()
        records, text_of = list(map(json.loads, lines)), questions.set_index("question_id").get("question")
        for record in records:
            if (pieces := record.pop("pieces", None)) and text_of is not None:
                record["text"] = from_pieces(pieces, text_of[record["question_id"]])
        return records


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


def by_question(runs: pd.DataFrame, questions: pd.DataFrame) -> pd.DataFrame:
    """Runs, one under the other, with each question's rows together: they are alike, so that the file is smaller."""
    place = pd.Index(questions["question_id"]).get_indexer(runs["question_id"])
    return runs.iloc[np.argsort(place, kind="stable")]


def questions_csv(questions: pd.DataFrame) -> str:
    """What is published of questions, without text, as CSV."""
    pages = questions["gold_pages"].map(lambda gold: " ".join(map(str, gold)))
    return questions.assign(gold_pages=pages)[PUBLISHED_COLUMNS].to_csv(index=False)


def exported_run(run: pd.DataFrame, tag: str) -> bytes:
    """A run as gzipped TREC lines, for other programs: compressed quickly."""
    return gzip.compress(trec_lines(run, tag), EXPORT_LEVEL, mtime=0)


def exported_metrics(table: pd.DataFrame) -> bytes:
    """A metrics frame as gzipped CSV, for other programs; in its own order."""
    pa_csv.write_csv(pa.Table.from_pandas(table, preserve_index=False), packed := io.BytesIO())
    return gzip.compress(packed.getvalue(), EXPORT_LEVEL, mtime=0)


def metrics_csv(table: pd.DataFrame) -> bytes:
    """A metrics frame as CSV, ordered, values with ten digits: equal frames give equal bytes."""
    texts = table.select_dtypes("category").columns  # whose order is that of their categories
    table = table.astype(dict.fromkeys(texts, str))
    ordered = table.sort_values(list(table.columns[:5]), kind="stable")
    return ordered.to_csv(index=False, float_format="%.10g").encode()


def from_pieces(pieces: list[str | list], question: str) -> str:
    """The text that was published as pieces: strings, and references into the question, ``[start, end]`` in characters,
    with a third item where the letters are ``upper`` or ``lower``."""

    def referenced(start: int, end: int, letters: str = "") -> str:
        return "".join(map(LETTERS[letters], question[start:end]))

    return "".join(piece if isinstance(piece, str) else referenced(*piece) for piece in pieces)
