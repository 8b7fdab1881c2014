"""Published results: a read-only layer of the store, in the repository, beside the files that outside checks read.

``manifest.json`` lists every stage with its key; for those that are published, also where the entry's files lie. A
file of an entry is a path below the root, or a selection of rows of ``metrics.csv.gz``.
"""

import io
import json
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import pandas as pd
from pydantic import BaseModel, ValidationError

from lib.data.layout import Dataset
from lib.files import ROOT, digest_of_file
from lib.words import StudyError

RESULTS = ROOT / "book" / "results"
MANIFEST, METRICS_FILE = "manifest.json", "metrics.csv.gz"
ANSWERS_FILE = "answers.csv.gz"
LETTERS = {"": str, "upper": str.upper, "lower": str.lower}
PUBLISHED_COLUMNS = ["question_id", "question_type", "doc_name", "doc_type", "company", "gold_pages"]


class Hashed(BaseModel):
    """What a manifest has to state of a run."""

    sha256: str


class Keyed(BaseModel):
    """What a manifest has to state of a stage."""

    stage: str
    key: str


class Stated(BaseModel):
    """What a manifest has to state; without ``files`` it was published before these were hashed."""

    dataset: str
    fingerprint: str
    filings_digest: str
    commit: str
    date: str
    settings: dict
    inputs: dict[str, str]
    runs: dict[str, Hashed]
    files: dict[str, str]
    stages: list[Keyed]


@dataclass(frozen=True)
class PublishedDataset(Dataset):
    """What is published of a dataset: its questions' ids and gold pages and its filings, without any text."""

    fingerprint: str
    filings_digest: str
    lacks: tuple[str, ...]
    has_text: ClassVar[bool] = False


class Published:
    """The published results of one dataset under one profile.

    Args:
        root: ``book/results/<dataset>/<profile>``.
    """

    def __init__(self, root: Path):
        self.root = Path(root)

    @classmethod
    def of(cls, dataset: str, profile: str) -> "Published | None":
        """The results of a dataset and profile, or None when nothing was published."""
        root = RESULTS / dataset / profile
        return cls(root) if (root / MANIFEST).is_file() else None

    @cached_property
    def manifest(self) -> dict:
        """What the results were made from.

        Raises:
            StudyError: the file is broken, or lacks what it has to state.
        """
        path = self.root / MANIFEST
        try:
            found = json.loads(path.read_text())
            Stated.model_validate(found, strict=True)
        except ValidationError as error:
            wrong = dict.fromkeys(".".join(map(str, one["loc"][:3])) or "anything" for one in error.errors())
            listed = ", ".join([*wrong][:5])
            raise StudyError(
                f"{path} does not state {listed}; restore it with git, or publish again"
            ) from None
        except (ValueError, OSError, RecursionError) as error:
            raise StudyError(f"{path} is broken ({error}); restore it with git") from None
        return found

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the manifest, which has the hash of every other file: it stands for the whole publication."""
        return digest_of_file(self.root / MANIFEST)

    def file(self, name: str) -> Path:
        """A published file, once its bytes are known to be those of the manifest.

        Raises:
            StudyError: it is missing or another one.
        """
        path = self.root / name
        if not path.is_file() or digest_of_file(path) != self.manifest["files"].get(name):
            wrong = "is not the published one" if path.is_file() else "is missing"
            raise StudyError(f"{path} {wrong}; restore it with git")
        return path

    @property
    def sentence(self) -> str:
        """Which run the results are from, for captions."""
        return f"Published run of {self.manifest['date']}, commit {self.manifest['commit'][:10]}, not recomputed here."

    @cached_property
    def stages(self) -> dict[tuple[str, str], dict]:
        """The manifest's records by stage and key."""
        return {(record["stage"], record["key"]): record for record in self.manifest["stages"]}

    def copy_entry(self, stage: str, key: str, target: Path) -> dict | None:
        """Write an entry's files to ``target`` and return its record.

        None where it was not published, or where a file is not the published one.
        """
        record = self.stages.get((stage, key))
        if record is None or "files" not in record:
            return None
        for name, file in record["files"].items():
            source = self.root / file.get("path", METRICS_FILE)
            if not source.is_file():
                return None
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            if "path" in file:
                shutil.copyfile(source, target / name)
            else:
                (target / name).write_bytes(metrics_csv(self.metrics_of(**file["rows"])))
            if digest_of_file(target / name) != file["sha256"]:
                return None
        return {name: value for name, value in record.items() if name not in ("files", "origin")}

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """All published metrics, one row per question, method, condition, metric and depth."""
        return pd.read_csv(self.file(METRICS_FILE), dtype={"question_id": str, "k": "Int64"})

    def metrics_of(self, method: str, condition: str, metrics: list[str]) -> pd.DataFrame:
        """The published rows of one method, condition and some metrics."""
        known = self.metrics
        wanted = (known["method"] == method) & (known["condition"] == condition)
        return known[wanted & known["metric"].isin(metrics)].reset_index(drop=True)

    @cached_property
    def filings(self) -> pd.DataFrame:
        """FILING_COLUMNS."""
        return pd.read_csv(self.file("filings.csv"))

    def dataset(self) -> PublishedDataset:
        """The dataset without its texts, in the dataset's order."""
        table = pd.read_csv(self.file("questions.csv"), dtype={"question_id": str, "gold_pages": str})
        pages = table["gold_pages"].map(lambda text: [int(page) for page in text.split()])
        period = table["doc_name"].map(self.filings.set_index("doc_name")["doc_period"])
        given = self.manifest
        return PublishedDataset(
            name=given["dataset"],
            root=self.root,
            questions=table.assign(gold_pages=pages, doc_period=period),
            filings=self.filings,
            evidence=pd.DataFrame(columns=["question_id", "doc_name", "page", "text", "line"]),
            question_file=self.root / "questions.csv",
            collection=given.get("collection", given["dataset"]),
            lacks=tuple(given.get("lacks", ())),
            fingerprint=given["fingerprint"],
            filings_digest=given["filings_digest"],
        )

    def generations(self, questions: pd.DataFrame) -> list[dict]:
        """The published generations as records.

        Args:
            questions: question_id, and ``question`` where the dataset is here: then the echoes of the questions, which
                are gaps in the published texts, are put back.
        """
        name = "generations.jsonl"
        lines = self.file(name).read_text().splitlines() if name in self.manifest["files"] else []
        records = [json.loads(line) for line in lines]
        has_text = "question" in questions
        asked = dict(zip(questions["question_id"], questions["question"], strict=True)) if has_text else {}
        for record in records:
            pieces = record.pop("pieces", None)
            if pieces and asked:
                record["text"] = from_pieces(pieces, asked[record["question_id"]])
            elif pieces:
                record.pop("sha", None)  # which is that of the whole text
        return records


def metrics_csv(table: pd.DataFrame) -> bytes:
    """A metrics frame as CSV, ordered, values with ten digits: equal frames give equal bytes."""
    ordered = table.sort_values(list(table.columns[:5]), kind="stable")
    packed = io.BytesIO()
    ordered.to_csv(packed, index=False, float_format="%.10g")
    return packed.getvalue()


def from_pieces(pieces: list[str | list], question: str) -> str:
    """The text that was published as pieces: strings, and references into the question.

    A reference is ``[start, end]`` in characters, with a third item where the letters are ``upper`` or ``lower``.
    """

    def referenced(start: int, end: int, letters: str = "") -> str:
        return "".join(map(LETTERS[letters], question[start:end]))

    return "".join(piece if isinstance(piece, str) else referenced(*piece) for piece in pieces)
