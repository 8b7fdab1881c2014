"""A dataset in FinanceBench's own layout.

Layout of a dataset directory::

    data/*open_source*.jsonl           one question a line
    data/*document_information*.jsonl  one filing a line
    pdfs/<DOC>.pdf                     a filing as a PDF, or
    pages/<DOC>.jsonl                  a filing as text, one page a line: doc_name, page (from 0), text

Another question set over these filings is a directory with ``data/*questions*.jsonl`` alone.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import ClassVar

import pandas as pd

from lib.files import digest_of, digest_of_file

QUESTION_FILES, DOCUMENTS = ("*open_source*.jsonl", "*questions*.jsonl"), "*document_information*.jsonl"
DOCUMENT_ENDINGS = (".pdf", ".jsonl", ".htm", ".html", ".xhtml", ".xml", ".txt", ".doc", ".docx", ".rtf", ".zip")
MOST_FOLDERS = 10_000  # that are looked through for documents
#: Fingerprints of files alone, under which results were published, with the digest of the filings that go with each.
FROZEN_FINGERPRINTS = {
    "1b447b5fa654bc1cdd52": "dcf424bc22574e2f7259",  # FinanceBench
    "33a8a230174ee4551806": "dcf424bc22574e2f7259",  # the page questions
    "a0c4f7ebabed4ba3b5f0": "810f1bfd806213dbefdc",  # the demo
}


@dataclass(frozen=True)
class Dataset:
    """A question set and its filings, whose records are valid; pages are checked once extracted."""

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
        """SHA-256 over names and bytes of every file that is read and the filings' descriptions, 20 hex digits."""
        files = hashlib.sha256(self._listing(self.question_file).encode()).hexdigest()[:20]
        described = self.filings_digest
        return files if FROZEN_FINGERPRINTS.get(files) == described else digest_of([files, described])[:20]

    @cached_property
    def filings_digest(self) -> str:
        """SHA-256 over names and bytes of the filings' files and their descriptions, 20 hex digits."""
        return hashlib.sha256((self._listing() + self.filings.to_csv(index=False)).encode()).hexdigest()[:20]

    @cached_property
    def lacks(self) -> tuple[str, ...]:
        """Those of ``answer`` and ``evidence`` (texts) that no question has."""
        return tuple(name for name in ("answer", "evidence") if not self.questions[name].any())

    def _listing(self, *others: Path) -> str:
        """Folder, name and hash of the filings' files and of others, one a line, by name."""
        paths = [*others, *map(self.source, self.filings["doc_name"])]
        names = sorted((f"{path.parent.name}/{path.name}", path) for path in paths)
        return "".join(f"{name} {digest_of_file(path)}\n" for name, path in names)

    def source(self, doc_name: str) -> Path:
        """The file a filing is read from: its page text where there is one, else its PDF."""
        text, pdf = self.root / "pages" / f"{doc_name}.jsonl", self.root / "pdfs" / f"{doc_name}.pdf"
        if text.is_file() or pdf.is_file():
            return text if text.is_file() else pdf
        return next(self.root.glob(f"pdfs/{doc_name}.[pP][dD][fF]"), pdf)


def in_sub_folders(folder: Path) -> Iterator[Path]:
    """The documents in a folder's sub-folders, by path; hidden ones and links are left out."""
    for at, folders, names in islice(os.walk(folder), MOST_FOLDERS):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        found = (name for name in names if name[0] != "." and name.lower().endswith(DOCUMENT_ENDINGS))
        yield from (Path(at, name) for name in sorted(found) if Path(at) != folder)
