"""Reading a dataset: questions, filings and evidence, validated together, every problem reported at once."""

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import yaml

from lib.data.layout import (
    DOCUMENT_ENDINGS,
    DOCUMENTS,
    QUESTION_FILES,
    SETTINGS,
    SEVERAL,
    UNANSWERABLE,
    Dataset,
    pdfs_in,
)
from lib.data.located import locate
from lib.data.pages import extract_pages
from lib.data.records import NAME_RULE, Document, Link, Piece, Problems, Question, Records, is_safe_name, read_records
from lib.files import report
from lib.filings.names import one_spelling
from lib.schema import FILING_COLUMNS, QUESTION_COLUMNS, DatasetError

EVIDENCE_COLUMNS = ["question_id", "doc_name", "page", "text", "line"]
MOST_NAMED = 5  # questions in a message


class Read(NamedTuple):
    """The questions of a file and their evidence, and the same of those that are measured apart."""

    questions: pd.DataFrame
    evidence: pd.DataFrame
    apart: pd.DataFrame  # with ``kind``
    apart_evidence: pd.DataFrame
    located: frozenset[tuple[str, str, int]]


def read_dataset(root: Path, name: str, artifacts: Path | None = None) -> Dataset:
    """The dataset in a directory in the layout of :mod:`lib.data.layout`.

    Where quotations have no page, it is looked for, and a file among the ``artifacts`` says which was found. A
    DatasetError lists every problem, each with file and line; where a record is invalid, those of the pages too.
    """
    problems = Problems(root)
    question_file, document_file = problems.one_file(*QUESTION_FILES), problems.one_file(DOCUMENTS)
    problems.stop()
    described = _described_filings(document_file, problems)
    records = read_records(question_file, Question, problems)
    filings = pd.DataFrame(described.values(), columns=list(FILING_COLUMNS[:-1]))
    dataset = _empty(name, problems.root, filings, question_file, name, problems)
    found = _read_questions(records, dataset, described, problems, artifacts)
    spelling = one_spelling([*filings["company"], *found.questions["company"]])
    for frame in (filings, found.questions):
        frame["company"] = frame["company"].map(spelling)
    dataset = _with_questions(replace(dataset, filings=filings), found)
    if problems.messages:
        extract_pages(dataset, problems)
    return dataset


def read_questions(root: Path, name: str, collection: Dataset, artifacts: Path | None = None) -> Dataset:
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
    named = {name for *_, question in records if question for name in _names_of(question)}
    if named and described.keys().isdisjoint({*named, *(doc_name for _, doc_name, _ in records)}):
        wrong = f"{question_file}: no question asks about a filing of {collection.name}"
        raise DatasetError(f"{wrong}; name the collection, as DATASET=...")
    dataset = _empty(name, collection.root, collection.filings, question_file, collection.collection, problems)
    found = _read_questions(records, dataset, described, problems, artifacts)
    problems.stop()
    found.questions["company"] = [described[doc_name]["company"] for doc_name in found.questions["doc_name"]]
    return _with_questions(dataset, found)


def links_of(dataset: Dataset) -> dict[str, str]:
    """The public address of each filing whose record has one (``doc_link``), by name; none of a dataset that is not
    here."""
    problems = Problems(dataset.root)
    file = problems.one_file(DOCUMENTS)
    records = read_records(file, Link, problems) if file else []
    return {name: record.doc_link for _, name, record in records if record and record.doc_link}


def _empty(
    name: str, root: Path, filings: pd.DataFrame, question_file: Path, collection: str, problems: Problems
) -> Dataset:
    """A dataset of filings, before its questions are read."""
    questions = pd.DataFrame(columns=list(QUESTION_COLUMNS))
    evidence = pd.DataFrame(columns=EVIDENCE_COLUMNS)
    pages_from = _pages_from(question_file.with_name(SETTINGS), problems)
    return Dataset(name, root, questions, filings, evidence, question_file, collection, pages_from=pages_from)


def _with_questions(dataset: Dataset, found: Read) -> Dataset:
    apart = None
    if len(found.apart):
        given = {"questions": found.apart, "evidence": found.apart_evidence, "part": "apart", "located": found.located}
        apart = replace(dataset, name=f"{dataset.name}-apart", **given)
        kinds = found.apart.groupby("kind", sort=False)["question_id"].agg(list)
        for kind, ids in kinds.items():
            more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
            report(f"Measured apart, {kind}: {', '.join(ids[:MOST_NAMED])}{more}")
    given = {"questions": found.questions, "evidence": found.evidence, "located": found.located}
    return replace(dataset, **given, apart=apart)


