"""Reading a dataset's records: questions, filings and evidence, each checked, every problem reported at once."""

import re
from collections.abc import Container
from dataclasses import replace
from pathlib import Path

import pandas as pd

from lib.data.layout import DOCUMENTS, Dataset, Line, Problems, is_safe_name, read_json_lines
from lib.data.pages import extract_pages
from lib.words import FILING_COLUMNS, QUESTION_COLUMNS, DatasetError, doc_type_label

QUESTION_FILES = ("*open_source*.jsonl", "*questions*.jsonl")
QUESTION_FIELDS = ("financebench_id", "question", "answer", "question_type", "doc_name", "evidence")
TEXT_FIELDS = ("financebench_id", "question", "question_type", "doc_name")
DOCUMENT_FIELDS = ("company", "doc_type", "doc_period")
EVIDENCE_COLUMNS = ["question_id", "doc_name", "page", "text", "line"]
EMPTY = (None, "", [])
NAME_RULE = "use letters, digits, '_', '-' and '.' only"


def read_dataset(root: Path, name: str) -> Dataset:
    """The checked records of a directory in the layout of :mod:`lib.data.layout`.

    Raises:
        DatasetError: every problem at once, each with file, line and what would mend it. When a record is wrong, the
            pages are checked too, so that one message lists all; else they are checked once they are extracted.
    """
    root = Path(root)
    problems = Problems(root)
    question_file = problems.one_file(root / "data", *QUESTION_FILES)
    document_file = problems.one_file(root / "data", DOCUMENTS)
    problems.stop()
    lines, document_lines = (read_json_lines(file, problems) for file in (question_file, document_file))
    if not lines:
        problems.add(question_file, "no question; give at least one")
    present = {path.stem: path for path in (root / "pages").glob("*.jsonl")}
    present |= {path.stem: path for path in (root / "pdfs").glob("*.pdf")}
    documents = _documents(document_lines, present, problems)
    for doc_name in sorted(name for name in present if not is_safe_name(name)):
        problems.add(present[doc_name], f"rename the file; {NAME_RULE}")
    # every filing that is here, whether or not a question needs it
    abouts = {doc_name: _about(doc_name, documents) for doc_name in sorted(present)}
    filings = pd.DataFrame(abouts.values(), columns=list(FILING_COLUMNS[:-1]))
    questions, evidence = _questions(lines, abouts, problems)
    dataset = Dataset(name, root, questions, filings, evidence, question_file, name)
    if problems.messages:
        extract_pages(dataset, problems)
    return dataset


def read_questions(root: Path, name: str, collection: Dataset) -> Dataset:
    """Another question set over a collection's filings; what is known of a filing are the collection's records.

    Args:
        root: has ``data/*questions*.jsonl``, or a dataset's own question file.
        name: of the set.
        collection: its filings are the set's.

    Raises:
        DatasetError: every problem of the records at once; or no question asks about a filing of the collection.
    """
    problems = Problems(root)
    question_file = problems.one_file(root / "data", *QUESTION_FILES)
    problems.stop()
    lines = read_json_lines(question_file, problems)
    abouts = {about["doc_name"]: about for about in collection.filings.to_dict("records")}
    for line in lines:
        line.record["company"] = abouts.get(str(line.record.get("doc_name")), {}).get("company")
    if not any(line.record["company"] for line in lines):
        wrong = f"no question asks about a filing of {collection.name}; name the collection, as DATASET=..."
        raise DatasetError(f"{question_file}: {wrong}")
    questions, evidence = _questions(lines, abouts, problems)
    problems.stop()
    given = {"questions": questions, "evidence": evidence, "question_file": question_file}
    return replace(collection, name=name, **given)


