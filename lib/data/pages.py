"""The text of a dataset's pages, and whether the gold pages of its questions match them.

Pages come from PDFs through PyMuPDF, or are given as text; they are numbered from 0, and blank pages are kept.
"""

import re
import shlex
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from itertools import chain, compress
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from tqdm.auto import tqdm

from lib.data.layout import SETTINGS, Dataset
from lib.data.pdf import read_texts
from lib.data.records import Page, Problems, printable, read_records
from lib.files import digest_of_file
from lib.schema import PAGE_COLUMNS
from lib.text.tokens import words_in_any_script

N_PROCESSES = 2
ENOUGH = 0.8  # share of them with which a page is right even where the next one has them all
MIN_OVERLAP = 0.5  # share of the evidence's words that are on its page: it was copied from the PDF's text
SHIFTS, LEAST_MOVED, MOST_ELSEWHERE = (-1, 1), 2, 20  # pages; texts that prove a shift; those for each that denies it
LEAST_HINTS = 3  # questions whose answers hint at a shift
FIGURE = re.compile(r"(?<![\d.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\d]|[.,]\d)")
LEAST_DIGITS, YEAR = 3, re.compile("(?:19|20)[0-9]{2}")  # a figure of fewer digits stands on many pages, as does a year


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
    texts, expected, before, n_before = [], 0, 0, len(problems.messages)
    records = read_records(source, Page, problems)
    is_broken = len(problems.messages) > n_before  # a line that is no record may have been a page
    for line, doc_name, page in records:
        if page and doc_name != source.stem:
            problems.add(source, f"doc_name is not {source.stem}; correct it", line)
        expected = max(expected, page.page) if page and is_broken and line > before + 1 else expected
        if page and page.page != expected:
            problems.add(source, f"page {page.page} where {expected} is next; count from 0, leave none out", line)
        texts.append(page.text if page else "")
        expected, before = (page.page if page else expected) + 1, line
    if not texts and not problems.messages:
        problems.add(source, "no page; give one page a line, or remove the file")
    return texts


def check_gold(dataset: Dataset, pages: pd.DataFrame, problems: Problems | None = None) -> int:
    """Check a question set against the pages (PAGE_COLUMNS); returns how many pieces of evidence there are.

    A DatasetError lists the ``problems`` found before, and every gold page that is missing, has no text, or not the
    evidence's. Where the texts stand one page before or after, all of them, that is said once.
    """
    problems = problems or Problems(dataset.question_file.parent.parent)
    filings = pages.groupby("doc_name")["text"].agg(list)
    sets = [dataset, *filter(None, [dataset.apart])]
    evidence = pd.concat([one.evidence for one in sets])
    pieces = [*evidence[evidence["doc_name"].isin(filings.index)].itertuples(index=False)]
    words = [words_in_any_script(piece.text) for piece in pieces]
    is_given = [(piece.question_id, piece.doc_name, piece.page) not in dataset.located for piece in pieces]
    shift = _shift([*compress(pieces, is_given)], [*compress(words, is_given)], filings)
    if shift:
        where, first = "before" if shift < 0 else "after", dataset.pages_from - shift
        proof = f"the evidence's texts stand one page {where} those given, so that pages count from {first}"
        problems.add(dataset.question_file, f"{proof}; write 'pages_from: {first}' into data/{SETTINGS}")
    for piece, of_piece, is_claim in zip(pieces, words, is_given, strict=True):
        texts = filings[piece.doc_name]
        if shift and is_claim and _share(of_piece, texts, piece.page + shift) >= MIN_OVERLAP:
            continue
        if wrong := _wrong_page(piece, of_piece, texts, dataset.pages_from):
            problems.add(dataset.question_file, wrong, piece.line)
    n_pages = filings.map(len)
    for one in chain.from_iterable(one.questions.itertuples() for one in sets):
        places = [(one.doc_name, page) for page in one.also]
        places += [(doc_name, int(page)) for doc_name, _, page in (name.rpartition("#p") for name in one.other_filings)]
        for doc_name, page in places:
            if doc_name in n_pages and not 0 <= page < n_pages[doc_name]:
                wrong = f"page {page} of {doc_name} is past its end ({n_pages[doc_name]} pages, 0-based)"
                fix = f"correct also or other_filings of {one.question_id}"
                problems.add(dataset.question_file, f"{wrong}; {fix}")
    problems.stop()
    return len(evidence)


