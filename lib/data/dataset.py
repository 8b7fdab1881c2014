"""Reading a dataset: questions, filings, evidence and pages, each checked, every problem reported at once.

Pages come from PDFs through PyMuPDF, or are given as text; they are numbered from 0, and blank pages are kept.
"""

import re
from collections.abc import Container
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pymupdf
from tqdm.auto import tqdm

from lib.data.layout import DOCUMENTS, Dataset, Line, Problems, is_safe_name, read_json_lines
from lib.files import digest_of_file
from lib.words import FILING_COLUMNS, PAGE_COLUMNS, QUESTION_COLUMNS, DatasetError, doc_type_label

QUESTION_FILES = ("*open_source*.jsonl", "*questions*.jsonl")
QUESTION_FIELDS = ("financebench_id", "question", "answer", "question_type", "doc_name", "evidence")
TEXT_FIELDS = ("financebench_id", "question", "question_type", "doc_name")
DOCUMENT_FIELDS = ("company", "doc_type", "doc_period")
EVIDENCE_COLUMNS = ["question_id", "doc_name", "page", "text", "line"]
EMPTY = (None, "", [])
NOT_WORDS = re.compile(r"[^a-z0-9]+")
N_PROCESSES = 2
MIN_OVERLAP = 0.5  # share of the evidence's words that stand on its page: it was copied from the PDF's text
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
    has_texts = any(_text_of(piece) for line in lines for piece in _pieces(line.record))
    fields = [field for field in QUESTION_FIELDS if field != "answer" or has_answers]
    for line in [line for line in lines if _is_complete(line, fields, abouts, problems)]:
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
    question_id = record.get("financebench_id")
    if isinstance(question_id, str) and re.search(r"\s", question_id):
        wrong.append(f"question id {question_id!r} has a space, which a run file cannot hold; use '_' or '-'")
    if not isinstance(evidence := record.get("evidence") or [], list) or evidence != _pieces(record):
        wrong.append("evidence is no list of objects; give each evidence_text and evidence_page_num")
    for message in wrong:
        problems.add(line, message)
    doc_name = record.get("doc_name")
    if isinstance(doc_name, str) and not is_safe_name(doc_name):
        problems.add(line, f"doc_name {doc_name!r} is no file name; {NAME_RULE}")
    elif isinstance(doc_name, str) and doc_name not in present:
        problems.add(line, f"neither pdfs/{doc_name}.pdf nor pages/{doc_name}.jsonl exists; add one of them")
    return not wrong


def _pieces(record: dict) -> list[dict]:
    """The pieces of a record's evidence, as far as they are objects."""
    evidence = record.get("evidence")
    return [piece for piece in evidence if isinstance(piece, dict)] if isinstance(evidence, list) else []


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


def extract_pages(dataset: Dataset, problems: Problems | None = None) -> pd.DataFrame:
    """The text of every page of every filing (PAGE_COLUMNS), blank pages too, checked against the gold pages.

    Raises:
        DatasetError: every unreadable filing, gold page past the end and evidence that is not on its page, at once, and
            the problems that were found before.
    """
    problems = problems or Problems(dataset.root)
    doc_names = dataset.filings["doc_name"].tolist()
    sources, first = [dataset.source(doc_name) for doc_name in doc_names], {}
    for source in filter(Path.is_file, sources):
        if (same := first.setdefault(digest_of_file(source), source)) is not source:
            twice = f"the same bytes as {same.name}; its pages would count twice; remove one of the two"
            problems.add(source, twice)
    with ProcessPoolExecutor(N_PROCESSES) as pool:
        read = pool.map(read_filing, sources)
        filings = list(tqdm(read, total=len(sources), desc="pages", unit="filing", mininterval=2))
    rows = []
    for doc_name, (texts, messages) in zip(doc_names, filings, strict=True):
        problems.messages += messages
        rows += [(doc_name, page, text) for page, text in enumerate(texts)]
    pages = pd.DataFrame(rows, columns=list(PAGE_COLUMNS))
    check_gold(dataset, pages, problems)
    return pages


def read_filing(source: Path) -> tuple[list[str], list[str]]:
    """The texts of one filing's pages, and what is wrong with its file."""
    problems = Problems(source.parent.parent)
    texts = _read_text(source, problems) if source.suffix == ".jsonl" else _read_pdf(source, problems)
    return texts, problems.messages


def _read_pdf(source: Path, problems: Problems) -> list[str]:
    pymupdf.TOOLS.mupdf_display_errors(False)
    texts, wrong = [], ""
    try:
        with pymupdf.open(source) as pdf:
            if pdf.needs_pass:
                wrong = "is encrypted; save it without a password"
            elif not pdf.is_pdf:
                wrong = "is something else under a PDF's name; download it again"
            else:
                texts = [page.get_text().replace("\x00", "") for page in pdf]
                if pdf.is_repaired and not any(texts):
                    wrong = "is damaged or truncated; download it again"
                elif not texts:
                    wrong = "has no pages; download it again"
    except (RuntimeError, ValueError):
        wrong = "cannot be read (it is empty, truncated, damaged or no PDF); download it again"
    tail = source.read_bytes()[-4096:]
    if not wrong and not tail.rstrip(b"\x00\r\n ").endswith(b"%%EOF") and b"startxref" not in tail:
        wrong = "is truncated (no end-of-file mark); download it again"
    if wrong:
        problems.add(source, f"the PDF {wrong}")
    return [] if wrong else texts


def _read_text(source: Path, problems: Problems) -> list[str]:
    texts, expected = [], 0
    for line in read_json_lines(source, problems):
        page, text = line.record.get("page"), line.record.get("text")
        if line.record.get("doc_name") != source.stem:
            problems.add(line, f"doc_name is not {source.stem}; mend the name")
        if page != expected:
            problems.add(line, f"page {page!r} where {expected} comes next; count from 0, leave none out")
        if not isinstance(text, str):
            problems.add(line, "the page has no text; a blank page has the empty text")
        texts.append(text if isinstance(text, str) else "")
        expected = (page if isinstance(page, int) else expected) + 1
    return texts


def check_gold(dataset: Dataset, pages: pd.DataFrame, problems: Problems | None = None) -> int:
    """Check a question set against the pages (PAGE_COLUMNS); returns how many pieces of evidence were checked.

    Raises:
        DatasetError: every gold page past a filing's end and evidence that is not on its page, at once, and the
            problems that were found before.
    """
    problems = problems or Problems(dataset.question_file.parent.parent)
    n_pages = pages.groupby("doc_name").size()
    text_of = pages.set_index(["doc_name", "page"])["text"]
    for piece in dataset.evidence[dataset.evidence["doc_name"].isin(n_pages.index)].itertuples():
        where, doc_name, page = Line(dataset.question_file, piece.line), piece.doc_name, piece.page
        if page >= (count := n_pages[doc_name]):
            problems.add(where, f"gold page {page} is past the end of {doc_name} ({count} pages, 0-based)")
            continue
        texts = (piece.text, text_of[doc_name, page])
        words, on_page = (set(NOT_WORDS.sub(" ", text.lower()).split()) for text in texts)
        if words and (share := len(words & on_page) / len(words)) < MIN_OVERLAP:
            wrong = f"only {share:.0%} of the evidence's words stand on page {page} of {doc_name}"
            problems.add(where, f"{wrong}; correct evidence_page_num (the PDF's index, from 0) or the text")
    problems.stop()
    return len(dataset.evidence)
