"""Reading a dataset's records: questions, filings and evidence, each checked, every problem reported at once."""

import os
from collections.abc import Container
from dataclasses import replace
from pathlib import Path

import pandas as pd

from lib.data.layout import DOCUMENTS, Dataset, Line, Problems, read_json_lines
from lib.data.pages import check_files
from lib.data.records import NAME_RULE, Document, Question, checked, is_blank, is_safe_name
from lib.words import FILING_COLUMNS, QUESTION_COLUMNS, DatasetError, doc_type_label

QUESTION_FILES = ("*open_source*.jsonl", "*questions*.jsonl")
DOCUMENT_FIELDS = ("company", "doc_type", "doc_period")
EVIDENCE_COLUMNS = ["question_id", "doc_name", "page", "text", "line"]


def read_dataset(root: Path, name: str) -> Dataset:
    """The checked records of a directory in the layout of :mod:`lib.data.layout`.

    Raises:
        DatasetError: every problem at once, each with file, line and what would mend it. When a record is wrong, the
            files and the gold pages are checked too, so that one message lists all; else they are checked before the
            pages are extracted.
    """
    root = Path(root)
    problems = Problems(root)
    question_file = problems.one_file(root / "data", *QUESTION_FILES)
    document_file = problems.one_file(root / "data", DOCUMENTS)
    problems.stop()
    lines, document_lines = (read_json_lines(file, problems) for file in (question_file, document_file))
    if not lines and not problems.messages:
        problems.add(question_file, "no question; give at least one")
    present = _present(root, problems)
    documents = _documents(document_lines, present, problems)
    for doc_name in sorted(present):
        if not is_safe_name(doc_name):
            problems.add(present[doc_name], f"rename the file; {NAME_RULE}")
        elif doc_name not in documents:
            wanted = "add one with doc_name, company, doc_type and doc_period"
            problems.add(present[doc_name], f"no line of {document_file.name} describes the filing; {wanted}")
    # every filing that is here, whether or not a question needs it
    abouts = {doc_name: _about(doc_name, documents.get(doc_name)) for doc_name in sorted(present)}
    filings = pd.DataFrame(abouts.values(), columns=list(FILING_COLUMNS[:-1]))
    questions, evidence = _questions(lines, abouts, problems)
    dataset = Dataset(name, root, questions, filings, evidence, question_file, name)
    if problems.messages:
        check_files(dataset, problems)
    problems.stop()
    return dataset


def _present(root: Path, problems: Problems) -> dict[str, Path]:
    """Filing name to its file, of all that can be read."""
    found: dict[str, Path] = {}
    for folder, pattern in (("pages", "*.jsonl"), ("pdfs", "*.pdf")):
        if (root / folder).is_dir() and not os.access(root / folder, os.R_OK | os.X_OK):
            problems.add(root / folder, "must not be read; give yourself the right, as with chmod u+rx")
        found |= {path.stem: path for path in (root / folder).glob(pattern) if problems.can_read(path)}
    return found


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
    if not lines:
        problems.stop()
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
    found = [(line, question) for line in lines if (question := _question(line, abouts, problems))]
    has_answers = any(not is_blank(line.record.get("answer")) for line in lines)
    has_texts = any(piece.evidence_text for _, question in found for piece in question.evidence)
    for line, question in found:
        question_id, doc_name, about = question.financebench_id, question.doc_name, abouts[question.doc_name]
        if question_id in seen:
            problems.add(line, f"question id {question_id} is used twice; give each question its own")
        seen.add(question_id)
        if has_answers and not question.answer:
            problems.add(line, "the question has no answer, and others have; give it, or take all away")
        for number, piece in enumerate(question.evidence, 1):
            if piece.doc_name not in ("", doc_name):
                problems.add(
                    line, f"evidence {number} is in {piece.doc_name}, not in the gold filing {doc_name}"
                )
            elif has_texts and not piece.evidence_text:
                problems.add(
                    line, f"evidence {number} has no text, and others have; quote the page, or take all away"
                )
            else:
                page, text = piece.evidence_page_num, piece.evidence_text
                evidence.append((question_id, doc_name, page, text, line.number))
        own = {
            "question_id": question_id,
            "question": question.question,
            "question_type": question.question_type,
            "answer": question.answer,
            "company": question.company or about["company"],
            "gold_pages": sorted({piece.evidence_page_num for piece in question.evidence}),
            "evidence": "\n\n".join(
                piece.evidence_text for piece in question.evidence if piece.evidence_text
            ),
        }
        rows.append(about | own)
    questions = pd.DataFrame(rows, columns=list(QUESTION_COLUMNS))
    return questions, pd.DataFrame(evidence, columns=EVIDENCE_COLUMNS)


def _question(line: Line, present: Container[str], problems: Problems) -> Question | None:
    """A question whose fields are right and whose filing is here; else what is wrong is noted."""
    question, wrong = checked(Question, line.record)
    doc_name = line.record.get("doc_name")
    if is_safe_name(doc_name) and doc_name not in present:
        wrong.append(f"neither pdfs/{doc_name}.pdf nor pages/{doc_name}.jsonl exists; add one of them")
    for message in wrong:
        problems.add(line, message)
    return None if wrong else question


def _documents(lines: list[Line], present: Container[str], problems: Problems) -> dict[str, Document | None]:
    """Filing name to its description, None for a wrong one; FinanceBench describes a filing it does not use twice."""
    documents: dict[str, tuple[Document | None, dict]] = {}
    for line in lines:
        document, wrong = checked(Document, line.record)
        for message in wrong:
            problems.add(line, message)
        if is_safe_name(doc_name := line.record.get("doc_name")):
            first = documents.setdefault(doc_name, (document, line.record))[1]
            is_same = all(first.get(field) == line.record.get(field) for field in DOCUMENT_FIELDS)
            if doc_name in present and not is_same:
                problems.add(line, f"{doc_name} is described twice, differently; remove one of the two lines")
    return {doc_name: document for doc_name, (document, _) in documents.items()}


def _about(doc_name: str, document: Document | None) -> dict:
    """What is known of a filing; what is made up for one without a description is reported as a problem."""
    known = document or Document.model_construct(company=doc_name)
    return {
        "doc_name": doc_name,
        "company": known.company,
        "sector": known.gics_sector or None,
        "doc_type": doc_type_label(known.doc_type),
        "doc_period": known.doc_period,
    }
