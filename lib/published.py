"""Published results: the copy in the repository that stands in for computing, and for filings that are not here."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from lib import runs
from lib.data.layout import Dataset
from lib.data.locate import financebench_root
from lib.store import digest_of_file, sound_record, write_atomically
from lib.words import Condition, NeedsFilings, StudyError

RESULTS = Path(__file__).resolve().parent.parent / "book" / "results"
SHARED = (
    "page_scorer/scores",
    "page_scorer/measured",
    "page_scorer/slips/measured",
    "page_scorer_light/scores",
    "ahead/ladder",
    "ahead/timing",
    "siblings/alpha",
    "preference/counts",
)
LETTERS = {"": str, "upper": str.upper, "lower": str.lower}
QUESTION_COLUMNS = ["question_id", "question_type", "doc_name", "doc_type", "company", "gold_pages"]


@dataclass(frozen=True)
class PublishedDataset(Dataset):
    """What is published of a dataset: which questions, their gold pages and the filings, but no text of either.

    Attributes:
        fingerprint: of the dataset that the results were computed from.
    """

    fingerprint: str


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
        return cls(root) if (root / "manifest.json").is_file() else None

    @classmethod
    def in_place_of(cls, dataset: str, profile: str) -> "Published | None":
        """The results that stand in for filings: no dataset was named, FinanceBench is not here, but was published."""
        if dataset or financebench_root() is not None:
            return None
        return cls.of("financebench", profile)

    @classmethod
    def matching(
        cls, dataset: Dataset, profile: str, say: Callable[[str], None] = print
    ) -> "Published | None":
        """The results computed from this very dataset, or None; results of other files under its name are not used."""
        found = cls.of(dataset.name, profile)
        if found and found.manifest["fingerprint"] != dataset.fingerprint:
            say(
                f"{dataset.root} is not the dataset that was published (fingerprint {dataset.fingerprint}, published "
                f"{found.manifest['fingerprint']}): nothing published is used"
            )
            return None
        return found

    @cached_property
    def manifest(self) -> dict:
        """What the results were made from."""
        try:
            return json.loads((self.root / "manifest.json").read_text())
        except json.JSONDecodeError as error:
            raise StudyError(
                f"{self.root / 'manifest.json'} is broken ({error}); restore it with git"
            ) from None

    @property
    def sentence(self) -> str:
        """Which run this is, for captions."""
        return f"Published run of {self.manifest['date']}, commit {self.manifest['commit'][:10]}, not recomputed here."

    @cached_property
    def filings(self) -> pd.DataFrame:
        """FILING_COLUMNS."""
        return pd.read_csv(self.root / "filings.csv")

    @cached_property
    def questions(self) -> pd.DataFrame:
        """QUESTION_COLUMNS of this module and ``doc_period``, in the dataset's order; ``gold_pages`` as lists."""
        table = pd.read_csv(self.root / "questions.csv", dtype={"question_id": str, "gold_pages": str})
        pages = table["gold_pages"].map(lambda text: [int(page) for page in text.split()])
        period = table["doc_name"].map(self.filings.set_index("doc_name")["doc_period"])
        return table.assign(gold_pages=pages, doc_period=period)

    def dataset(self) -> PublishedDataset:
        """The dataset without its texts."""
        evidence = pd.DataFrame(columns=["question_id", "doc_name", "page", "text", "line"])
        place = self.root / "questions.csv"
        name, fingerprint = self.manifest["dataset"], self.manifest["fingerprint"]
        return PublishedDataset(name, self.root, self.questions, self.filings, evidence, place, fingerprint)

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """All published metrics, one row a question."""
        return pd.read_csv(self.root / "metrics.csv.gz", dtype={"question_id": str, "k": "Int64"})

    def metrics_of(self, method: str, condition: Condition) -> pd.DataFrame:
        """The published metrics of one run.

        Raises:
            NeedsFilings: it was not published.
        """
        found = self.metrics[(self.metrics["method"] == method) & (self.metrics["condition"] == condition)]
        if found.empty:
            raise NeedsFilings(f"{method} under {condition} was not published")
        return found.reset_index(drop=True)

    def run_file(self, method: str, condition: Condition, key: str | None = None) -> Path | None:
        """The published run, if it has this key; None for another key or bytes that are not the published ones."""
        record = self.manifest["runs"].get(f"{condition}/{method}", {})
        path = self.root / "runs" / condition / f"{method}.trec.gz"
        is_wanted = record and key in (None, record["key"])
        return path if is_wanted and path.is_file() and digest_of_file(path) == record["sha256"] else None

    def run(self, method: str, condition: Condition) -> pd.DataFrame:
        """One published run (RUN_COLUMNS).

        Raises:
            NeedsFilings: it was not published, or its file is not the published one.
        """
        path = self.run_file(method, condition)
        if path is None:
            raise NeedsFilings(f"{method} under {condition} was not published")
        return runs.read_trec(path)

    def result(self, stage: str, key: str | None = None) -> Path | None:
        """The directory of a published entry of the store, one of SHARED; None for another key or damaged files."""
        path = self.root / "stored" / stage
        record = sound_record(path)
        return path if record and key in (None, record.get("key")) else None

    def cost(self, stage: str) -> tuple[float, float]:
        """Seconds and MiB that a stage took where it was computed; 0 for a stage that was not recorded."""
        found = [record for record in self.manifest["stages"] if record["stage"] == stage]
        return (found[0]["wall_s"], found[0]["peak_mib"]) if found else (0.0, 0.0)

    @property
    def generations(self) -> Path | None:
        """The published generations, if there are any; in their texts an echo of the question is a gap."""
        path = self.root / "generations.jsonl"
        return path if path.is_file() else None

    def whole_generations(self, questions: pd.DataFrame, target: Path) -> Path | None:
        """Write the published generations with the echoes of the questions put back.

        Args:
            questions: question_id and question.
            target: the file to write.

        Returns:
            ``target``, or None when none were published.
        """
        if self.generations is None:
            return None
        asked = dict(zip(questions["question_id"], questions["question"], strict=True))
        records = [json.loads(line) for line in self.generations.read_text().splitlines()]
        for record in records:
            if pieces := record.pop("pieces", None):
                record["text"] = from_pieces(pieces, asked[record["question_id"]])
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        write_atomically(target, "".join(f"{line}\n" for line in lines).encode())
        return target

    @cached_property
    def shown(self) -> dict[str, list[str]]:
        """What the chapters showed: digest of a cell's code to its outputs; see :mod:`lib.book.stand_in`."""
        path = self.root / "shown" / "cells.json"
        return json.loads(path.read_text()) if path.is_file() else {}


def from_pieces(pieces: list[str | list], question: str) -> str:
    """The text that was published as pieces: strings, and references into the question.

    A reference is ``[start, end]`` in characters, with a third item where the letters are ``upper`` or ``lower``.
    """
    return "".join(piece if isinstance(piece, str) else _referenced(question, *piece) for piece in pieces)


def _referenced(question: str, start: int, end: int, letters: str = "") -> str:
    return "".join(map(LETTERS[letters], question[start:end]))