def _pages_from(file: Path, problems: Problems) -> int:
    """The number that the questions give a PDF's first page, 0 unless ``data/settings.yaml`` says another."""
    if not file.is_file() or not problems.can_read(file):
        return 0
    try:
        settings = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, ValueError):
        settings = None
    first = settings.get("pages_from", 0) if isinstance(settings, dict) else None
    if type(first) is not int or set(settings) - {"pages_from"}:
        problems.add(file, "not understood; write one line, such as 'pages_from: 1'")
        return 0
    return first


def _names_of(question: Question) -> list[str]:
    """The filings that a question or its evidence names, each once."""
    names = [question.doc_name, *(piece.doc_name for piece in question.evidence)]
    return list(dict.fromkeys(filter(None, names)))


def _read_questions(
    records: Records, dataset: Dataset, described: dict[str, dict], problems: Problems, artifacts: Path | None
) -> Read:
    """The questions of a file's records; pages that are not given are found where no record is wrong."""
    if not records and not problems.messages:
        problems.add(dataset.question_file, "no question; give at least one")
    if not problems.messages:
        folder = artifacts / dataset.name if artifacts else None
        records = locate(records, dataset, partial(_texts, dataset), problems, folder)
    found = _questions(records, dataset, described, problems)
    if len(found.apart) and not len(found.questions) and not problems.messages:
        fix = "give the evidence of a question, a page or a quotation, in one filing"
        problems.add(dataset.question_file, f"no question has evidence in one filing; {fix}")
    return found


def _texts(dataset: Dataset, names: set[str]) -> dict[str, list[str]]:
    """The texts of the pages of some filings."""
    filings = dataset.filings[dataset.filings["doc_name"].isin(names)]
    pages = extract_pages(replace(dataset, filings=filings))
    return pages.groupby("doc_name")["text"].agg(list).to_dict()


def _sources(problems: Problems) -> dict[str, Path]:
    """The file of every filing by name; one that cannot be read, or that another has the name of, is a problem."""
    texts, sources = problems.root / "pages", {}
    of_pages = sorted(texts.iterdir()) if texts.is_dir() and problems.can_read(texts, is_folder=True) else []
    of_pages = [path for path in of_pages if path.suffix.lower() == ".jsonl" and path.name[0] != "."]
    pdfs = problems.root / "pdfs"
    is_closed = pdfs.is_dir() and not problems.can_read(pdfs, is_folder=True)
    for paths in ([] if is_closed else pdfs_in(problems.root), of_pages):
        of_kind: dict[str, Path] = {}
        for path in filter(problems.can_read, paths):
            if (first := of_kind.setdefault(path.stem, path)) != path:
                other = first.relative_to(problems.root).as_posix()
                problems.add(path, f"same name as {other}; rename or remove one of the two")
        sources |= of_kind
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


