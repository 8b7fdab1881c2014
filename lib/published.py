"""Published results: the copy in the repository that may stand in for computing."""

import json
from functools import cached_property
from pathlib import Path

from lib.store import digest_of_file
from lib.words import Condition, StudyError

RESULTS = Path(__file__).resolve().parent.parent / "book" / "results"


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

    @cached_property
    def manifest(self) -> dict:
        """What the results were made from."""
        try:
            return json.loads((self.root / "manifest.json").read_text())
        except json.JSONDecodeError as error:
            raise StudyError(f"{self.root / 'manifest.json'} is broken ({error}); restore it with git") from None

    def run_file(self, method: str, condition: Condition, key: str) -> Path | None:
        """The published run that has this key, unless its bytes are not the published ones."""
        record = self.manifest["runs"].get(f"{condition}/{method}", {})
        path = self.root / "runs" / condition / f"{method}.trec.gz"
        if record.get("key") != key or not path.is_file() or digest_of_file(path) != record["sha256"]:
            return None
        return path

    @property
    def generations(self) -> Path | None:
        """The published generations, if there are any."""
        path = self.root / "generations.jsonl"
        return path if path.is_file() else None
