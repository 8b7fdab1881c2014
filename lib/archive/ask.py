"""Asking an archive: Ahead's saved ranker over the pages of the filings that are nearest to the question.

Each page of the archive gets the sum of three views without training, each brought to the question's own scale: BM25
of the page, the cosine of its best span where that is among the N_SPANS nearest of the collection, and how well its
filing's identity (company, period, form, read from its first pages) fits the question. The nearest filings' pages alone
are described in all views (:mod:`lib.ahead.views`), as if they were the collection. Tables of the best pages are read
for an answer, which is given where the reading is sure (:mod:`lib.statements.sure`).
"""

import codecs
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Self
from weakref import finalize

import numpy as np
import pandas as pd

from lib.ahead.ranker import mixed
from lib.ahead.search import saved_ranker
from lib.ahead.views import PageViews, Vectors, pool_of
from lib.answers.prompt_context import order_of_segments
from lib.archive.index import PICTURES, ArchiveIndex
from lib.archive.search_data import search_data
from lib.archive.step import quiet_encoder
from lib.archive.wording import one_wording
from lib.data.pdf import Word, picture, read_words
from lib.data.records import MOST_LETTERS, printable
from lib.files import digest_of, write_atomically
from lib.filings.identity import Identity, asked_period, filings_named, identity_features, without_records
from lib.models.index import SERVER, chunk_of, page_of
from lib.retrievers.spans import asked_of_spans
from lib.schema import PAGE_COLUMNS, StudyError
from lib.statements.asked import asked_for
from lib.statements.reading import Cell
from lib.statements.rows import Sheet, sheet
from lib.statements.sure import BESIDE, fitted, reading
from lib.text.characters import unaccented

MOST_CHARACTERS = 4000  # of a question, which takes a second to read; those of FinanceBench have 600 at most
NEAREST = 5  # filings whose pages are ranked
N_SPANS = 1000  # that are nearest to a question; the others count as the last of these
DPI = 110
PASSAGE_LINES = 8


