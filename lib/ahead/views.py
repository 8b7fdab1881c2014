"""What the combiner looks at: how every page answers every query, by its head, its windows and its words.

A view is a matrix of scores, shape (n_questions, n_pages), in the order of ``study.pages``. What does not depend on a
question is computed once and stored.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from lib.ahead import page_kinds as kinds_module
from lib.ahead import terms as terms_module
from lib.ahead.asking import queries
from lib.ahead.features import Pages, describe_pages
from lib.ahead.identity import FilingIdentity, filing_identities
from lib.ahead.page_kinds import kinds, page_strengths
from lib.ahead.terms import terms, topic_terms
from lib.methods import code_hash
from lib.models import index
from lib.page_scorer.vectors import page_rows
from lib.retrievers.bm25 import BM25
from lib.retrievers.dense import best_window_scores
from lib.store import digest_of

Encode = Callable[[object, Sequence[str]], np.ndarray]


def identities(study) -> list[FilingIdentity]:
    """The identity of every filing, in the order of ``study.filings``."""
    return study.memo("ahead_identities", lambda: filing_identities(study.filings, study.pages))


def head_texts(study) -> list[str]:
    """Each page behind its filing's identity: ``Oskarvale 2018 10-K`` and the beginning of the page.

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
        return np.array(
            [row_of[key] for key in zip(study.chunks["doc_name"], study.chunks["page"], strict=True)], int
        )

    return study.memo("ahead_chunk_pages", rows)


def page_words(study) -> BM25:
    """BM25 over the terms of whole pages; its weights are stored."""
    settings = study.profile.bm25

    def compute(target: Path) -> None:
        model = BM25([terms(text) for text in study.pages["text"]], settings.k1, settings.b)
        sparse.save_npz(target / "weights.npz", sparse.csr_matrix(model.weights.astype(np.float32)))
        (target / "vocabulary.json").write_text(json.dumps(list(model.vocabulary)))

    def load() -> BM25:
        code = [code_hash(module) for module in (terms_module, kinds_module)]
        params = {"pages": study.pages_digest, "k1": settings.k1, "b": settings.b, "code": code}
        path = study.store.get("ahead/words", params, compute).path
        vocabulary = {
            term: row for row, term in enumerate(json.loads((path / "vocabulary.json").read_text()))
        }
        return BM25.of_weights(sparse.csr_array(sparse.load_npz(path / "weights.npz")), vocabulary)

    return study.memo("ahead_words", load)


def described_pages(study) -> Pages:
    """What is known of every page before a question comes; kinds are stored."""

    def compute(target: Path) -> None:
        titles, items = page_strengths(study.pages["text"].tolist())
        np.savez(target / "kinds.npz", titles=titles, items=items)

    def load() -> Pages:
        params = {"pages": study.pages_digest, "kinds": digest_of(kinds()), "code": code_hash(kinds_module)}
        path = study.store.get("ahead/kinds", params, compute).path
        with np.load(path / "kinds.npz") as arrays:
            return describe_pages(study.pages, study.filings, arrays["titles"], arrays["items"])

    return study.memo("ahead_pages", load)


def view_scores(
    study, questions: Sequence[str], encode: Encode = index.encode_queries
) -> dict[str, np.ndarray]:
    """Every view of every page for the given questions.

    Args:
        study: gives the index.
        questions: the texts.
        encode: maps the study and texts to unit vectors; the default stores them.

    Returns:
        Name to float32 (n_questions, n_pages). A page without text has the view's least value.
    """
    asked = queries(questions)
    parts = np.split(encode(study, [text for texts in asked.values() for text in texts]), len(asked))
    vectors = dict(zip(asked, parts, strict=True))
    owners, windows = index.window_vectors(study)
    pages, n_pages = pages_of_chunks(study)[owners], len(study.pages)
    heads, words = head_vectors(study), page_words(study)
    names = [name for identity in identities(study) for name in identity.names]
    scores = {
        "head": vectors["full"] @ heads.T,
        "head_expanded": vectors["expanded"] @ heads.T,
        "window": best_window_scores(vectors["full"], windows, pages, n_pages),
        "window_core": best_window_scores(vectors["core"], windows, pages, n_pages),
        "window_expanded": best_window_scores(vectors["expanded"], windows, pages, n_pages),
    }
    for view, query in (("words", "full"), ("words_expanded", "expanded")):
        scores[view] = np.stack([words.scores(topic_terms(text, names)) for text in asked[query]])
    return {name: _floored(values) for name, values in scores.items()}


def _floored(scores: np.ndarray) -> np.ndarray:
    finite = np.isfinite(scores)
    return np.where(finite, scores, scores[finite].min(initial=0)).astype(np.float32)
