"""Asking an archive: Ahead's saved ranker over the pages of the filings that are nearest to the question.

Each page of the archive gets the sum of three views without training, each brought to the question's own scale: BM25
of the page, the cosine of its best window, and how well its filing's identity (company, period, form, read from its
first pages) fits the question. The gold filing is among the five nearest of 350 for .94 of FinanceBench's questions.
The nearest filings' pages alone are described in all views (:mod:`lib.ahead.views`), as if they were the collection.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from lib.ahead.ranker import Ranker, mixed
from lib.ahead.search import saved_ranker
from lib.ahead.terms import core
from lib.ahead.views import PageViews, Vectors, pool_of
from lib.archive.index import PICTURES, Shards
from lib.data.pdf import picture
from lib.files import write_atomically
from lib.profile import Settings, load_profile
from lib.retrievers.bm25 import BM25
from lib.retrievers.dense import best_window_scores
from lib.retrievers.identity import filing_identities, identity_features, without_records
from lib.words import StudyError

NEAREST = 5  # filings whose pages are ranked
DPI = 110


class Archive:
    """An archive in memory, of all filings of an index or some: pages and their words, vectors, filings' identities."""

    def __init__(self, shards: Shards, profile: Settings | None = None, names: Sequence[str] = ()):
        if not (names := names or shards.compare().names):
            raise StudyError(f"{shards.folder} contains no filing to search; run make index first")
        self.profile, self.ranker = profile or load_profile("default"), saved_ranker("index")
        self.encoder = shards.plan.encoder()
        pages = (pd.read_parquet(shards.path("pages", name)) for name in names)
        self.pages = pd.concat(pages, ignore_index=True)
        tables, vectors = zip(*(shards.windows(name, ["doc_name", "page"]) for name in names), strict=True)
        place = pd.MultiIndex.from_frame(self.pages[["doc_name", "page"]])
        self.owners = place.get_indexer(pd.MultiIndex.from_frame(pd.concat(tables)[["doc_name", "page"]]))
        self.vectors = np.concatenate(vectors)
        filings = without_records(self.pages[["doc_name"]].drop_duplicates())
        self.filed = filing_identities(filings, self.pages)
        self.filing = pd.Index(filings["doc_name"]).get_indexer(self.pages["doc_name"])
        self.words = BM25.of_texts(self.pages["text"], self.profile.bm25.k1, self.profile.bm25.b)

    def nearest(self, question: str, n_filings: int = NEAREST) -> tuple[pd.DataFrame, Vectors]:
        """PAGE_COLUMNS of the filings with the best pages by the untrained score, and the vectors that rank them."""
        asked = np.split(self.encoder.encode([" ".join(question.split()), core(question)], "query"), 2)
        dense = best_window_scores(asked[0], self.vectors, self.owners, len(self.pages))[0]
        words, fit = self.words.scores(self.words.tokens(question)), identity_features([question], self.filed)
        identity = fit["identity"][0] if fit["company"].max() > 0 else np.zeros(len(self.filed))
        scores = _scaled(words) + _scaled(np.where(np.isfinite(dense), dense, 0.0)) + _scaled(identity)[self.filing]
        best = pd.Series(scores).groupby(self.filing).max()
        is_near = np.isin(self.filing, best.sort_values(ascending=False, kind="stable").index[:n_filings])
        kept = is_near[self.owners]
        rows = (np.cumsum(is_near) - 1)[self.owners[kept]]
        return self.pages[is_near].reset_index(drop=True), Vectors(*asked, rows, self.vectors[kept])

    def ask(self, question: str, k: int = 5, ranker: Ranker | None = None) -> pd.DataFrame:
        """The best k pages (doc_name, page, text, score) by ``ranker``, which is by default the saved one."""
        if not question.split() or k < 1:
            raise StudyError(f"Q is {question!r} and k is {k}: ask a question for one page or more")
        (pages, vectors), (_, booster, share) = self.nearest(question), ranker or self.ranker
        known = PageViews(without_records(pages[["doc_name"]].drop_duplicates()), pages, self.profile.bm25, [question])
        pool = pool_of(known, [question], vectors, has_kinds=True)
        scores = mixed(booster, share, pool)
        best = np.argsort(-scores, kind="stable")[:k]
        return pages.iloc[pool.columns[best]].assign(score=scores[best]).reset_index(drop=True)


def _scaled(values: np.ndarray) -> np.ndarray:
    """Distances from the mean, in the largest of them; zeros where all are equal."""
    centred = np.asarray(values, float) - np.mean(values)
    return centred / (np.abs(centred).max() or 1.0)


def page_picture(shards: Shards, page: pd.Series) -> Path:
    """The picture of a page (doc_name, page), named by its filing's hash.

    Raises:
        StudyError: the filing is text alone, was changed, or the page cannot be drawn.
    """
    record = shards.record(page["doc_name"])
    source, number = shards.root / record["source"], int(page["page"])
    if source.suffix == ".jsonl":
        raise StudyError("page text alone")
    target = shards.folder / PICTURES / f"{record['sha256'][:16]}-p{number:04}.png"
    if not target.is_file():
        if not shards.renewed(source, record):
            raise StudyError("the filing was changed; run make index")
        write_atomically(target, picture(source, number, DPI))
    return target