class Archive:
    """An archive opened, of all filings of an index or some: its collection, pages' places and words, identities.

    ``difference`` is how the folder differs from the index. Others may read the index, and writers wait, until it is
    closed.
    """

    def __init__(self, files: ArchiveIndex, names: Sequence[str] = ()):
        with ExitStack() as opened:
            self.files, self.index = files, opened.enter_context(files.open(writes=False))
            self.difference = files.compare(self.index)
            names = names or self.difference.names
            if not names and self.difference.counts["without vectors here"]:
                where = self.index.place if self.index else files.chroma
                fix = f"run make index, or set {SERVER} to the server that has them"
                raise StudyError(f"{where} has no vectors of {files.root}; {fix}")
            if not names:
                raise StudyError(f"{files.folder} contains no filing to search; run make index first")
            self.ranker, self.encoder = saved_ranker("kinds"), quiet_encoder(files.profile.spans)
            self.places, self.bm25, self.filings = search_data(files, names)
            doc_names = pd.Index([filing.doc_name for filing in self.filings])
            self.filing_of_page = doc_names.get_indexer(self.places["doc_name"])
            self.rows = {place: row for row, place in enumerate(self.places.itertuples(index=False, name=None))}
            self._close = finalize(self, opened.pop_all().close)

    def close(self) -> None:
        """Let others write the index."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def nearest(self, question: str, n_filings: int = NEAREST) -> tuple[pd.DataFrame, Vectors]:
        """The pages of the filings with the best pages by the untrained score, and the vectors that rank them.

        Raises:
            StudyError: a filing's vectors are damaged.
        """
        asked = self.encoder.encode(asked_of_spans([question], self.filings), "query")
        words = self.bm25.get_scores(self.bm25.tokens(unaccented(question)))
        fit = identity_features([question], self.filings)
        identity = fit["identity"][0] if fit["company"].max() > 0 else np.zeros(len(self.filings))
        scores = _scaled(words) + self._cosines(asked[0]) + _scaled(identity)[self.filing_of_page]
        best = pd.Series(scores).groupby(self.filing_of_page).max()
        nearest = best.sort_values(ascending=False, kind="stable").index[:n_filings]
        is_near = np.isin(self.filing_of_page, nearest)
        names = self.places[is_near]["doc_name"].unique().tolist()
        spans = self.index.read(names)
        if damaged := [name for name in names if name not in spans]:
            raise StudyError(f"{self.index.place}: the vectors of {damaged[0]} are damaged; run make index")
        rows = np.cumsum(is_near) - 1
        owners = np.array([rows[self._row(id)] for name in names for id in spans[name][0]])
        return self.files.pages(names), Vectors(asked, owners, np.concatenate([spans[name][1] for name in names]))

    def _row(self, window_id: str) -> int | None:
        return self.rows.get((chunk_of(window_id).rsplit("#", 2)[0], page_of(window_id)))

    def _cosines(self, vector: np.ndarray) -> np.ndarray:
        """How near each page's best span is, from 0, where it is not among the N_SPANS nearest, to 1."""
        spans = self.index.nearest(vector, N_SPANS)
        nearness, least = np.zeros(len(self.places)), spans.min()
        for id, cosine in spans.items():
            if (row := self._row(id)) is not None:
                nearness[row] = max(nearness[row], cosine - least)
        return nearness / (nearness.max() or 1.0)

    def ask(self, question: str, k: int = 5) -> pd.DataFrame:
        """The best k pages: doc_name, page, text, score."""
        if not question.split() or k < 1:
            raise StudyError(f"Q is {question!r} and k is {k}: ask a question for one page or more")
        if len(question) > MOST_CHARACTERS:
            start = printable(question[:MOST_LETTERS])
            wrong = f"the question '{start}…' has {len(question):,} characters"
            raise StudyError(f"{wrong}; give at most {MOST_CHARACTERS:,}")
        (pages, vectors), (_, booster, share) = self.nearest(question), self.ranker
        filings = without_records(pages[["doc_name"]].drop_duplicates())
        views = PageViews(filings, pages, self.files.profile.bm25, [question], facts=pages)
        scores = mixed(booster, share, pool := pool_of(views, [question], vectors, has_kinds=True))
        best = np.argsort(-scores, kind="stable")[:k]
        columns = pages[[*PAGE_COLUMNS]].iloc[pool.columns[best]]
        return columns.assign(score=scores[best]).reset_index(drop=True)

    def sheets(self, best: pd.DataFrame) -> list[Sheet]:
        """The tables of pages (doc_name, page, text), in their order: by the places of words where the PDF is here."""
        filings, texts, words, years = {one.doc_name: one for one in self.filings}, {}, {}, {}
        for name, part in best.groupby("doc_name"):
            of_filing = self.files.pages([name], [*PAGE_COLUMNS])
            texts |= {(name, page): text for page, text in of_filing[["page", "text"]].itertuples(index=False)}
            pages = [page for page in part["page"].tolist() if texts[name, page].strip()]
            words |= {(name, page): of_page for page, of_page in words_of(self.files, name, pages).items()}
            ends = self.files.record(name).get("fiscal_years", {})
            years[name] = {date.fromisoformat(end): year for end, year in ends.items()}
        found = []
        for name, page in best[["doc_name", "page"]].itertuples(index=False, name=None):
            filing, place = filings[name], (name, page)
            about = {"fiscal": years[name], "quarter": filing.quarter, "before": texts.get((name, page - 1), "")}
            found.append(sheet(*place, filing.year, texts[place], words.get(place), **about))
        return found

    def answer(self, question: str, k: int = 5) -> dict:
        """What the archive says to a question, as JSON has it; pages count from 0.

        Returns:
            ``question``; ``answer``, None where no reading is sure; ``confidence``, the share of such readings that
            was right, ``of`` how many;
            ``why_not``; ``formula`` and ``cells`` of the answer, each with ``document``, ``page``, ``row``,
            ``year`` of the column, ``value`` as printed, ``unit`` and ``currency``; ``agree``, other pages that have
            the value of a cell, each with ``document`` and ``page``; and the best k ``pages``, each with ``document``,
            ``page``, ``score`` of the ranker, ``filing`` (company, year, form), ``fits`` of what is asked for, and
            ``passage``.
        """
        filings = {filing.doc_name: filing for filing in self.filings}
        (named,), asked = filings_named([question], self.filings), asked_period(question)
        wanted = asked_for(question, sorted(set(chain(*named.values()))))
        company = next((filings[name].company for name in named), "")
        best = self.ask(one_wording(question, wanted, company, asked), max(k, BESIDE))
        read = reading(question, named, self.sheets(best), self.filings)
        least = fitted()["least"]
        n = fitted()["n"][read.kind]
        unsure = f"{read.result.text} was read; of {n} such readings {read.sure:.0%} were right, {least:.0%} are needed"
        pages = []
        for page, passage in zip(best[:k].itertuples(), passages(question, best["text"][:k]), strict=True):
            filing = filings[page.doc_name]
            about = {"document": page.doc_name, "page": int(page.page), "score": round(float(page.score), 3)}
            about |= {"filing": filing.header, "fits": fits(filing, named, asked), "passage": passage}
            pages.append(about)
        answer = {"question": question, "answer": None, "confidence": round(read.sure, 3), "of": n}
        why_not = read.result.why_not or "; ".join(read.vetoes) or unsure
        answer |= {"why_not": why_not, "formula": "", "cells": [], "agree": [], "pages": pages}
        if read.is_sure:
            answer |= {"answer": read.result.text, "why_not": "", "formula": read.result.formula}
            answer["cells"] = list(map(cell_record, read.result.cells))
            answer["agree"] = [{"document": name, "page": int(page)} for name, page in read.agreeing]
        return answer


def words_of(files: ArchiveIndex, doc_name: str, pages: Sequence[int]) -> dict[int, list[Word]]:
    """The words of a filing's pages with their places; none of a filing of text alone, or that has changed."""
    record = files.record(doc_name)
    source = files.root / record["source"]
    if source.suffix.lower() != ".pdf" or not files.record_if_unchanged(source, record):
        return {}
    try:
        return dict(zip(pages, read_words(source, pages), strict=True))
    except StudyError:  # it takes too much memory: the text of its pages is known
        return {}


