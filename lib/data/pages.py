"""The text of a dataset's pages, and whether the gold pages of its questions match them.

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
from lib.data.records import Page, Problems, printable, read_records
from lib.files import digest_of_file
from lib.schema import PAGE_COLUMNS
from lib.text.tokens import words_in_any_script

N_PROCESSES = 2
MIN_OVERLAP = 0.5  # share of the evidence's words that are on its page: it was copied from the PDF's text
GOLD_PAGE = "correct evidence_page_num (the PDF's index, from 0)"


def extract_pages(dataset: Dataset, problems: Problems | None = None) -> pd.DataFrame:
    """The text of every page of every filing (PAGE_COLUMNS), blank pages too.

    A DatasetError lists every problem of a filing, and those found before; if there is any, of :func:`check_gold` too.
    """
    problems = problems or Problems(dataset.root)
    sources = {doc_name: dataset.source(doc_name) for doc_name in dataset.filings["doc_name"]}
    with ThreadPoolExecutor(N_PROCESSES) as pool:  # each PDF is read by a process of its own
        results = pool.map(partial(read_filing, root=dataset.root), sources.values())
        filings = list(tqdm(results, total=len(sources), desc="pages", unit="filing", mininterval=2))
    rows, first = [], {}
    for (doc_name, source), (texts, messages) in zip(sources.items(), filings, strict=True):
        if (same := first.setdefault(digest_of_file(source), source)) is not source:
            problems.add(source, f"the same bytes as {same.name}; remove one, as its pages would count twice")
        problems.messages += messages
        rows += [(doc_name, page, text) for page, text in enumerate(texts)]
    pages = pd.DataFrame(rows, columns=list(PAGE_COLUMNS))
    if problems.messages:
        check_gold(dataset, pages, problems)
    return pages


def read_filing(source: Path, root: Path) -> tuple[list[str], list[str]]:
    """The texts of one filing's pages, and the problems of its file below ``root``; then no texts."""
    problems = Problems(root)
    if source.suffix == ".jsonl":
        texts, fix = _page_texts(source, problems), "give it text"
    else:
        texts, wrong = read_texts(source)
        path = shlex.quote(source.relative_to(root).as_posix())
        fix = f"recognise it (OCR), as with ocrmypdf {path} {path}"
        if wrong:
            problems.add(source, f"the PDF {printable(wrong)}")
    if not problems.messages and not any(map(str.strip, texts)):
        problems.add(source, f"no page has text, as in a scan; {fix}, or remove the filing")
    return [] if problems.messages else texts, problems.messages


def _page_texts(source: Path, problems: Problems) -> list[str]:
    """The texts of a file of pages, one record a line in the order of the pages."""
    texts, expected = [], 0
    for line, doc_name, page in read_records(source, Page, problems):
        if page and doc_name != source.stem:
            problems.add(source, f"doc_name is not {source.stem}; correct it", line)
        if page and page.page != expected:
            problems.add(source, f"page {page.page} where {expected} is next; count from 0, leave none out", line)
        texts.append(page.text if page else "")
        expected = (page.page if page else expected) + 1
    if not texts and not problems.messages:
        problems.add(source, "no page; give one page a line, or remove the file")
    return texts


def check_gold(dataset: Dataset, pages: pd.DataFrame, problems: Problems | None = None) -> int:
    """Check a question set against the pages (PAGE_COLUMNS); returns how many pieces of evidence there are.

    A DatasetError lists the ``problems`` found before, and every gold page that is missing, has no text, or not the
    evidence's.
    """
    problems = problems or Problems(dataset.question_file.parent.parent)
    filings = pages.groupby("doc_name")["text"].agg(list)
    for piece in dataset.evidence[dataset.evidence["doc_name"].isin(filings.index)].itertuples():
        texts, gold = filings[piece.doc_name], f"gold page {piece.page} of {piece.doc_name}"
        add, words = partial(problems.add, dataset.question_file, line=piece.line), words_in_any_script(piece.text)
        if piece.page >= len(texts):
            add(f"{gold} is past its end ({len(texts)} pages, 0-based); {GOLD_PAGE}")
        elif not texts[piece.page].strip():
            add(f"{gold} has no text; recognise it (OCR), or {GOLD_PAGE}")
        elif words:
            share = len(words & words_in_any_script(texts[piece.page])) / len(words)
            if share < MIN_OVERLAP:
                add(f"{gold} has only {share:.0%} of the evidence's words; {GOLD_PAGE} or the text")
    n_pages = filings.map(len)
    for one in dataset.questions.itertuples():
        places = [(one.doc_name, page) for page in one.also]
        places += [(doc_name, int(page)) for doc_name, _, page in (name.rpartition("#p") for name in one.other_filings)]
        for doc_name, page in places:
            if doc_name in n_pages and page >= n_pages[doc_name]:
                wrong = f"page {page} of {doc_name} is past its end ({n_pages[doc_name]} pages, 0-based)"
                fix = f"correct also or other_filings of {one.question_id}"
                problems.add(dataset.question_file, f"{wrong}; {fix}")
    problems.stop()
    return len(dataset.evidence)
