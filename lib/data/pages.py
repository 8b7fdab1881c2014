"""The text of a dataset's pages, and whether the gold pages of its questions fit them.

Pages come from PDFs through PyMuPDF, or are given as text; they are numbered from 0, and blank pages are kept.
"""

import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd
import pymupdf
from tqdm.auto import tqdm

from lib.data.layout import Dataset, Line, Problems, read_json_lines
from lib.files import digest_of_file
from lib.words import PAGE_COLUMNS

NOT_WORDS = re.compile(r"[^a-z0-9]+")
N_PROCESSES = 2
MIN_OVERLAP = 0.5  # share of the evidence's words that stand on its page: it was copied from the PDF's text


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
                if not texts or (pdf.is_repaired and not any(texts)):
                    wrong = "is damaged or truncated, or has no pages; download it again"
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