def _questions(records: Records, dataset: Dataset, described: dict[str, dict], problems: Problems) -> Read:
    """The valid questions of a file, with the description of their filings, and their evidence."""
    valid = [question for *_, question in records if question]
    has_answers = any(question.answer for question in valid if question.evidence)
    has_texts = any(piece.evidence_text for question in valid for piece in question.evidence)
    located = {
        (question.financebench_id, piece.doc_name or question.doc_name, piece.evidence_page_num)
        for question in valid
        for piece in question.evidence
        if piece.is_index
    }
    ids, rows, evidence = set(), {"": [], SEVERAL: [], UNANSWERABLE: []}, {"": [], SEVERAL: [], UNANSWERABLE: []}
    for line, doc_name, question in records:
        add = partial(problems.add, dataset.question_file, line=line)
        missing = [name for name in (_names_of(question) if question else [doc_name]) if name not in described]
        for name in filter(is_safe_name, missing):
            _add_missing(name, described, problems, add)
        if not question or missing:
            continue
        question_id = question.financebench_id
        if question_id in ids:
            add(f"question id {question_id} is repeated; give each question its own")
        ids.add(question_id)
        if has_answers and question.evidence and not question.answer:
            add("the question has no answer, and others have; add it, or remove all answers")
        if not question.doc_name and question.evidence:
            if any(piece.evidence_page_num is not None for piece in question.evidence):
                add("doc_name is missing; name the filing")  # else it was looked for
            continue
        pieces, kind = _pieces(question, dataset, has_texts, problems, line)
        evidence[kind] += [(question_id, *piece) for piece in pieces]
        filing = described.get(question.doc_name, {"doc_name": question.doc_name, "company": "", "sector": None})
        rows[kind].append(
            filing
            | {
                "question_id": question_id,
                "question": question.question,
                "question_type": question.question_type,
                "answer": question.answer,
                "company": question.company or filing["company"],
                "gold_pages": sorted({page for name, page, *_ in pieces if name == question.doc_name}),
                "evidence": "\n\n".join(text for _, _, text, _ in pieces if text),
                "also": sorted({page - dataset.pages_from for page in question.also}),
                "other_filings": sorted(set(question.other_filings)),
                "kind": kind,
            }
        )
    columns = list(QUESTION_COLUMNS)
    frames = [pd.DataFrame(rows[""], columns=columns), pd.DataFrame(evidence[""], columns=EVIDENCE_COLUMNS)]
    apart = pd.DataFrame(rows[SEVERAL] + rows[UNANSWERABLE], columns=[*columns, "kind"])
    return Read(*frames, apart, pd.DataFrame(evidence[SEVERAL], columns=EVIDENCE_COLUMNS), frozenset(located))


def _pieces(
    question: Question, dataset: Dataset, has_texts: bool, problems: Problems, line: int
) -> tuple[list[tuple[str, int, str, int]], str]:
    """Filing, page, text and line of each sound piece of a question's evidence, and how the question is measured."""
    add, doc_name, found = partial(problems.add, dataset.question_file, line=line), question.doc_name, []
    names = {piece.doc_name or doc_name for piece in question.evidence}
    kind = UNANSWERABLE if not question.evidence else SEVERAL if len(names) > 1 else ""
    for number, piece in enumerate(question.evidence):
        page = _page_of(piece, dataset.pages_from)
        what = f"evidence.{number}"
        if piece.is_flat:
            what = "the evidence" if page is None else f"page {page + dataset.pages_from}"
        if names and doc_name not in names:
            add(f"{what} is in {piece.doc_name}, not in the gold filing {doc_name}; remove it")
        elif page is None and not piece.evidence_text:
            add(f"{what} has neither a page nor a text; give one of the two")
        elif has_texts and not piece.evidence_text and not piece.is_index:  # else a text that names it stands beside it
            add(f"{what} has no text, and other evidence has one; quote the page, or remove all texts")
        elif page is not None and page < 0:
            wrong = f"page {page + dataset.pages_from} is before the first, as pages count from {dataset.pages_from}"
            add(f"{what}: {wrong} (data/{SETTINGS}); correct one of the two")
        elif page is not None:  # else it was looked for, and a problem says so
            found.append((piece.doc_name or doc_name, page, piece.evidence_text, piece.line or line))
    return found, kind


def _page_of(piece: Piece, first: int) -> int | None:
    """The page of a piece as the PDF's index, from 0."""
    page = piece.evidence_page_num
    return page if page is None or piece.is_index else page - first


def _add_missing(name: str, described: Mapping[str, dict], problems: Problems, add: partial) -> None:
    """Say that a filing is not here, and what may be meant."""
    files = [path for folder in (problems.root, problems.root / "pdfs") for path in sorted(folder.glob(f"{name}.*"))]
    for path in files:
        if path.suffix.lower() in DOCUMENT_ENDINGS and path.suffix.lower() != ".pdf":
            fix = f"print it to pdfs/{name}.pdf, or give its text in pages/{name}.jsonl"
            problems.add(path, f"{path.suffix.lower()} is not read, only PDF; {fix}")
            return
    folded = {known.casefold(): known for known in described}
    near = folded.get(name.casefold()) or next(iter(get_close_matches(name, described, 1, 0.8)), "")
    meant = f"; is {near} meant?" if near else "; add one of them"
    add(f"neither pdfs/{name}.pdf nor pages/{name}.jsonl exists{meant}")