def hint_of_shift(dataset: Dataset, pages: pd.DataFrame) -> str:
    """A warning where the answers' figures stand one page before or after most gold pages, and not on them; else empty.

    It is for questions whose evidence has no text, which would prove it. Answers that were calculated stand nowhere,
    and are no hint.
    """
    if "evidence" not in dataset.lacks or "answer" in dataset.lacks:
        return ""
    texts = pages.set_index(["doc_name", "page"])["text"]
    n_asked, n_here, n_moved = 0, 0, dict.fromkeys(SHIFTS, 0)
    for one in dataset.questions.itertuples():
        figures = figures_in(one.answer)

        def stands(shift: int, one: NamedTuple = one, figures: frozenset[str] = figures) -> bool:
            places = [(one.doc_name, page + shift) for page in one.gold_pages]
            return any(figures & figures_in(texts.get(place, "")) for place in places)

        n_asked += bool(figures)
        if stands(0):
            n_here += 1
        else:
            for shift in SHIFTS:
                n_moved[shift] += stands(shift)
    shift = max(n_moved, key=n_moved.get)
    if n_moved[shift] < LEAST_HINTS or n_moved[shift] <= n_here or dataset.pages_from < shift:
        return ""
    where, first = "before" if shift < 0 else "after", dataset.pages_from - shift
    found = f"of {n_asked} answers with a figure, {n_moved[shift]} have it on the page {where} the one given"
    fix = f"do pages count from {first}? Then write 'pages_from: {first}' into data/{SETTINGS}"
    return f"WARNING: {dataset.question_file}: {found} and not on that one, {n_here} on the one given: {fix}"


@lru_cache(maxsize=10_000)
def figures_in(text: str) -> frozenset[str]:
    """The figures of a text as they are printed, without years and those of few digits."""
    found = {figure for figure in FIGURE.findall(text) if sum(map(str.isdigit, figure)) >= LEAST_DIGITS}
    return frozenset(figure for figure in found if not YEAR.fullmatch(figure))


def _share(words: set[str], texts: Sequence[str], page: int) -> float:
    """The share of the words that stand on a page; 0 where there is none."""
    return len(words & words_in_any_script(texts[page])) / len(words) if words and 0 <= page < len(texts) else 0.0


def _shift(pieces: Sequence, words: Sequence[set[str]], filings: pd.Series) -> int:
    """-1 or 1 where the evidence's texts stand one page before or after, all but one of MOST_ELSEWHERE; else 0."""
    n_here, n_moved = 0, dict.fromkeys(SHIFTS, 0)
    for piece, of_piece in zip(pieces, words, strict=True):
        shares = {shift: _share(of_piece, filings[piece.doc_name], piece.page + shift) for shift in (0, *SHIFTS)}
        best = max(shares, key=shares.get)
        if best and shares[best] >= MIN_OVERLAP:
            n_moved[best] += 1
        elif any(shares.values()):
            n_here += 1
    shift = max(n_moved, key=n_moved.get)
    n_others = n_here + sum(n_moved.values()) - n_moved[shift]
    return shift if n_moved[shift] >= LEAST_MOVED and n_others * MOST_ELSEWHERE <= n_moved[shift] else 0


def _wrong_page(piece: NamedTuple, words: set[str], texts: Sequence[str], first: int) -> str:
    """What is wrong with the page of a piece of evidence, and where its text stands, if it does."""
    gold = f"gold page {piece.page + first} of {piece.doc_name}"
    fix = f"correct the page (the PDF's index, from {first})"
    if piece.page >= len(texts):
        return f"{gold} is past its end ({len(texts)} pages, {first}-based); {fix}"
    if not texts[piece.page].strip():
        return f"{gold} has no text; recognise it (OCR), or {fix}"
    if not words or (share := _share(words, texts, piece.page)) >= ENOUGH:
        return ""
    whole = next((page for page in (piece.page - 1, piece.page + 1) if _share(words, texts, page) == 1), None)
    if share >= MIN_OVERLAP:
        beside = f"{gold} has {share:.0%} of the evidence's words, and page {(whole or 0) + first} all; {fix}"
        return beside if whole is not None else ""
    others = {page: _share(words, texts, page) for page in range(len(texts))}
    best = max(others, key=others.get)
    there = f", page {best + first} has {others[best]:.0%}" if others[best] >= MIN_OVERLAP else ""
    return f"{gold} has only {share:.0%} of the evidence's words{there}; {fix} or the text"
