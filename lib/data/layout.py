"""A dataset in FinanceBench's own layout.

Layout of a dataset directory::

    data/*open_source*.jsonl           one question a line, or *questions*
    data/*document_information*.jsonl  one filing a line
    data/settings.yaml                 may say ``pages_from``, the number that the questions give a PDF's first page
    pdfs/<DOC>.pdf                     a filing as a PDF, in a sub-folder, too, or in the directory itself
    pages/<DOC>.jsonl                  a filing as text, one page a line: doc_name, page (from 0), text

A file in ``data`` may also be a JSON array, CSV or .xlsx (DATA_ENDINGS). Another question set over these filings is a
directory with ``data/*questions*`` alone.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import ClassVar

import pandas as pd

from lib.files import digest_of, digest_of_file

QUESTION_FILES, DOCUMENTS = ("*open_source*", "*questions*"), "*document_information*"
DATA_ENDINGS, OTHER_TABLES = (".jsonl", ".json", ".csv", ".tsv", ".xlsx"), (".xls", ".xlsm", ".ods", ".numbers", ".txt")
SETTINGS = "settings.yaml"
DOCUMENT_ENDINGS = (".pdf", ".jsonl", ".htm", ".html", ".xhtml", ".xml", ".txt", ".doc", ".docx", ".rtf", ".zip")
MOST_FOLDERS = 10_000  # that are looked through for documents
SEVERAL, UNANSWERABLE = "several filings", "unanswerable"  # kinds of questions that are measured apart
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
    #: The questions that are measured apart, with ``kind``, SEVERAL or UNANSWERABLE, and their evidence; None without.
    apart: "Dataset | None" = field(default=None, kw_only=True)
    part: str = field(default="", kw_only=True)  # of the question file that the questions are; empty for the main one
    #: Question, filing and page (from 0) of evidence whose page was found by its quotation.
    located: frozenset[tuple[str, str, int]] = field(default=frozenset(), kw_only=True)
    pages_from: int = field(default=0, kw_only=True)  # number of a PDF's first page in the question file
    has_text: ClassVar[bool] = True  # whether the texts of filings and questions are available

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over names and bytes of every file that is read and the filings' descriptions, 20 hex digits."""
        settings = self.question_file.with_name(SETTINGS)
        others = [self.question_file, *([settings] if settings.is_file() else [])]
        files = hashlib.sha256(self._listing(*others).encode()).hexdigest()[:20]
        described = self.filings_digest
        is_frozen = FROZEN_FINGERPRINTS.get(files) == described and not self.part
        return files if is_frozen else digest_of([files, described, *filter(None, [self.part])])[:20]

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
        names = [(f"{path.parent.name}/{path.name}", path) for path in others]
        sources = map(self.source, self.filings["doc_name"])
        names += [(path.relative_to(self.root).as_posix(), path) for path in sources]
        return "".join(f"{name} {digest_of_file(path)}\n" for name, path in sorted(names))

    def source(self, doc_name: str) -> Path:
        """The file a filing is read from: its page text where there is one, else its PDF."""
        text, pdf = self.root / "pages" / f"{doc_name}.jsonl", self.root / "pdfs" / f"{doc_name}.pdf"
        if text.is_file() or pdf.is_file():
            return text if text.is_file() else pdf
        return self._other_pdfs.get(doc_name, pdf)

    @cached_property
    def _other_pdfs(self) -> dict[str, Path]:
        """By name, the PDFs in the folder itself and in folders of ``pdfs``, and those whose ending is in capitals."""
        return {path.stem: path for path in pdfs_in(self.root)}


def pdfs_in(root: Path) -> list[Path]:
    """The PDFs of a dataset's folder: those in ``pdfs``, in its sub-folders, and in the folder itself."""
    folders = [folder for folder in (root / "pdfs", root) if folder.is_dir()]
    flat = [path for folder in folders for path in sorted(folder.iterdir())]
    paths = [*flat, *in_sub_folders(root / "pdfs")]
    return [path for path in paths if path.suffix.lower() == ".pdf" and path.name[0] != "."]


def in_sub_folders(folder: Path) -> Iterator[Path]:
    """The documents in a folder's sub-folders, by path; hidden ones and links are left out."""
    for at, folders, names in islice(os.walk(folder), MOST_FOLDERS):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        found = (name for name in names if name[0] != "." and name.lower().endswith(DOCUMENT_ENDINGS))
        yield from (Path(at, name) for name in sorted(found) if Path(at) != folder)
