"""Reading a dataset: questions, filings and evidence, each record checked, every problem told at once."""

import re
from pathlib import Path

import pandas as pd

from lib.data.layout import Dataset, Line, Problems, is_safe_name, read_json_lines
from lib.data.pages import extract_pages
from lib.words import FILING_COLUMNS, QUESTION_COLUMNS, doc_type_label

QUESTION_FIELDS = ("financebench_id", "question", "answer", "question_type", "doc_name", "evidence")
TEXT_FIELDS = ("financebench_id", "question", "question_type", "doc_name")


def read_dataset(root: Path, name: str) -> Dataset:
    """Read and check a dataset's records.

    Args:
        root: directory in the layout of :mod:`lib.data.layout`.
        name: short name for paths and tables.

    Raises:
        DatasetError: every problem at once, each with file, line and mend. Sound records are believed until the
            pages are extracted; when a record is wrong, the pages are looked at too, to tell all in one message.
    """
    root = Path(root)
    problems = Problems(root)
    question_file = problems.one_file(root / "data", "*open_source*.jsonl", "*questions*.jsonl")
    document_file = problems.one_file(root / "data", "*document_information*.jsonl")
    problems.stop()
    question_lines = read_json_lines(question_file, problems)
    document_lines = read_json_lines(document_file, problems)
    if not question_lines:
        problems.add(question_file, "no question; give at least one")
    present = {path.stem for path in (root / "pdfs").glob("*.pdf")}
    present |= {path.stem for path in (root / "pages").glob("*.jsonl")}
    documents = _documents(document_lines, present, problems)
    questions, evidence = _questions(question_lines, documents, problems)
    filings = _filings(documents, present)
    _check_filings(question_lines, present, root, problems)
    dataset = Dataset(name, root, questions, filings, evidence, question_file)
    if problems.messages:
        extract_pages(dataset, problems=problems)
    return dataset


def _documents(lines: list[Line], present: set[str], problems: Problems) -> dict[str, dict]:
    """Filing name to its description; FinanceBench describes a filing that it does not use twice."""
    documents: dict[str, dict] = {}
    for line in lines:
        doc_name = line.record.get("doc_name")
        if not isinstance(doc_name, str) or not is_safe_name(doc_name):
            problems.add(
                line, f"doc_name {doc_name!r} is no file name; use letters, digits, '_', '-' and '.' only"
            )
        elif doc_name in documents:
            if doc_name in present and _core(documents[doc_name]) != _core(line.record):
                problems.add(line, f"{doc_name} is described twice, differently; remove one of the two lines")
        else:
            documents[doc_name] = line.record
    return documents


def _core(document: dict) -> tuple:
    return tuple(document.get(field) for field in ("company", "doc_type", "doc_period"))


def _questions(lines, documents, problems) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows, pieces, seen = [], [], set()
    for line in lines:
        record = line.record
        if not _is_complete(line, problems):
            continue
        if record["financebench_id"] in seen:
            problems.add(
                line, f"question id {record['financebench_id']} is used twice; give each question its own"
            )
        seen.add(record["financebench_id"])
        found = _evidence(line, problems)
        document = documents.get(record["doc_name"], {})
        pieces += found
        rows.append(
            (
                record["financebench_id"],
                record["question"],
                str(record["answer"]),
                record["question_type"],
                record["doc_name"],
                doc_type_label(str(document.get("doc_type", "other"))),
                str(record.get("company") or document.get("company") or record["doc_name"].split("_")[0]),
                document.get("doc_period"),
                sorted({piece["page"] for piece in found}),
                "\n\n".join(piece["text"] for piece in found),
            )
        )
    columns = ["question_id", "doc_name", "page", "text", "line"]
    return pd.DataFrame(rows, columns=list(QUESTION_COLUMNS)), pd.DataFrame(pieces, columns=columns)


def _is_complete(line: Line, problems: Problems) -> bool:
    """Whether a question has every field in its right kind; what is not right is noted."""
    record, wrong = line.record, []
    if missing := [field for field in QUESTION_FIELDS if record.get(field) in (None, "", [])]:
        wrong.append(f"the question has no {', '.join(missing)}; fill in what is missing")
    if no_text := [field for field in TEXT_FIELDS if not isinstance(record.get(field, ""), str | None)]:
        wrong.append(f"{', '.join(no_text)} is no text; put it in quotes")
    question_id = record.get("financebench_id")
    if isinstance(question_id, str) and re.search(r"\s", question_id):
        wrong.append(f"question id {question_id!r} has a space, which a run file cannot hold; use '_' or '-'")
    pieces = record.get("evidence") or []
    if not isinstance(pieces, list) or not all(isinstance(piece, dict) for piece in pieces):
        wrong.append("evidence is no list of objects; give each evidence_text and evidence_page_num")
    for message in wrong:
        problems.add(line, message)
    return not wrong


def _evidence(line: Line, problems: Problems) -> list[dict]:
    record, found = line.record, []
    for number, piece in enumerate(record["evidence"], 1):
        page, text = piece.get("evidence_page_num"), piece.get("evidence_text")
        where = piece.get("doc_name", record["doc_name"])
        if where != record["doc_name"]:
            problems.add(
                line, f"evidence {number} is in {where}, not in the gold filing {record['doc_name']}"
            )
        elif not isinstance(page, int) or isinstance(page, bool) or page < 0:
            problems.add(line, f"evidence {number} has page {page!r}; give the PDF's page index, from 0")
        elif not isinstance(text, str) or not text.strip():
            problems.add(line, f"evidence {number} has no text; quote the page")
        else:
            question_id = record["financebench_id"]
            found.append(
                {
                    "question_id": question_id,
                    "doc_name": where,
                    "page": page,
                    "text": text,
                    "line": line.number,
                }
            )
    return found


def _filings(documents: dict[str, dict], present: set[str]) -> pd.DataFrame:
    """Every filing that lies in the dataset, whether or not a question needs it."""
    rows = []
    for doc_name in sorted(present):
        document = documents.get(doc_name, {})
        company = document.get("company") or doc_name.split("_")[0]
        doc_type = doc_type_label(str(document.get("doc_type", "other")))
        rows.append((doc_name, company, document.get("gics_sector"), doc_type, document.get("doc_period")))
    return pd.DataFrame(rows, columns=list(FILING_COLUMNS[:-1]))


def _check_filings(lines: list[Line], present: set[str], root: Path, problems: Problems) -> None:
    """Note files whose names cannot stand in a chunk id, and questions whose filing is not there."""
    for doc_name in sorted(present):
        if not is_safe_name(doc_name):
            place = root / "pdfs" / f"{doc_name}.pdf"
            place = place if place.is_file() else root / "pages" / f"{doc_name}.jsonl"
            problems.add(place, "rename the file; use letters, digits, '_', '-' and '.' only")
    for line in lines:
        doc_name = line.record.get("doc_name")
        if not isinstance(doc_name, str):
            continue
        if not is_safe_name(doc_name):
            problems.add(
                line, f"doc_name {doc_name!r} is no file name; use letters, digits, '_', '-' and '.' only"
            )
        elif doc_name not in present:
            problems.add(
                line, f"neither pdfs/{doc_name}.pdf nor pages/{doc_name}.jsonl exists; add one of them"
            )
