"""Reading a dataset: questions, filings and evidence, validated together, every problem reported at once."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from lib.data.layout import DOCUMENTS, QUESTION_FILES, Dataset, in_sub_folders
from lib.data.pages import extract_pages
from lib.data.records import NAME_RULE, Document, Problems, Question, Records, is_safe_name, read_records
from lib.filings.names import one_spelling
from lib.schema import FILING_COLUMNS, QUESTION_COLUMNS, DatasetError

EVIDENCE_COLUMNS = ["question_id", "doc_name", "page", "text", "line"]
SOURCES = (("pdfs", ".pdf"), ("pages", ".jsonl"))  # folder and ending of filings; the later is read where both are


def read_dataset(root: Path, name: str) -> Dataset:
    """The dataset in a directory in the layout of :mod:`lib.data.layout`.

    A DatasetError lists every problem, each with file and line; where a record is invalid, those of the pages too.
    """
    problems = Problems(root)
    question_file, document_file = problems.one_file(*QUESTION_FILES), problems.one_file(DOCUMENTS)
    problems.stop()
    described = _described_filings(document_file, problems)
    records = read_records(question_file, Question, problems)
    if not records and not problems.messages:
        problems.add(question_file, "no question; give at least one")
    questions, evidence = _questions(question_file, records, described, problems)
    filings = pd.DataFrame(described.values(), columns=list(FILING_COLUMNS[:-1]))
    spelling = one_spelling([*filings["company"], *questions["company"]])
    for frame in (filings, questions):
        frame["company"] = frame["company"].map(spelling)
    dataset = Dataset(name, problems.root, questions, filings, evidence, question_file, name)
    if problems.messages:
        extract_pages(dataset, problems)
    return dataset


def read_questions(root: Path, name: str, collection: Dataset) -> Dataset:
    """The question set in a folder over a collection's filings, with the collection's description of each filing.

    A DatasetError lists every problem of the records, or says that no question asks about a filing of the collection.
    """
    problems = Problems(root)
    question_file = problems.one_file(*QUESTION_FILES)
    problems.stop()
    records = read_records(question_file, Question, problems)
    if not records:
        problems.stop()
    described = collection.filings.set_index("doc_name", drop=False).to_dict("index")
    if described.keys().isdisjoint(doc_name for _, doc_name, _ in records):
        wrong = f"{question_file}: no question asks about a filing of {collection.name}"
        raise DatasetError(f"{wrong}; name the collection, as DATASET=...")
    questions, evidence = _questions(question_file, records, described, problems)
    problems.stop()
    questions["company"] = [described[doc_name]["company"] for doc_name in questions["doc_name"]]
    return replace(collection, name=name, questions=questions, evidence=evidence, question_file=question_file)


def _sources(problems: Problems) -> dict[str, Path]:
    """The file of every filing by name; one that cannot be read, or that another has the name of, is a problem."""
    sources: dict[str, Path] = {}
    for folder, suffix in SOURCES:
        if not (at := problems.root / folder).is_dir() or not problems.can_read(at, is_folder=True):
            continue
        in_folder: dict[str, Path] = {}
        for path in sorted(at.iterdir()):
            if path.suffix.lower() != suffix or path.name.startswith(".") or not problems.can_read(path):
                continue
            if (first := in_folder.setdefault(path.stem, path)) != path:
                problems.add(path, f"same name as {folder}/{first.name}; rename or remove one of the two")
        sources |= in_folder
    return dict(sorted(sources.items()))


def _described_filings(document_file: Path, problems: Problems) -> dict[str, dict]:
    """FILING_COLUMNS without ``n_pages`` of every filing that is here, by name."""
    sources, documents = _sources(problems), {}
    for line, doc_name, document in read_records(document_file, Document, problems):
        first = documents.setdefault(doc_name, document)
        # FinanceBench describes a filing that it does not use twice
        if doc_name in sources and document and first and document != first:
            problems.add(document_file, f"{doc_name} is described twice, differently; remove one of the lines", line)
    described = {}
    for doc_name, path in sources.items():
        if not is_safe_name(doc_name):
            problems.add(path, f"rename the file; {NAME_RULE}")
        elif doc_name not in documents:
            fields = "doc_name, company, doc_type and doc_period"
            problems.add(path, f"{document_file.name} has no line for the filing; add one with {fields}")
        document = documents.get(doc_name) or Document.model_construct(company=doc_name)
        described[doc_name] = {
            "doc_name": doc_name,
            "company": document.company,
            "sector": document.gics_sector or None,
            "doc_type": document.doc_type,
            "doc_period": document.doc_period,
        }
    return described


def _questions(
    file: Path, records: Records, described: dict[str, dict], problems: Problems
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The valid questions of a file, with the description of their filings, and their evidence."""
    valid = [question for *_, question in records if question]
    has_answers = any(question.answer for question in valid)
    has_texts = any(piece.evidence_text for question in valid for piece in question.evidence)
    nested = {path.stem: path for path in in_sub_folders(problems.root / "pdfs") if path.suffix.lower() == ".pdf"}
    rows, evidence = {}, []
    for line, doc_name, question in records:
        add = partial(problems.add, file, line=line)
        if doc_name not in described and doc_name in nested:
            problems.add(nested[doc_name], "in a sub-folder, where no filing is read; move it into pdfs/")
        elif doc_name not in described and is_safe_name(doc_name):
            add(f"neither pdfs/{doc_name}.pdf nor pages/{doc_name}.jsonl exists; add one of them")
        if not question or doc_name not in described:
            continue
        question_id, filing = question.financebench_id, described[doc_name]
        if question_id in rows:
            add(f"question id {question_id} is repeated; give each question its own")
        if has_answers and not question.answer:
            add("the question has no answer, and others have; add it, or remove all answers")
        for number, piece in enumerate(question.evidence):
            if piece.doc_name not in ("", doc_name):
                add(f"evidence.{number} is in {piece.doc_name}, not in the gold filing {doc_name}; remove it")
            elif has_texts and not piece.evidence_text:
                add(f"evidence.{number} has no text, and others have; quote the page, or remove all texts")
            else:
                evidence.append((question_id, doc_name, piece.evidence_page_num, piece.evidence_text, line))
        rows[question_id] = filing | {
            "question_id": question_id,
            "question": question.question,
            "question_type": question.question_type,
            "answer": question.answer,
            "company": question.company or filing["company"],
            "gold_pages": sorted({piece.evidence_page_num for piece in question.evidence}),
            "evidence": "\n\n".join(piece.evidence_text for piece in question.evidence if piece.evidence_text),
            "also": sorted(set(question.also)),
            "other_filings": sorted(set(question.other_filings)),
        }
    questions = pd.DataFrame(rows.values(), columns=list(QUESTION_COLUMNS))
    return questions, pd.DataFrame(evidence, columns=EVIDENCE_COLUMNS)
