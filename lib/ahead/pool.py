"""Candidate (question, page) pairs with their features.

A signal is a matrix of scores by head, windows or words, shape (n_questions, n_pages), in the order of ``study.pages``.
It is given in several ways, as a ranker must first find the filing, then the page in it: standardised over all pages;
standing, rank and gap within the filing; the filing's best; the better neighbour's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.ahead.pages import FilingGroups, Pages, page_strengths, standardised
from lib.ahead.queries import queries, terms, topic_terms
from lib.frames import remembered
from lib.models import index
from lib.page_scorer.search import pages_of_chunks
from lib.retrievers.bm25 import BM25, FORMS
from lib.retrievers.dense import best_window_scores
from lib.retrievers.identity import Identity, filing_identities, identity_features
from lib.study import Study


class PageIndex:
    """What is known of every page before a question comes; vectors are stored, the rest takes seconds.

    Heads are unit vectors of the beginning of each page behind its filing's identity, such as ``Oskarvale 2018 10-K``,
    which distinguishes a statement from those of other years at no cost. Words are BM25 over the terms of whole pages.
    """

    def __init__(self, study: Study):
        self.identities = filing_identities(study.filings, study.pages)
        self.names = [name for identity in self.identities for name in identity.names]
        self.chunk_pages = pages_of_chunks(study)
        self.heads, self.words = head_vectors(study, self.identities), self._words(study)
        self.pages = Pages(study.pages, self.identities, *page_strengths(study.pages["text"].tolist()))

    def _words(self, study: Study) -> BM25:
        settings, texts = study.profile.bm25, study.pages["text"]
        model = BM25(list(map(terms, texts)), settings.k1, settings.b, FORMS["rank_bm25"].floor)
        model.weights = model.weights.astype(np.float32)
        return model


def head_vectors(study: Study, identities: Sequence[Identity]) -> np.ndarray:
    """Unit vectors of each page's beginning behind its filing's identity, shape (n_pages, n_dimensions); stored."""
    header = {one.doc_name: one.header for one in identities}
    limit = study.profile.ahead.head_characters
    pages = zip(study.pages["doc_name"], study.pages["text"], strict=True)
    texts = [f"{header[doc_name]}\n{' '.join(text.split())[:limit]}" for doc_name, text in pages]
    return index.encode_texts(study, "embeddings/ahead-heads", texts)


@remembered
def page_index(study: Study) -> PageIndex:
    """The study's pages, described once a process."""
    return PageIndex(study)


def signals(study: Study, questions: Sequence[str]) -> dict[str, np.ndarray]:
    """Every signal by name, float32; a page without text has the signal's least value. See :func:`page_pool`."""
    variants = queries(questions)
    vectors = index.encode_queries(study, [text for texts in variants.values() for text in texts])
    vector_of = dict(zip(variants, np.split(vectors, len(variants)), strict=True))
    owners, windows = index.window_vectors(study)
    known, n_pages = page_index(study), len(study.pages)
    heads = known.heads.T
    found = {"head": vector_of["full"] @ heads, "head_expanded": vector_of["expanded"] @ heads}
    for name, variant in (("window", "full"), ("window_core", "core"), ("window_expanded", "expanded")):
        found[name] = best_window_scores(vector_of[variant], windows, known.chunk_pages[owners], n_pages)
    for name, variant in (("words", "full"), ("words_expanded", "expanded")):
        topics = [topic_terms(text, known.names) for text in variants[variant]]
        found[name] = np.stack([known.words.scores(topic) for topic in topics])
    for name, values in found.items():
        is_known = np.isfinite(values)
        found[name] = np.where(is_known, values, values[is_known].min(initial=0)).astype(np.float32)
    return found


def signal_features(name: str, values: np.ndarray, groups: FilingGroups) -> dict[str, np.ndarray]:
    """The features of one signal, each of shape (n_questions, n_pages)."""
    overall = standardised(values)
    best = groups.best(overall)
    return {
        name: overall,
        f"{name}_standing": groups.standing(values),
        f"{name}_rank": np.log1p(groups.ranks(values)),
        f"{name}_gap": overall - best,
        f"{name}_filing": best,
        f"{name}_beside": groups.neighbours(overall),
    }


@dataclass(frozen=True)
class Pool:
    """Pairs of question (``rows``, not falling) and page (``columns``), their features, and whether they are gold."""

    rows: np.ndarray
    columns: np.ndarray
    table: pd.DataFrame
    gold: np.ndarray | None = None

    def part(self, pairs: np.ndarray) -> "Pool":
        """The pairs that a boolean mask keeps."""
        gold = None if self.gold is None else self.gold[pairs]
        return Pool(self.rows[pairs], self.columns[pairs], self.table[pairs], gold)


def page_pool(study: Study, questions: Sequence[str], allowed: np.ndarray | None = None) -> Pool:
    """The best ``ahead.pool`` pages of each question by a plain score, with their features.

    The plain score is the mean of the standardised window signals plus the fit of the filing's identity; nothing in it
    is trained. ``allowed`` says which pages may be chosen, boolean, shape (n_questions, n_pages); None for all.
    """
    pages, scores = page_index(study).pages, signals(study, questions)
    identity = identity_features(questions, page_index(study).identities)
    windows = (standardised(scores["window"]) + standardised(scores["window_expanded"])) / 2
    chosen = windows + identity["identity"][:, pages.filing]
    if allowed is not None:
        chosen = np.where(allowed, chosen, -np.inf)
    columns = np.argsort(-chosen, axis=1, kind="stable")[:, : study.profile.ahead.pool]
    rows, places = np.nonzero(np.isfinite(np.take_along_axis(chosen, columns, axis=1)))
    columns = columns[rows, places]
    table: dict[str, np.ndarray] = {}
    for name, values in scores.items():
        features = signal_features(name, values, pages.groups)
        table |= {feature: matrix[rows, columns] for feature, matrix in features.items()}
    table |= {name: matrix[rows, columns] for name, matrix in pages.kind_features(questions).items()}
    table |= {name: matrix[rows, pages.filing[columns]] for name, matrix in identity.items()}
    table |= {name: values[columns] for name, values in pages.features.items()}
    frame = pd.DataFrame(table)
    # trees depend on the order of the columns, so it stays as it was when the saved ones were trained
    frame.insert(frame.columns.get_loc("same_year"), "chosen", chosen[rows, columns])
    return Pool(rows, columns, frame.astype(np.float32))
