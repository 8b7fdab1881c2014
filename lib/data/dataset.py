"""Reading a dataset's records: questions, filings and evidence, each checked, every problem reported at once."""

import os
from dataclasses import replace
from pathlib import Path

import pandas as pd

from lib.data.layout import DOCUMENTS, Dataset, Line, Problems
from lib.data.pages import check_files
from lib.data.records import NAME_RULE, Document, Question, is_safe_name, read_records
from lib.words import FILING_COLUMNS, QUESTION_COLUMNS, DatasetError, doc_type_label

QUESTION_FILES = ("*open_source*.jsonl", "*questions*.jsonl")
EVIDENCE_COLUMNS = ["question_id", "doc_name", "page", "text", "line"]
Lines = list[tuple[Line, Question | Document | None]]  # None where what is wrong was noted


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
    described = read_records(document_file, Document, problems)
    asked = read_records(question_file, Question, problems)
    if not asked and not problems.messages:
        problems.add(question_file, "no question; give at least one")
    abouts = _abouts(described, _present(root, problems), document_file.name, problems)
    filings = pd.DataFrame(abouts.values(), columns=list(FILING_COLUMNS[:-1]))
    questions, evidence = _questions(asked, abouts, problems)
    dataset = Dataset(name, root, questions, filings, evidence, question_file, name)
    if problems.messages:
        check_files(dataset, problems)
    problems.stop()
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
    asked = read_records(question_file, Question, problems, without=("company",))
    if not asked:
        problems.stop()
    abouts = {about["doc_name"]: about for about in collection.filings.to_dict("records")}
    if not any(line.doc_name in abouts for line, _ in asked):
        wrong = f"no question asks about a filing of {collection.name}; name the collection, as DATASET=..."
        raise DatasetError(f"{question_file}: {wrong}")
    questions, evidence = _questions(asked, abouts, problems)
    problems.stop()
    given = {"questions": questions, "evidence": evidence, "question_file": question_file}
    return replace(collection, name=name, **given)


def _present(root: Path, problems: Problems) -> dict[str, Path]:
    """Filing name to its file, of all that can be read, by name."""
    found: dict[str, Path] = {}
    for folder, pattern in (("pages", "*.jsonl"), ("pdfs", "*.pdf")):
        if (root / folder).is_dir() and not os.access(root / folder, os.R_OK | os.X_OK):
            problems.add(root / folder, "must not be read; give yourself the right, as with chmod u+rx")
        found |= {path.stem: path for path in (root / folder).glob(pattern) if problems.can_read(path)}
    return dict(sorted(found.items()))


def _abouts(described: Lines, present: dict[str, Path], file: str, problems: Problems) -> dict[str, dict]:
    """What is known of every filing that is here, whether or not a question needs it; what is wrong is noted.

    FinanceBench describes a filing that it does not use twice.
    """
    known: dict[str, Document] = {}
    for line, document in described:
        first = known.setdefault(line.doc_name, document) or document
        if line.doc_name in present and document and document.identity != first.identity:
            problems.add(line, f"{line.doc_name} is described twice, differently; remove one of the two lines")
    abouts = {}
    for doc_name, path in present.items():
        if not is_safe_name(doc_name):
            problems.add(path, f"rename the file; {NAME_RULE}")
        elif doc_name not in known:
            wanted = "add one with doc_name, company, doc_type and doc_period"
            problems.add(path, f"no line of {file} describes the filing; {wanted}")
        document = known.get(doc_name) or Document.model_construct(company=doc_name)
        abouts[doc_name] = {
            "doc_name": doc_name,
            "company": document.company,
            "sector": document.gics_sector or None,
            "doc_type": doc_type_label(document.doc_type),
            "doc_period": document.doc_period,
        }
    return abouts


def _questions(asked: Lines, abouts: dict[str, dict], problems: Problems) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The questions and their evidence, of records and what is known of each filing; what is wrong is noted.

    A set may lack answers, or the texts of its evidence: then no record has them.
    """
    for line, _ in asked:
        if is_safe_name(doc_name := line.doc_name) and doc_name not in abouts:
            problems.add(line, f"neither pdfs/{doc_name}.pdf nor pages/{doc_name}.jsonl exists; add one of them")
    found = [(line, question) for line, question in asked if question and question.doc_name in abouts]
    has_answers = any(question.answer for _, question in found)
    has_texts = any(piece.evidence_text for _, question in found for piece in question.evidence)
    rows, evidence = {}, []
    for line, question in found:
        question_id, doc_name = question.financebench_id, question.doc_name
        if question_id in rows:
            problems.add(line, f"question id {question_id} is used twice; give each question its own")
        if has_answers and not question.answer:
            problems.add(line, "the question has no answer, and others have; give it, or take all away")
        for number, piece in enumerate(question.evidence, 1):
            if piece.doc_name not in ("", doc_name):
                wrong = f"is in {piece.doc_name}, not in the gold filing {doc_name}"
                problems.add(line, f"evidence {number} {wrong}")
            elif has_texts and not piece.evidence_text:
                wrong = "has no text, and others have; quote the page, or take all away"
                problems.add(line, f"evidence {number} {wrong}")
            else:
                page, text = piece.evidence_page_num, piece.evidence_text
                evidence.append((question_id, doc_name, page, text, line.number))
        rows[question_id] = abouts[doc_name] | {
            "question_id": question_id,
            "question": question.question,
            "question_type": question.question_type,
            "answer": question.answer,
            "company": question.company or abouts[doc_name]["company"],
            "gold_pages": sorted({piece.evidence_page_num for piece in question.evidence}),
            "evidence": "\n\n".join(filter(None, (piece.evidence_text for piece in question.evidence))),
        }
    questions = pd.DataFrame(rows.values(), columns=list(QUESTION_COLUMNS))
    return questions, pd.DataFrame(evidence, columns=EVIDENCE_COLUMNS)
