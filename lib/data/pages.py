"""Page text: PDFs through PyMuPDF, or pages given as text; numbered from 0, blank pages kept."""

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


def extract_pages(dataset: Dataset, n_workers: int = 2, problems: Problems | None = None) -> pd.DataFrame:
    """The text of every page of every filing, checked against the questions' gold pages.

    Args:
        dataset: the records.
        n_workers: processes that read PDFs.
        problems: those found so far, which are reported with the new ones.

    Returns:
        PAGE_COLUMNS, ordered by filing and page; a blank page has empty text.

    Raises:
        DatasetError: every unreadable filing, gold page past the end and evidence that is not on its page, at once.
    """
    problems = Problems(dataset.root) if problems is None else problems
    doc_names = dataset.filings["doc_name"].tolist()
    sources = [dataset.source(doc_name) for doc_name in doc_names]
    _refuse_equal_files(sources, problems)
    with ProcessPoolExecutor(n_workers) as pool:
        read = pool.map(read_filing, sources)
        filings = list(tqdm(read, total=len(sources), desc="pages", unit="filing", mininterval=2))
    rows = []
    for doc_name, (texts, messages) in zip(doc_names, filings, strict=True):
        problems.messages += messages
        rows += [(doc_name, page, text) for page, text in enumerate(texts)]
    pages = pd.DataFrame(rows, columns=list(PAGE_COLUMNS))
    check_gold(dataset, pages, problems)
    problems.stop()
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
    if not wrong and _is_cut(source):
        wrong = "is truncated (no end-of-file mark); download it again"
    if wrong:
        problems.add(source, f"the PDF {wrong}")
        return []
    return texts


def _is_cut(source: Path) -> bool:
    """Whether a PDF lost its end: neither its end-of-file mark nor its last cross-reference is there."""
    tail = source.read_bytes()[-4096:]
    return not tail.rstrip(b"\x00\r\n ").endswith(b"%%EOF") and b"startxref" not in tail


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


def _refuse_equal_files(sources: list[Path], problems: Problems) -> None:
    first: dict[str, Path] = {}
    for source in filter(Path.is_file, sources):
        if (same := first.setdefault(digest_of_file(source), source)) is not source:
            wrong = f"the same bytes as {same.name}; its pages would count twice; remove one of the two"
            problems.add(source, wrong)


def check_gold(dataset: Dataset, pages: pd.DataFrame, problems: Problems, min_overlap: float = 0.5) -> None:
    """Note gold pages past a filing's end, and evidence that is not on its page.

    Evidence was copied by people from the PDF's text, so it counts as found when at least ``min_overlap`` of its
    distinct words stand on the page.
    """
    n_pages = pages.groupby("doc_name").size()
    text_of = pages.set_index(["doc_name", "page"])["text"]
    for piece in dataset.evidence[dataset.evidence["doc_name"].isin(n_pages.index)].itertuples():
        where, doc_name, page = Line(dataset.question_file, piece.line, {}), piece.doc_name, piece.page
        if page >= (count := n_pages[doc_name]):
            problems.add(where, f"gold page {page} is past the end of {doc_name} ({count} pages, 0-based)")
        elif (share := _share_on_page(piece.text, text_of[doc_name, page])) < min_overlap:
            wrong = f"only {share:.0%} of the evidence's words stand on page {page} of {doc_name}"
            problems.add(where, f"{wrong}; correct evidence_page_num (the PDF's index, from 0) or the text")


def _share_on_page(evidence: str, page: str) -> float:
    words = set(NOT_WORDS.sub(" ", evidence.lower()).split())
    return len(words & set(NOT_WORDS.sub(" ", page.lower()).split())) / len(words) if words else 1.0
