"""What the combiner looks at: how every page answers every query, by its head, its windows and its words.

A view is a matrix of scores, shape (n_questions, n_pages), in the order of ``study.questions`` and ``study.pages``.
"""

import json
from pathlib import Path

import numpy as np
from scipy import sparse

from lib.ahead.asking import queries
from lib.ahead.identity import FilingIdentity, filing_identities
from lib.ahead.page_kinds import page_strengths
from lib.models import index
from lib.models.page_vectors import page_rows
from lib.retrievers.bm25 import BM25, tokenize
from lib.retrievers.dense import best_window_scores

BM25_VERSION = 1
KINDS_VERSION = 1


def identities(study) -> list[FilingIdentity]:
    """The identity of every filing, in the order of ``study.filings``."""
    return study.memo("ahead_identities", lambda: filing_identities(study.filings, study.pages))


def head_texts(study) -> list[str]:
    """Each page behind its filing's identity: ``3M 2018 10-K`` and the beginning of the page.

    A contextual header costs nothing at indexing, and tells apart the same statement in filings of other years.
    """
    header = {identity.doc_name: identity.header for identity in identities(study)}
    limit = study.profile.ahead.head_characters
    pages = zip(study.pages["doc_name"], study.pages["text"], strict=True)
    return [f"{header[doc_name]}\n{' '.join(text.split())[:limit]}" for doc_name, text in pages]


def head_vectors(study) -> np.ndarray:
    """Unit vectors of the page heads, shape (n_pages, dimension)."""
    return study.memo(
        "ahead_heads",
        lambda: np.asarray(index.encode_texts(study, "embeddings/ahead-heads", head_texts(study))),
    )


def pages_of_chunks(study) -> np.ndarray:
    """The row in ``study.pages`` of each chunk's page, shape (n_chunks,)."""

    def rows() -> np.ndarray:
        row_of = page_rows(study)
        return np.array([row_of[key] for key in zip(study.chunks["doc_name"], study.chunks["page"], strict=True)])

    return study.memo("ahead_chunk_pages", rows)


def page_words(study) -> BM25:
    """BM25 over whole pages, its term weights stored."""

    def compute(target: Path) -> None:
        settings = study.profile.bm25
        model = BM25([tokenize(text) for text in study.pages["text"]], settings.k1, settings.b)
        sparse.save_npz(target / "weights.npz", sparse.csr_matrix(model.weights.astype(np.float32)))
        (target / "vocabulary.json").write_text(json.dumps(list(model.vocabulary)))

    def load() -> BM25:
        params = {"pages": study.pages_digest, "bm25": dict(study.profile.bm25)}
        path = study.store.get("ahead/words", params, compute, BM25_VERSION).path
        model = BM25.__new__(BM25)
        model.weights = sparse.csr_array(sparse.load_npz(path / "weights.npz"))
        terms = json.loads((path / "vocabulary.json").read_text())
        model.vocabulary = {term: row for row, term in enumerate(terms)}
        return model

    return study.memo("ahead_words", load)


def page_kinds(study) -> tuple[np.ndarray, np.ndarray]:
    """Titles and items of every page, see :func:`lib.ahead.page_kinds.page_strengths`; stored."""

    def compute(target: Path) -> None:
        titles, items = page_strengths(study.pages["text"].tolist())
        np.savez(target / "kinds.npz", titles=titles, items=items)

    def load() -> tuple[np.ndarray, np.ndarray]:
        path = study.store.get("ahead/kinds", {"pages": study.pages_digest}, compute, KINDS_VERSION).path
        with np.load(path / "kinds.npz") as arrays:
            return arrays["titles"], arrays["items"]

    return study.memo("ahead_kinds", load)


def view_scores(study, questions: list[str]) -> dict[str, np.ndarray]:
    """Every view of every page for the given questions: name to float32 (n_questions, n_pages)."""
    asked = queries(questions)
    vectors = {name: index.encode_queries(study, texts) for name, texts in asked.items()}
    owners, windows = index.window_vectors(study)
    pages, n_pages = pages_of_chunks(study), len(study.pages)
    heads, words = head_vectors(study), page_words(study)
    scores = {
        "head": vectors["full"] @ heads.T,
        "head_expanded": vectors["expanded"] @ heads.T,
        "window": best_window_scores(vectors["full"], windows, pages[owners], n_pages),
        "window_core": best_window_scores(vectors["core"], windows, pages[owners], n_pages),
    }
    for view, query in (("words", "full"), ("words_core", "core"), ("words_expanded", "expanded")):
        scores[view] = np.stack([words.scores(tokenize(text)) for text in asked[query]])
    lowest = {name: values[np.isfinite(values)].min(initial=0) for name, values in scores.items()}
    return {n: np.nan_to_num(v, neginf=lowest[n]).astype(np.float32) for n, v in scores.items()}
