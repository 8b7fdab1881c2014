"""The text of a dataset's pages, and whether the gold pages of its questions fit them.

Pages come from PDFs through PyMuPDF, or are given as text; they are numbered from 0, and blank pages are kept.
"""

import shlex
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pandas as pd
from tqdm.auto import tqdm

from lib.data.layout import Dataset
from lib.data.pdf import read_texts
from lib.data.records import Page, Problems, read_records
from lib.files import digest_of_file
from lib.schema import PAGE_COLUMNS
from lib.text.tokens import words_in_any_script

N_PROCESSES = 2
MIN_OVERLAP = 0.5  # share of the evidence's words that stand on its page: it was copied from the PDF's text


def extract_pages(dataset: Dataset, problems: Problems | None = None) -> pd.DataFrame:
    """The text of every page of every filing (PAGE_COLUMNS), blank pages too.

    A DatasetError has every problem of a filing or noted before, at once; if there is any, of :func:`check_gold` too.
    """
    problems = problems or Problems(dataset.root)
    sources = {doc_name: dataset.source(doc_name) for doc_name in dataset.filings["doc_name"]}
    with ThreadPoolExecutor(N_PROCESSES) as pool:  # each PDF is read by a process of its own
        read = pool.map(partial(read_filing, root=dataset.root), sources.values())
        filings = list(tqdm(read, total=len(sources), desc="pages", unit="filing", mininterval=2))
    rows, first = [], {}
    for (doc_name, source), (texts, messages) in zip(sources.items(), filings, strict=True):
        if (same := first.setdefault(digest_of_file(source), source)) is not source:
            problems.add(source, f"the same bytes as {same.name}; its pages would count twice; remove one of the two")
        problems.messages += messages
        rows += [(doc_name, page, text) for page, text in enumerate(texts)]
    pages = pd.DataFrame(rows, columns=list(PAGE_COLUMNS))
    if problems.messages:
        check_gold(dataset, pages, problems)
    return pages


def read_filing(source: Path, root: Path) -> tuple[list[str], list[str]]:
    """The texts of one filing's pages, and what is wrong with its file below ``root``; then no texts."""
    problems = Problems(root)
    if source.suffix == ".jsonl":
        texts = _read_text(source, problems)
    else:
        texts, wrong = read_texts(source)
        if wrong:
            problems.add(source, f"the PDF {wrong}")
    if not problems.messages and not any(map(str.strip, texts)):
        path = shlex.quote(source.relative_to(root).as_posix())
        mend = "give it text" if source.suffix == ".jsonl" else f"recognise it (OCR), as with ocrmypdf {path} {path}"
        problems.add(source, f"no page has text, as in a scan; {mend}, or remove the filing")
    return [] if problems.messages else texts, problems.messages


def _read_text(source: Path, problems: Problems) -> list[str]:
    texts, expected = [], 0
    for line, doc_name, page in read_records(source, Page, problems):
        if page and doc_name != source.stem:
            problems.add(source, f"doc_name is not {source.stem}; mend the name", line)
        if page and page.page != expected:
            problems.add(source, f"page {page.page} where {expected} comes next; count from 0, leave none out", line)
        texts.append(page.text if page else "")
        expected = (page.page if page else expected) + 1
    if not texts and not problems.messages:
        problems.add(source, "no page; give one page a line, or remove the file")
    return texts


def check_gold(dataset: Dataset, pages: pd.DataFrame, problems: Problems | None = None) -> int:
    """Check a question set against the pages (PAGE_COLUMNS); returns how many pieces of evidence there are.

    A DatasetError has the ``problems`` noted before, and every gold page that is not there, has no text, or not the
    evidence's.
    """
    problems = problems or Problems(dataset.question_file.parent.parent)
    texts = pages.groupby("doc_name")["text"].agg(list)
    for piece in dataset.evidence[dataset.evidence["doc_name"].isin(texts.index)].itertuples():
        doc_name, page, of_filing = piece.doc_name, piece.page, texts[piece.doc_name]
        wrong, mend = "", "evidence_page_num (the PDF's index, from 0)"
        if page >= len(of_filing):
            wrong = f"gold page {page} is past the end of {doc_name} ({len(of_filing)} pages, 0-based); correct {mend}"
        elif not of_filing[page].strip():
            wrong = f"gold page {page} of {doc_name} has no text; recognise it (OCR), or correct {mend}"
        elif words := words_in_any_script(piece.text):
            share = len(words & words_in_any_script(of_filing[page])) / len(words)
            on_page = f"only {share:.0%} of the evidence's words stand on page {page} of {doc_name}"
            wrong = f"{on_page}; correct {mend} or the text" if share < MIN_OVERLAP else ""
        if wrong:
            problems.add(dataset.question_file, wrong, piece.line)
    problems.stop()
    return len(dataset.evidence)