def _questions(
    lines: list[Line], abouts: dict[str, dict], problems: Problems
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The questions and their evidence, of records and what is known of each filing; what is wrong is noted.

    A set may lack answers, or the texts of its evidence: then no record has them.
    """
    rows, evidence, seen = [], [], set()
    has_answers = any(line.record.get("answer") not in EMPTY for line in lines)
    fields = [field for field in QUESTION_FIELDS if field != "answer" or has_answers]
    lines = [line for line in lines if _is_complete(line, fields, abouts, problems)]
    has_texts = any(_text_of(piece) for line in lines for piece in line.record["evidence"])
    for line in lines:
        record, about = line.record, abouts.get(line.record["doc_name"], {})
        question_id, pieces = record["financebench_id"], _evidence(line, has_texts, problems)
        if question_id in seen:
            problems.add(line, f"question id {question_id} is used twice; give each question its own")
        seen.add(question_id)
        evidence += [(question_id, record["doc_name"], page, text, line.number) for page, text in pieces]
        own = {"question_id": question_id, "answer": str(record["answer"]) if has_answers else ""}
        own["company"] = str(record.get("company") or about.get("company"))
        own["gold_pages"] = sorted({page for page, _ in pieces})
        own["evidence"] = "\n\n".join(text for _, text in pieces if text)
        rows.append(record | about | own)
    questions = pd.DataFrame(rows, columns=list(QUESTION_COLUMNS))
    return questions, pd.DataFrame(evidence, columns=EVIDENCE_COLUMNS)


def _documents(lines: list[Line], present: dict[str, Path], problems: Problems) -> dict[str, dict]:
    """Filing name to its description; FinanceBench describes a filing that it does not use twice."""
    documents: dict[str, dict] = {}
    for line in lines:
        doc_name = line.record.get("doc_name")
        if not isinstance(doc_name, str) or not is_safe_name(doc_name):
            problems.add(line, f"doc_name {doc_name!r} is no file name; {NAME_RULE}")
            continue
        first = documents.setdefault(doc_name, line.record)
        is_same = all(first.get(field) == line.record.get(field) for field in DOCUMENT_FIELDS)
        if doc_name in present and not is_same:
            problems.add(line, f"{doc_name} is described twice, differently; remove one of the two lines")
    return documents


def _about(doc_name: str, documents: dict[str, dict]) -> dict:
    """What is known of a filing."""
    document = documents.get(doc_name, {})
    return {
        "doc_name": doc_name,
        "company": document.get("company") or doc_name.split("_")[0],
        "sector": document.get("gics_sector"),
        "doc_type": doc_type_label(str(document.get("doc_type", "other"))),
        "doc_period": document.get("doc_period"),
    }


def _is_complete(line: Line, fields: list[str], present: Container[str], problems: Problems) -> bool:
    """Whether a question has every field in its right kind; what is not right is noted, and so is a missing filing."""
    record, wrong = line.record, []
    if missing := [field for field in fields if record.get(field) in EMPTY]:
        wrong.append(f"the question has no {', '.join(missing)}; fill in what is missing")
    if no_text := [field for field in TEXT_FIELDS if not isinstance(record.get(field, ""), str | None)]:
        wrong.append(f"{', '.join(no_text)} is no text; put it in quotes")
    if re.search(r"\s", question_id := str(record.get("financebench_id"))):
        wrong.append(f"question id {question_id!r} has a space, which a run file cannot hold; use '_' or '-'")
    if record.get("evidence") and not _has_objects(record):
        wrong.append("evidence is no list of objects; give each evidence_text and evidence_page_num")
    for message in wrong:
        problems.add(line, message)
    doc_name = record.get("doc_name")
    if isinstance(doc_name, str) and not is_safe_name(doc_name):
        problems.add(line, f"doc_name {doc_name!r} is no file name; {NAME_RULE}")
    elif isinstance(doc_name, str) and doc_name not in present:
        problems.add(line, f"neither pdfs/{doc_name}.pdf nor pages/{doc_name}.jsonl exists; add one of them")
    return not wrong


def _has_objects(record: dict) -> bool:
    evidence = record.get("evidence")
    return isinstance(evidence, list) and all(isinstance(piece, dict) for piece in evidence)


def _text_of(piece: dict) -> str:
    text = piece.get("evidence_text")
    return text if isinstance(text, str) and text.strip() else ""


def _evidence(line: Line, has_texts: bool, problems: Problems) -> list[tuple[int, str]]:
    """Page and text of each sound piece of a question's evidence; what is wrong with the others is noted."""
    found, gold = [], line.record["doc_name"]
    for number, piece in enumerate(line.record["evidence"], 1):
        page, text, where = piece.get("evidence_page_num"), _text_of(piece), piece.get("doc_name", gold)
        if where != gold:
            problems.add(line, f"evidence {number} is in {where}, not in the gold filing {gold}")
        elif not isinstance(page, int) or isinstance(page, bool) or page < 0:
            problems.add(line, f"evidence {number} has page {page!r}; give the PDF's page index, from 0")
        elif has_texts and not text:
            problems.add(line, f"evidence {number} has no text; quote the page")
        else:
            found.append((page, text))
    return found