def questions_in(lines: Iterable[bytes], name: str) -> Iterator[str]:
    """The questions of a file's lines, blank ones left out and what is no UTF-8 replaced.

    A StudyError names a file that is UTF-16 or has no question.
    """
    has_any = False
    for line in lines:
        if not has_any and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise StudyError(f"{name} is UTF-16; save the file as UTF-8")
        text = line if has_any else line.removeprefix(codecs.BOM_UTF8)
        if question := text.decode("utf-8", "replace").strip():
            has_any = True
            yield question
    if not has_any:
        raise StudyError(f"{name} has no question; give one a line")


def cell_record(cell: Cell) -> dict:
    """A cell as JSON has it."""
    place = {"document": cell.doc_name, "page": int(cell.page), "row": cell.label, "year": cell.year}
    amount = {"value": f"{cell.shown:,.12g}", "unit": cell.unit, "currency": cell.currency}
    return {"item": cell.name.replace("_", " ")} | place | amount


def fits(filing: Identity, named: Container[str], asked: Identity) -> str:
    """How a filing's identity fits a question: in words, company, then year."""
    if not named:
        return "no company of the archive is named"
    company = "company" if filing.doc_name in named else "another company"
    if asked.year is None or filing.year is None:
        return f"{company}, year unknown"
    return f"{company} and year" if filing.year == asked.year else f"{company}, {filing.year - asked.year:+d} years"


def passages(question: str, texts: Sequence[str]) -> list[str]:
    """The lines of each text that share most words with a question, by weight."""
    lines = [[line for line in text.splitlines() if line.strip()] for text in texts]
    step = PASSAGE_LINES // 2
    parts = [
        ["\n".join(page[at : at + PASSAGE_LINES]) for at in range(0, max(1, len(page) - step), step)] for page in lines
    ]
    best = dict(order_of_segments(question, parts)[: len(parts)])
    return [part[best[number]] for number, part in enumerate(parts)]


def _scaled(values: np.ndarray) -> np.ndarray:
    """Distances from the mean, in the largest of them; zeros where all are equal."""
    centred = np.asarray(values, float) - np.mean(values)
    return centred / (np.abs(centred).max() or 1.0)


def page_picture(files: ArchiveIndex, doc_name: str, page: int, evidence: str = "") -> Path:
    """The picture of a page with the lines of ``evidence`` marked, named by its filing's hash.

    Raises:
        StudyError: the filing is text alone, was changed, or the page cannot be drawn.
    """
    record = files.record(doc_name)
    source, marked = files.root / record["source"], f"-{digest_of(evidence)[:8]}" if evidence else ""
    if source.suffix == ".jsonl":
        raise StudyError("page text alone")
    target = files.folder / PICTURES / f"{record['sha256'][:16]}-p{page:04}{marked}.png"
    if not target.is_file():
        if not files.record_if_unchanged(source, record):
            raise StudyError("the filing was changed; run make index")
        write_atomically(target, picture(source, int(page), DPI, evidence))
    return target


def with_pictures(files: ArchiveIndex, answer: dict) -> dict:
    """An answer whose pages have a ``picture``: the cells marked with their rows and the heads of their columns, else
    the passage; or why there is none."""
    rows = {}
    for cell in answer["cells"]:
        marked = f"{cell['row']}\t{cell['value'].lstrip('-')}\t{cell['year']}"
        rows.setdefault((cell["document"], cell["page"]), []).append(marked)
    pages = []
    for page in answer["pages"]:
        place = page["document"], page["page"]
        try:
            picture = str(page_picture(files, *place, "\n".join(rows.get(place, [page["passage"]]))))
        except (StudyError, OSError) as error:
            picture = f"no picture: {error}"
        pages.append(page | {"picture": picture})
    return answer | {"pages": pages}


def answer_text(answer: dict) -> str:
    """An answer with pictures as lines for a person: the answer and where it is from, then the pages, from 0."""
    if answer["answer"] is None:
        lines = [f"no sure figure: {answer['why_not']}"]
    else:
        formula = answer["formula"].replace("_", " ")
        lines = [
            f"{answer['answer']} = {formula} (of {answer['of']} such readings {answer['confidence']:.0%} were right)"
        ]
    for cell in answer["cells"]:
        value = f"   {cell['item']} {cell['year']} = {cell['value']} {cell['unit']}".rstrip()
        lines.append(f"{value}: row “{cell['row']}”, column {cell['year']}, {cell['document']}, page {cell['page']}")
    if answer["agree"]:
        lines.append("   also on " + ", ".join(f"{one['document']}, page {one['page']}" for one in answer["agree"]))
    lines += ["Best pages (here and above, pages count from 0: a PDF viewer's page 1 is page 0):"] * bool(
        answer["pages"]
    )
    for rank, page in enumerate(answer["pages"], 1):
        about = f"{page['filing']} ({page['fits']}), score {page['score']:.2f}"
        lines.append(f"{rank}. {page['document']}, page {page['page']}: {about}")
        lines += [f"   {' '.join(page['passage'].split())}", f"   {page['picture']}"]
    return "\n".join(map(printable, lines))
