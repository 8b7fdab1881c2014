"""Reading a dataset: questions, filings and evidence, each record checked, every problem reported at once."""

import re
from pathlib import Path

import pandas as pd

from lib.data.layout import DOCUMENTS, Dataset, Line, Problems, is_safe_name, read_json_lines
from lib.data.pages import extract_pages
from lib.words import FILING_COLUMNS, QUESTION_COLUMNS, doc_type_label

QUESTION_FIELDS = ("financebench_id", "question", "answer", "question_type", "doc_name", "evidence")
TEXT_FIELDS = ("financebench_id", "question", "question_type", "doc_name")
EVIDENCE_COLUMNS = ["question_id", "doc_name", "page", "text", "line"]
NAME_RULE = "use letters, digits, '_', '-' and '.' only"


def read_dataset(root: Path, name: str) -> Dataset:
    """Read and check a dataset's records.

    Args:
        root: directory in the layout of :mod:`lib.data.layout`.
        name: short name for paths and tables.

    Raises:
        DatasetError: every problem at once, each with file, line and what would mend it. When a record is wrong, the
            pages are checked too, so that one message lists all; else they are checked once they are extracted.
    """
    root = Path(root)
    problems = Problems(root)
    question_file = problems.one_file(root / "data", "*open_source*.jsonl", "*questions*.jsonl")
    document_file = problems.one_file(root / "data", DOCUMENTS)
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
            problems.add(line, f"doc_name {doc_name!r} is no file name; {NAME_RULE}")
        elif doc_name not in documents:
            documents[doc_name] = line.record
        elif doc_name in present and _core(documents[doc_name]) != _core(line.record):
            problems.add(line, f"{doc_name} is described twice, differently; remove one of the two lines")
    return documents


def _core(document: dict) -> tuple:
    return tuple(document.get(field) for field in ("company", "doc_type", "doc_period"))


def _questions(
    lines: list[Line], documents: dict[str, dict], problems: Problems
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """QUESTION_COLUMNS and EVIDENCE_COLUMNS of the complete questions."""
    rows, evidence, seen = [], [], set()
    for line in (line for line in lines if _is_complete(line, problems)):
        record, doc_name = line.record, line.record["doc_name"]
        question_id, document = record["financebench_id"], documents.get(doc_name, {})
        if question_id in seen:
            problems.add(line, f"question id {question_id} is used twice; give each question its own")
        seen.add(question_id)
        pieces = _evidence(line, problems)
        evidence += [(question_id, doc_name, page, text, line.number) for page, text in pieces]
        rows.append(
            {
                "question_id": question_id,
                "question": record["question"],
                "answer": str(record["answer"]),
                "question_type": record["question_type"],
                "doc_name": doc_name,
                "doc_type": doc_type_label(str(document.get("doc_type", "other"))),
                "company": str(record.get("company") or _company(doc_name, document)),
                "doc_period": document.get("doc_period"),
                "gold_pages": sorted({page for page, _ in pieces}),
                "evidence": "\n\n".join(text for _, text in pieces),
            }
        )
    return pd.DataFrame(rows, columns=list(QUESTION_COLUMNS)), pd.DataFrame(
        evidence, columns=EVIDENCE_COLUMNS
    )


def _company(doc_name: str, document: dict) -> str:
    return document.get("company") or doc_name.split("_")[0]


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


def _evidence(line: Line, problems: Problems) -> list[tuple[int, str]]:
    """Page and text of each sound piece of a question's evidence; what is wrong with the others is noted."""
    found, gold = [], line.record["doc_name"]
    for number, piece in enumerate(line.record["evidence"], 1):
        page, text = piece.get("evidence_page_num"), piece.get("evidence_text")
        where = piece.get("doc_name", gold)
        if where != gold:
            problems.add(line, f"evidence {number} is in {where}, not in the gold filing {gold}")
        elif not isinstance(page, int) or isinstance(page, bool) or page < 0:
            problems.add(line, f"evidence {number} has page {page!r}; give the PDF's page index, from 0")
        elif not isinstance(text, str) or not text.strip():
            problems.add(line, f"evidence {number} has no text; quote the page")
        else:
            found.append((page, text))
    return found


def _filings(documents: dict[str, dict], present: set[str]) -> pd.DataFrame:
    """Every filing that lies in the dataset, whether or not a question needs it."""
    rows = []
    for doc_name in sorted(present):
        document = documents.get(doc_name, {})
        doc_type = doc_type_label(str(document.get("doc_type", "other")))
        about = document.get("gics_sector"), doc_type, document.get("doc_period")
        rows.append((doc_name, _company(doc_name, document), *about))
    return pd.DataFrame(rows, columns=list(FILING_COLUMNS[:-1]))


def _check_filings(lines: list[Line], present: set[str], root: Path, problems: Problems) -> None:
    """Note files whose names cannot stand in a chunk id, and questions whose filing is not there."""
    for doc_name in sorted(name for name in present if not is_safe_name(name)):
        pdf, text = root / "pdfs" / f"{doc_name}.pdf", root / "pages" / f"{doc_name}.jsonl"
        problems.add(pdf if pdf.is_file() else text, f"rename the file; {NAME_RULE}")
    for line in lines:
        doc_name = line.record.get("doc_name")
        if isinstance(doc_name, str) and not is_safe_name(doc_name):
            problems.add(line, f"doc_name {doc_name!r} is no file name; {NAME_RULE}")
        elif isinstance(doc_name, str) and doc_name not in present:
            problems.add(
                line, f"neither pdfs/{doc_name}.pdf nor pages/{doc_name}.jsonl exists; add one of them"
            )
