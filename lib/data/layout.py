"""A dataset in FinanceBench's own layout, its JSON lines, and the list of its problems.

Layout of a dataset directory::

    data/*open_source*.jsonl           one question a line
    data/*document_information*.jsonl  one filing a line
    pdfs/<DOC>.pdf                     a filing as a PDF, or
    pages/<DOC>.jsonl                  a filing as text, one page a line: doc_name, page (from 0), text

Another question set over these filings is a directory with ``data/*questions*.jsonl`` alone.
"""

import hashlib
import json
import os
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple

import pandas as pd

from lib.files import digest_of, digest_of_file
from lib.words import DatasetError

DOCUMENTS = "*document_information*.jsonl"
MOST_LINES = 50  # of problems that one message lists
#: Of datasets whose results are kept under the fingerprint of their files alone: that, and the filings' digest.
KEPT = {
    "1b447b5fa654bc1cdd52": "dcf424bc22574e2f7259",  # FinanceBench
    "33a8a230174ee4551806": "dcf424bc22574e2f7259",  # the page questions
    "a0c4f7ebabed4ba3b5f0": "810f1bfd806213dbefdc",  # the demo
}


@dataclass(frozen=True)
class Dataset:
    """A question set and its filings, whose records were read and are sound; pages are checked once extracted."""

    name: str  # of the question set; used in paths
    root: Path  # of the filings
    questions: pd.DataFrame  # QUESTION_COLUMNS, ordered as in the file
    filings: pd.DataFrame  # FILING_COLUMNS without ``n_pages``: those that have a PDF or page text here
    evidence: pd.DataFrame  # one row a piece: question_id, doc_name, page, text, line (where it was read)
    question_file: Path
    collection: str  # the dataset that the filings are of: the name, or another's where sets share filings
    has_text: ClassVar[bool] = True  # whether the texts of filings and questions are available

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the names and bytes of every file that the study reads and what is known of each filing, 20 hex
        digits.
        """
        files = hashlib.sha256(self._listing(self.question_file).encode()).hexdigest()[:20]
        described = self.filings_digest
        return files if KEPT.get(files) == described else digest_of([files, described])[:20]

    @cached_property
    def filings_digest(self) -> str:
        """SHA-256 over the filings' files, names and bytes, and what is known of each filing, 20 hex digits."""
        return hashlib.sha256((self._listing() + self.filings.to_csv(index=False)).encode()).hexdigest()[:20]

    @cached_property
    def lacks(self) -> tuple[str, ...]:
        """Those of ``answer`` and ``evidence`` (texts) that no question has."""
        return tuple(name for name in ("answer", "evidence") if not self.questions[name].any())

    def _listing(self, *others: Path) -> str:
        """Name and hash of the filings' files and of others, one a line, by name."""
        paths = [*others, *map(self.source, self.filings["doc_name"])]
        names = sorted((_relative(path, self.root), path) for path in paths)
        return "".join(f"{name} {digest_of_file(path)}\n" for name, path in names)

    def source(self, doc_name: str) -> Path:
        """The file a filing is read from: its page text where there is one, else its PDF."""
        text = self.root / "pages" / f"{doc_name}.jsonl"
        return text if text.is_file() else self.root / "pdfs" / f"{doc_name}.pdf"


def _relative(path: Path, root: Path) -> str:
    """A path below the root; of a file elsewhere, as another set's questions are, its folder and name."""
    return (path.relative_to(root) if path.is_relative_to(root) else Path(*path.parts[-2:])).as_posix()


class Line(NamedTuple):
    """A line of a file, and its record where it is read."""

    path: Path
    number: int
    record: dict | None = None

    @property
    def doc_name(self) -> str:
        """The filing that the record names, perhaps wrongly."""
        return str(self.record.get("doc_name"))


class Problems:
    """The list of what is wrong with a dataset, reported at once; files are named relative to its ``root``."""

    def __init__(self, root: Path):
        self.root, self.messages = Path(root), []

    def add(self, where: Line | Path, message: str) -> None:
        """Note one problem; ``message`` says what is wrong and how to mend it."""
        path, number = (where.path, f" line {where.number}") if isinstance(where, Line) else (where, "")
        name = path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)
        self.messages.append(f"{name}{number}: {message}")

    def one_file(self, folder: Path, *patterns: str) -> Path | None:
        """The only file in ``folder`` that matches the first pattern that matches any; descriptions of documents match
        their own pattern alone, whatever else is in their names.
        """
        for pattern in patterns:
            others = folder.glob(DOCUMENTS) if pattern != DOCUMENTS else ()
            if found := sorted(set(folder.glob(pattern)) - set(others)):
                break
        if len(found) == 1:
            return found[0] if self.can_read(found[0]) else None
        several = f"more than one {pattern}: {', '.join(path.name for path in found)}; leave one"
        none = f"no {' or '.join(patterns)}; see the dataset layout in the README"
        self.add(folder, several if found else none)
        return None

    def can_read(self, path: Path) -> bool:
        """Whether a path is a file that can be read; what is wrong with it otherwise is noted."""
        try:
            is_file, wrong = stat.S_ISREG(path.stat().st_mode), ""
            if not is_file:
                wrong = "is a folder or a device and no file; rename or remove it"
            elif not os.access(path, os.R_OK):
                wrong = "must not be read; give yourself the right, as with chmod u+r"
        except OSError as error:
            wrong = f"cannot be opened ({error.strerror}); mend the link or the folder's rights"
        if wrong:
            self.add(path, wrong)
        return not wrong

    def stop(self) -> None:
        """Raise DatasetError with every problem, at most MOST_LINES of them, if there is any."""
        if unique := list(dict.fromkeys(self.messages)):
            count = f"{len(unique)} problem" + ("s" if len(unique) > 1 else "")
            more = len(unique) - MOST_LINES
            rest = [f"and {more} more"] if more > 0 else []
            raise DatasetError("\n  ".join([f"{self.root}: {count}", *unique[:MOST_LINES], *rest]))


def read_json_lines(path: Path, problems: Problems) -> list[Line]:
    """The records of a JSON-lines file; a line that is no JSON object is a problem, blank lines are skipped."""
    lines, content = [], path.read_bytes()
    try:
        texts = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        number, byte = content.count(b"\n", 0, error.start) + 1, content[error.start]
        problems.add(Line(path, number), f"byte 0x{byte:02x} is no UTF-8; save the file as UTF-8")
        return []
    if texts[0].lstrip().startswith("[") and not texts[0].rstrip().endswith("]"):
        problems.add(Line(path, 1), "the file is one JSON list; write one record a line, without a list around them")
        return []
    for number, text in enumerate(texts, 1):
        record, wrong = None, "not a JSON object; one record a line, in braces"
        try:
            record = json.loads(text, object_pairs_hook=_once) if text.strip() else None
        except RecursionError:
            wrong = "broken JSON (nested too deep); mend or remove the line"
        except ValueError as error:
            wrong = f"broken JSON ({error}); mend or remove the line"
        if isinstance(record, dict):
            lines.append(Line(path, number, record))
        elif text.strip():
            problems.add(Line(path, number), wrong)
    return lines


def _once(pairs: list[tuple[str, object]]) -> dict:
    """A JSON object, in which a field stands once."""
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the field {max(names, key=names.count)!r} stands in it twice")
    return record
