"""The text of a dataset's pages, and whether the gold pages of its questions fit them.

Pages come from PDFs through PyMuPDF, or are given as text; they are numbered from 0, and blank pages are kept.
"""

from collections.abc import Container, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd
from tqdm.auto import tqdm

from lib.data.layout import Dataset, Line, Problems
from lib.data.records import Page, read_records
from lib.files import digest_of_file, end_with_parent
from lib.tokens import words_in_any_script
from lib.words import PAGE_COLUMNS

N_PROCESSES = 2
MIN_OVERLAP = 0.5  # share of the evidence's words that stand on its page: it was copied from the PDF's text


def extract_pages(dataset: Dataset) -> pd.DataFrame:
    """The text of every page of every filing (PAGE_COLUMNS), blank pages too, checked against the gold pages.

    Raises:
        DatasetError: every unreadable filing, gold page past the end and evidence that is not on its page, at once and
            before the pages are extracted; or filings of which no page has text.
    """
    problems = Problems(dataset.root)
    check_files(dataset, problems)
    problems.stop()
    doc_names = dataset.filings["doc_name"].tolist()
    sources, rows = [dataset.source(doc_name) for doc_name in doc_names], []
    with ProcessPoolExecutor(N_PROCESSES, initializer=end_with_parent) as pool:
        read = pool.map(read_filing, sources)
        filings = list(tqdm(read, total=len(sources), desc="pages", unit="filing", mininterval=2))
    for doc_name, source, (texts, messages) in zip(doc_names, sources, filings, strict=True):
        problems.messages += messages
        rows += [(doc_name, page, text) for page, text in enumerate(texts)]
        if not messages and not any(map(str.strip, texts)):
            problems.add(source, "no page has text, as in a scan; recognise it (OCR), or remove the filing")
    problems.stop()
    return pd.DataFrame(rows, columns=list(PAGE_COLUMNS))


def check_files(dataset: Dataset, problems: Problems) -> None:
    """Check each filing's file, and the gold pages and evidence against it; of PDFs these pages' text alone is read."""
    pages_of = dataset.evidence.groupby("doc_name")["page"].agg(set)
    counts, gold, first = {}, {}, {}
    for doc_name in dataset.filings["doc_name"]:
        source = dataset.source(doc_name)
        if (same := first.setdefault(digest_of_file(source), source)) is not source:
            twice = f"the same bytes as {same.name}; its pages would count twice; remove one of the two"
            problems.add(source, twice)
        texts, messages = read_filing(source, pages_of.get(doc_name, ()))
        problems.messages += messages
        if not messages:
            counts[doc_name] = len(texts)
            gold |= {(doc_name, page): text for page, text in enumerate(texts) if text is not None}
    _check_evidence(dataset, counts, gold, problems)


def read_filing(source: Path, pages: Container[int] | None = None) -> tuple[list[str | None], list[str]]:
    """The texts of one filing's pages, and what is wrong with its file; with ``pages``, None for others of a PDF."""
    problems = Problems(source.parent.parent)
    is_text = source.suffix == ".jsonl"
    texts = _read_text(source, problems) if is_text else _read_pdf(source, problems, pages)
    return texts, problems.messages


def _read_pdf(source: Path, problems: Problems, pages: Container[int] | None) -> list[str | None]:
    def text_of(number: int) -> str | None:
        is_wanted = pages is None or number in pages
        return pdf[number].get_text().replace("\x00", "") if is_wanted else None

    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    texts, wrong = [], ""
    try:
        with pymupdf.open(source) as pdf:
            if pdf.needs_pass:
                wrong = "is encrypted; save it without a password"
            elif not pdf.is_pdf:
                wrong = "is something else under a PDF's name; download it again"
            else:
                texts = [text_of(number) for number in range(pdf.page_count)]
                if not texts or (pdf.is_repaired and not any(text != "" for text in texts)):
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
    for line, page in read_records(source, Page, problems):
        if page and page.doc_name != source.stem:
            problems.add(line, f"doc_name is not {source.stem}; mend the name")
        if page and page.page != expected:
            wrong = f"page {page.page} where {expected} comes next; count from 0, leave none out"
            problems.add(line, wrong)
        texts.append(page.text if page else "")
        expected = (page.page if page else expected) + 1
    if not texts and not problems.messages:
        problems.add(source, "no page; give one page a line, or remove the file")
    return texts


def check_gold(dataset: Dataset, pages: pd.DataFrame) -> int:
    """Check a question set against the pages (PAGE_COLUMNS); returns how many pieces of evidence were checked.

    Raises:
        DatasetError: every gold page past a filing's end or without text, and evidence that is not on its page, at
            once.
    """
    problems = Problems(dataset.question_file.parent.parent)
    counts, texts = pages.groupby("doc_name").size(), pages.set_index(["doc_name", "page"])["text"]
    _check_evidence(dataset, counts, texts, problems)
    problems.stop()
    return len(dataset.evidence)


def _check_evidence(dataset: Dataset, counts: Mapping, texts: Mapping, problems: Problems) -> None:
    """Note what is wrong with gold pages and evidence, given pages by filing and text by filing and page."""
    for piece in dataset.evidence[dataset.evidence["doc_name"].isin(counts.keys())].itertuples():
        where, doc_name, page = Line(dataset.question_file, piece.line), piece.doc_name, piece.page
        if page >= (count := counts[doc_name]):
            problems.add(where, f"gold page {page} is past the end of {doc_name} ({count} pages, 0-based)")
        elif not (text := texts[doc_name, page]).strip():
            mend = "recognise it (OCR), or correct evidence_page_num (the PDF's index, from 0)"
            problems.add(where, f"gold page {page} of {doc_name} has no text; {mend}")
        elif (share := _share(piece.text, text)) < MIN_OVERLAP:
            wrong = f"only {share:.0%} of the evidence's words stand on page {page} of {doc_name}"
            problems.add(where, f"{wrong}; correct evidence_page_num (the PDF's index, from 0) or the text")


def _share(evidence: str, text: str) -> float:
    """The share of the evidence's words that stand in a text; 1 where it has no words."""
    words, found = map(words_in_any_script, (evidence, text))
    return len(words & found) / len(words) if words else 1.0
