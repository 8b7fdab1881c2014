"""Candidate (question, page) pairs with their features.

A signal is a matrix of scores by head, windows or words, shape (n_questions, n_pages), in the order of ``study.pages``.
It is given in several ways, as a ranker must first find the filing, then the page in it: standardised over all pages;
standing, rank and gap within the filing; the filing's best; the better neighbour's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.ahead.pages import FilingGroups, standardised
from lib.models import index
from lib.retrievers.identity import Identity
from lib.study import Study


def head_vectors(study: Study, identities: Sequence[Identity]) -> np.ndarray:
    """Unit vectors of each page's beginning behind its filing's identity, shape (n_pages, n_dimensions); stored."""
    header = {one.doc_name: one.header for one in identities}
    limit = study.profile.ahead.head_characters
    pages = zip(study.pages["doc_name"], study.pages["text"], strict=True)
    texts = [f"{header[doc_name]}\n{' '.join(text.split())[:limit]}" for doc_name, text in pages]
    return index.encode_texts(study, "embeddings/ahead-heads", texts)


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
