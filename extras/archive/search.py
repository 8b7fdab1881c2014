"""Asking an archive: the pages that fit a question best, by words, meaning and identity; nothing is trained.

Each page gets the sum of three views, each brought to the question's own scale: BM25 of the page, the cosine of its
best window, and how well its filing's identity (company, period, form, read from its first pages) fits the question.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from extras.archive.shards import Plan, Shards, vectors_of
from lib.data.locate import DEMO, financebench_root, name_of
from lib.frames import ARTIFACTS
from lib.profile import load_profile
from lib.retrievers.bm25 import BM25
from lib.retrievers.dense import best_window_scores
from lib.retrievers.identity import filing_identities, identity_features
from lib.words import StudyError

ARCHIVE = str(Path(__file__).with_name("archive.yaml"))  # the profile of archives, where none is named


def shards_of(dataset: str, profile: str = "default") -> tuple[Path, Shards]:
    """The folder of a dataset's filings, by name or path, and their shards among the artifacts.

    Raises:
        StudyError: there is no such folder.
    """
    named = {"demo": DEMO, "financebench": financebench_root(), "": financebench_root() or DEMO}
    root = named.get(dataset) or Path(dataset).expanduser()
    if not root.is_dir():
        raise StudyError(f"{dataset}: no folder; give financebench, demo, or a folder with PDFs")
    settings = load_profile(ARCHIVE if profile == "default" else profile)
    return root, Shards(ARTIFACTS / name_of(root) / settings.name / "index", Plan.of(settings))


class Archive:
    """An archive in memory: pages' text and words, windows' vectors, filings' identities.

    Args:
        shards: its index.
        k1, b: of BM25.
    """

    def __init__(self, shards: Shards, k1: float = 1.5, b: float = 0.75):
        self.shards, self.pages, self.encoder = shards, shards.pages(), shards.plan.encoder()
        place = pd.MultiIndex.from_frame(self.pages[["doc_name", "page"]])
        owners, vectors = [], []
        for table in shards.windows():
            of = pd.MultiIndex.from_arrays([table["doc_name"].to_pylist(), table["page"].to_numpy()])
            owners.append(place.get_indexer(of))
            vectors.append(vectors_of(table))
        self.owners, self.vectors = np.concatenate(owners), np.concatenate(vectors)
        filings = pd.DataFrame({"doc_name": shards.names()}).assign(
            company=None, doc_type="", doc_period=None
        )
        self.filed = filing_identities(filings, self.pages)
        self.filing = pd.Index(filings["doc_name"]).get_indexer(self.pages["doc_name"])
        self.words = BM25.of_texts(self.pages["text"], k1, b)

    def scores(self, question: str) -> np.ndarray:
        """The score of every page for a question, shape (n_pages,)."""
        asked = self.encoder.encode([question], "query")
        dense = best_window_scores(asked, self.vectors, self.owners, len(self.pages))[0]
        dense = np.where(np.isfinite(dense), dense, 0.0)
        words = self.words.scores(self.words.tokens(question))
        fit = identity_features([question], self.filed)
        named = fit["company"].max() > 0
        identity = fit["identity"][0] if named else np.zeros(len(self.filed))
        return _scaled(words) + _scaled(dense) + _scaled(identity)[self.filing]

    def ask(self, question: str, k: int = 5) -> pd.DataFrame:
        """The best k pages: doc_name, page (from 0), score, text.

        Raises:
            StudyError: a question without a word, or k below 1.
        """
        if not question.split() or k < 1:
            raise StudyError(f"Q is {question!r} and k is {k}: ask a question for one page or more")
        scores = self.scores(question)
        best = np.argsort(-scores, kind="stable")[:k]
        return self.pages.iloc[best].assign(score=scores[best]).reset_index(drop=True)


def _scaled(values: np.ndarray) -> np.ndarray:
    """Values divided by their largest distance from the mean; zeros where all are equal."""
    centred = np.asarray(values, float) - np.mean(values)
    return centred / (np.abs(centred).max() or 1.0)


def picture(root: Path, page: pd.Series, folder: Path) -> Path | None:
    """A picture of a page (doc_name, page) in a folder, drawn from its PDF; None where the filing is text alone."""
    import pymupdf

    source = next((path for path in root.glob(f"**/{page['doc_name']}.pdf") if path.is_file()), None)
    if source is None:
        return None
    target = folder / f"{page['doc_name']}-p{page['page']:04}.png"
    if not target.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with pymupdf.open(source) as pdf:
            pdf[int(page["page"])].get_pixmap(dpi=110).save(target)
    return target
