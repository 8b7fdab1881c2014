"""A folder of one's own filings to begin with: document information from covers, and a file for questions.

A filing is a PDF, or its pages' text in ``pages``, which is read where both are there.

Nothing that is there is written over.
"""

import csv
import io
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lib.data.layout import DOCUMENT_ENDINGS, DOCUMENTS, QUESTION_FILES, in_sub_folders, pdfs_in
from lib.data.locate import RESERVED_NAMES
from lib.data.pages import read_filing
from lib.data.pdf import read_texts
from lib.data.records import NAME_RULE, is_safe_name, printable
from lib.data.rows import DOCUMENT_FIELDS
from lib.files import ROOT, write_atomically
from lib.filings.fiscal import fiscal_years
from lib.filings.identity import filing_identity, printed_form, with_fiscal_year
from lib.schema import StudyError

DOCUMENT_FILE, QUESTION_FILE = "document_information.csv", "questions.csv"
QUESTION_HEADER = ("id", "question", "answer", "question_type", "doc_name", "page", "evidence")
COVER_PAGES = 2
BYTE_ORDER_MARK = "\ufeff"  # with which Excel reads a CSV as UTF-8


class Skeleton(NamedTuple):
    """What was written, what was left as it was, the filings (DOCUMENT_FIELDS), and what is wrong with files."""

    written: list[Path]
    kept: list[Path]
    filings: list[dict]
    problems: list[str]


def new_folder(root: Path) -> Skeleton:
    """Write the files of a dataset that a folder of filings lacks; make the folder where there is none.

    A StudyError where the path is a file, or a folder of the study's own.
    """
    is_own = root.resolve() == ROOT or root.name in RESERVED_NAMES
    if is_own or not root.parts or (root.exists() and not root.is_dir()):
        raise StudyError(
            f"{root}: name a folder of your own, with PDFs in it or in its folder pdfs, as DATASET=my-filings"
        )
    given_as_text = {path.stem: path for path in sorted((root / "pages").glob("*.jsonl")) if path.name[0] != "."}
    paths = [path for path in pdfs_in(root) if path.stem not in given_as_text] + [*given_as_text.values()]
    problems = []
    for folder in [root / "data"] + ([] if paths else [root / "pdfs"]):
        folder.mkdir(parents=True, exist_ok=True)
    filings = [of_filing(path, root, problems) for path in paths]
    filings = [filing for filing in filings if filing]
    folders = [folder for folder in (root, root / "pdfs") if folder.is_dir()]
    others = [path for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]
    others += in_sub_folders(root / "pdfs")
    for path in in_sub_folders(root):
        if path.suffix.lower() == ".pdf" and path.relative_to(root).parts[0] not in ("pdfs", "data"):
            problems.append(f"{path.relative_to(root)}: not read; move it into pdfs/, or a folder of it")
    for path in others:
        if path.suffix.lower() in DOCUMENT_ENDINGS and path.suffix.lower() not in (".pdf", ".jsonl"):
            problems.append(f"{path.relative_to(root)}: not read; print it to a PDF, if it is a filing")
    written, kept = [], []
    for patterns, name, rows in (
        ((DOCUMENTS,), DOCUMENT_FILE, [DOCUMENT_FIELDS, *(filing.values() for filing in filings)]),
        (QUESTION_FILES, QUESTION_FILE, [QUESTION_HEADER]),
    ):
        there = sorted(path for pattern in patterns for path in (root / "data").glob(pattern) if path.name[0] != ".")
        if there:
            kept += there
        elif name == QUESTION_FILE or filings:
            written.append(write_atomically(root / "data" / name, BYTE_ORDER_MARK + as_csv(rows)))
    return Skeleton(written, kept, filings, problems)


def of_filing(path: Path, root: Path, problems: list[str]) -> dict | None:
    """A filing's line of document information (DOCUMENT_FIELDS), as its cover says; what is unknown is empty."""
    if not is_safe_name(path.stem):
        problems.append(f"{printable(path.name)}: rename the file; {NAME_RULE}")
        return None
    if path.suffix.lower() == ".jsonl":
        texts, wrong = read_filing(path, root)
    else:
        texts, wrong = read_texts(path)
        wrong = [f"{path.relative_to(root)}: the PDF {printable(wrong)}"] if wrong else []
    if wrong:
        problems += wrong
        return None
    cover = "\n".join(texts[:COVER_PAGES])
    filing = filing_identity(path.stem, None, "", None, cover)
    filing = with_fiscal_year(filing, cover, fiscal_years(texts))
    form = printed_form(path.stem, filing.doc_type, cover)
    kind = filing.doc_type if form == "" or " " in form else form
    kind = "" if kind == "other" else kind
    return dict(zip(DOCUMENT_FIELDS, (path.stem, filing.company, "", kind, filing.year or ""), strict=True))


def as_csv(rows: Sequence) -> str:
    """Rows as CSV."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def told(root: Path, made: Skeleton) -> str:
    """What was done and what to do next, for the person who asked."""
    lines = [f"wrong: {problem}" for problem in made.problems]
    lines += [f"kept, as it was there: {path}" for path in made.kept] + [f"written: {path}" for path in made.written]
    if not made.filings:
        as_text = f"text into {root / 'pages'} (<doc_name>.jsonl, in each line doc_name, page from 0, and text)"
        return "\n".join([*lines, f"next: put PDFs into {root / 'pdfs'}, or {as_text}, and say this again"])
    lines.append("records of the filings, as their covers say; one that the file lacks may be copied into it:")
    lines += [f"  {line}" for line in as_csv([DOCUMENT_FIELDS, *(one.values() for one in made.filings)]).splitlines()]
    documents = next((path for path in [*made.written, *made.kept] if path.match(DOCUMENTS)), None)
    dataset = shlex.quote(str(root))
    return "\n".join(
        [
            *lines,
            f"next: 1. look {documents} over: it was read from covers, and company is needed",
            "      2. write a question a row: id, question, answer, its filing (doc_name), and the evidence quoted,"
            " with or without its page (from 0), or the pages of all alone; further evidence in rows with the same id",
            f"      3. make measure DATASET={dataset} METHODS=bm25, then make book DATASET={dataset}",
        ]
    )
