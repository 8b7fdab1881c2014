"""Signals: how well each page matches each question by its head, its windows and its words.

A signal is a score matrix of shape (n_questions, n_pages), in the order of ``study.pages``. What does not depend on a
question is computed once and stored.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from lib.ahead.identity import FilingIdentity, filing_identities
from lib.ahead.page_kinds import kinds, page_strengths
from lib.ahead.pages import Pages, describe_pages
from lib.ahead.queries import queries, terms, topic_terms
from lib.files import digest_of
from lib.models import index
from lib.page_scorer.pages import page_rows
from lib.retrievers.bm25 import BM25
from lib.retrievers.dense import best_window_scores
from lib.study import Study

Encode = Callable[[Study, Sequence[str]], np.ndarray]
WORDS_VERSION = 1
KINDS_VERSION = 1


def identities(study: Study) -> list[FilingIdentity]:
    """The identity of every filing, in the order of ``study.filings``."""
    return study.memo("ahead_identities", lambda: filing_identities(study.filings, study.pages))


def head_vectors(study: Study) -> np.ndarray:
    """Unit vectors of the beginning of each page behind its filing's identity, shape (n_pages, dimension).

    The identity, such as ``Oskarvale 2018 10-K``, distinguishes a statement from those of other years, at no cost.
    """

    def load() -> np.ndarray:
        header = {identity.doc_name: identity.header for identity in identities(study)}
        limit = study.profile.ahead.head_characters
        pages = zip(study.pages["doc_name"], study.pages["text"], strict=True)
        texts = [f"{header[doc_name]}\n{' '.join(text.split())[:limit]}" for doc_name, text in pages]
        return np.asarray(index.encode_texts(study, "embeddings/ahead-heads", texts))

    return study.memo("ahead_heads", load)


def pages_of_chunks(study: Study) -> np.ndarray:
    """The row in ``study.pages`` of each chunk's page, shape (n_chunks,)."""

    def rows() -> np.ndarray:
        row_of, chunks = page_rows(study), study.chunks
        return np.array([row_of[key] for key in zip(chunks["doc_name"], chunks["page"], strict=True)], int)

    return study.memo("ahead_chunk_pages", rows)


def page_words(study: Study) -> BM25:
    """BM25 over the terms of whole pages; its weights are stored."""
    settings = study.profile.bm25

    def compute(target: Path) -> None:
        model = BM25([terms(text) for text in study.pages["text"]], settings.k1, settings.b)
        sparse.save_npz(target / "weights.npz", sparse.csr_matrix(model.weights.astype(np.float32)))
        (target / "vocabulary.json").write_text(json.dumps(list(model.vocabulary)))

    def load() -> BM25:
        params = {"pages": study.digest("pages"), "k1": settings.k1, "b": settings.b}
        path = study.store.get("ahead/words", params, compute, WORDS_VERSION).path
        vocabulary = json.loads((path / "vocabulary.json").read_text())
        weights = sparse.csr_array(sparse.load_npz(path / "weights.npz"))
        return BM25.of_weights(weights, {term: row for row, term in enumerate(vocabulary)})

    return study.memo("ahead_words", load)


def described_pages(study: Study) -> Pages:
    """What is known of every page before a question comes; the strengths of page kinds are stored."""

    def compute(target: Path) -> None:
        titles, items = page_strengths(study.pages["text"].tolist())
        np.savez(target / "kinds.npz", titles=titles, items=items)

    def load() -> Pages:
        params = {"pages": study.digest("pages"), "kinds": digest_of(kinds())}
        path = study.store.get("ahead/kinds", params, compute, KINDS_VERSION).path
        with np.load(path / "kinds.npz") as arrays:
            return describe_pages(study.pages, identities(study), arrays["titles"], arrays["items"])

    return study.memo("ahead_pages", load)


def signals(
    study: Study, questions: Sequence[str], encode: Encode = index.encode_queries
) -> dict[str, np.ndarray]:
    """Every signal of every page for the given questions.

    Args:
        study: gives the index.
        questions: the texts.
        encode: maps the study and texts to unit vectors; the default stores them.

    Returns:
        Name to float32 (n_questions, n_pages). A page without text has the signal's least value.
    """
    variants = queries(questions)
    vectors = encode(study, [text for texts in variants.values() for text in texts])
    vector_of = dict(zip(variants, np.split(vectors, len(variants)), strict=True))
    owners, windows = index.window_vectors(study)
    pages, n_pages = pages_of_chunks(study)[owners], len(study.pages)
    heads, words = head_vectors(study), page_words(study)
    names = [name for identity in identities(study) for name in identity.names]
    found = {"head": vector_of["full"] @ heads.T, "head_expanded": vector_of["expanded"] @ heads.T}
    for name, variant in (("window", "full"), ("window_core", "core"), ("window_expanded", "expanded")):
        found[name] = best_window_scores(vector_of[variant], windows, pages, n_pages)
    for name, variant in (("words", "full"), ("words_expanded", "expanded")):
        found[name] = np.stack([words.scores(topic_terms(text, names)) for text in variants[variant]])
    return {name: _floored(values) for name, values in found.items()}


def _floored(scores: np.ndarray) -> np.ndarray:
    finite = np.isfinite(scores)
    return np.where(finite, scores, scores[finite].min(initial=0)).astype(np.float32)
