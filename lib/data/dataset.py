"""Reading a dataset's records: questions, filings and evidence, each checked, every problem reported at once."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from lib.data.companies import one_spelling
from lib.data.layout import DOCUMENTS, QUESTION_FILES, Dataset, in_sub_folders
from lib.data.pages import extract_pages
from lib.data.records import NAME_RULE, Document, Problems, Question, Records, is_safe_name, read_records
from lib.schema import FILING_COLUMNS, QUESTION_COLUMNS, DatasetError

EVIDENCE_COLUMNS = ["question_id", "doc_name", "page", "text", "line"]


def read_dataset(root: Path, name: str) -> Dataset:
    """The checked records of a directory in the layout of :mod:`lib.data.layout`.

    A DatasetError has every problem at once, each with file, line and mend; when a record is wrong, of the pages too.
    """
    problems = Problems(root)
    question_file, document_file = problems.one_file(*QUESTION_FILES), problems.one_file(DOCUMENTS)
    problems.stop()
    abouts = _abouts(document_file, problems)
    asked = read_records(question_file, Question, problems)
    if not asked and not problems.messages:
        problems.add(question_file, "no question; give at least one")
    questions, evidence = _questions(question_file, asked, abouts, problems)
    filings = pd.DataFrame(abouts.values(), columns=list(FILING_COLUMNS[:-1]))
    spelling = one_spelling([*filings["company"], *questions["company"]])
    for frame in (filings, questions):
        frame["company"] = [spelling[name] for name in frame["company"]]
    dataset = Dataset(name, problems.root, questions, filings, evidence, question_file, name)
    if problems.messages:
        extract_pages(dataset, problems)
    return dataset


def read_questions(root: Path, name: str, collection: Dataset) -> Dataset:
    """The question set in a folder over a collection's filings, with what the collection knows of each filing.

    A DatasetError has every problem of the records at once, or no question asks about a filing of the collection.
    """
    problems = Problems(root)
    question_file = problems.one_file(*QUESTION_FILES)
    problems.stop()
    asked = read_records(question_file, Question, problems)
    if not asked:
        problems.stop()
    abouts = collection.filings.set_index("doc_name", drop=False).to_dict("index")
    if not any(doc_name in abouts for _, doc_name, _ in asked):
        wrong = f"{question_file}: no question asks about a filing of {collection.name}"
        raise DatasetError(f"{wrong}; name the collection, as DATASET=...")
    questions, evidence = _questions(question_file, asked, abouts, problems)
    problems.stop()
    questions["company"] = [abouts[doc_name]["company"] for doc_name in questions["doc_name"]]
    return replace(collection, name=name, questions=questions, evidence=evidence, question_file=question_file)


def _abouts(document_file: Path, problems: Problems) -> dict[str, dict]:
    """What is known of every filing that is here, by name; what is wrong is noted."""
    paths: dict[str, Path] = {}
    for folder, suffix in ((problems.root / "pages", ".jsonl"), (problems.root / "pdfs", ".pdf")):
        if folder.is_dir() and problems.can_read(folder, is_folder=True):
            files = [path for path in sorted(folder.iterdir()) if path.suffix.lower() == suffix]
            found: dict[str, Path] = {}
            for path in (path for path in files if path.name[0] != "." and problems.can_read(path)):
                if (other := found.setdefault(path.stem, path)) != path:
                    twice = f"has the name of {folder.name}/{other.name}; rename or remove one of the two"
                    problems.add(path, twice)
            paths |= found
    known: dict[str, Document | None] = {}
    for line, doc_name, document in read_records(document_file, Document, problems):
        first = known.setdefault(doc_name, document)
        # FinanceBench describes a filing that it does not use twice
        if doc_name in paths and document and first and document != first:
            wrong = f"{doc_name} is described twice, differently; remove one of the two lines"
            problems.add(document_file, wrong, line)
    abouts = {}
    for doc_name, path in sorted(paths.items()):
        if not is_safe_name(doc_name):
            problems.add(path, f"rename the file; {NAME_RULE}")
        elif doc_name not in known:
            wanted = "add one with doc_name, company, doc_type and doc_period"
            problems.add(path, f"no line of {document_file.name} describes the filing; {wanted}")
        document = known.get(doc_name) or Document.model_construct(company=doc_name)
        about = {"doc_name": doc_name, "company": document.company, "sector": document.gics_sector or None}
        abouts[doc_name] = about | {"doc_type": document.doc_type, "doc_period": document.doc_period}
    return abouts


def _questions(
    file: Path, asked: Records, abouts: dict[str, dict], problems: Problems
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The questions of a file, with what is known of each filing, and their evidence; what is wrong is noted."""
    sound = [question for *_, question in asked if question]
    has_answers = any(question.answer for question in sound)
    has_texts = any(piece.evidence_text for question in sound for piece in question.evidence)
    rows, evidence = {}, []
    nested = {path.stem: path for path in in_sub_folders(problems.root / "pdfs") if path.suffix.lower() == ".pdf"}
    for line, doc_name, question in asked:
        note = partial(problems.add, file, line=line)
        if doc_name not in abouts and doc_name in nested:
            problems.add(nested[doc_name], "is in a sub-folder, where no filing is read; move it into pdfs/")
        elif doc_name not in abouts and is_safe_name(doc_name):
            note(f"neither pdfs/{doc_name}.pdf nor pages/{doc_name}.jsonl exists; add one of them")
        elif question:
            question_id, pieces = question.financebench_id, question.evidence
            if question_id in rows:
                note(f"question id {question_id} is used twice; give each question its own")
            if has_answers and not question.answer:
                note("the question has no answer, and others have; give it, or take all away")
            for number, piece in enumerate(pieces, 1):
                if piece.doc_name not in ("", doc_name):
                    elsewhere = f"evidence {number} is in {piece.doc_name}, not in the gold filing {doc_name}"
                    note(f"{elsewhere}; leave out what is in others")
                elif has_texts and not piece.evidence_text:
                    note(f"evidence {number} has no text, and others have; quote the page, or take all away")
                else:
                    evidence.append((question_id, doc_name, piece.evidence_page_num, piece.evidence_text, line))
            rows[question_id] = abouts[doc_name] | {
                "question_id": question_id,
                "question": question.question,
                "question_type": question.question_type,
                "answer": question.answer,
                "company": question.company or abouts[doc_name]["company"],
                "gold_pages": sorted({piece.evidence_page_num for piece in pieces}),
                "evidence": "\n\n".join(piece.evidence_text for piece in pieces if piece.evidence_text),
            }
    questions = pd.DataFrame(rows.values(), columns=list(QUESTION_COLUMNS))
    return questions, pd.DataFrame(evidence, columns=EVIDENCE_COLUMNS)
