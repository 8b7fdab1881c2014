"""Candidate (question, page) pairs with their features. No neural model.

Each signal is given in several ways: standardised over all pages, standing, rank and gap within the filing, the
filing's best, the better neighbour's. A ranker must first find the filing, then the page in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.ahead.fit import identity_features, kind_features
from lib.ahead.pages import FilingGroups, standardised
from lib.ahead.signals import Encode, described_pages, identities, signals
from lib.models import index
from lib.study import Study


@dataclass(frozen=True)
class Pool:
    """Pairs of question and page.

    Attributes:
        rows: question of each pair, not falling.
        columns: page of each pair.
        table: one column per feature, one row per pair, float32.
    """

    rows: np.ndarray
    columns: np.ndarray
    table: pd.DataFrame

    def part(self, pairs: np.ndarray) -> "Pool":
        """The pairs that a boolean mask keeps."""
        return Pool(self.rows[pairs], self.columns[pairs], self.table[pairs])


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


def page_pool(
    study: Study,
    questions: Sequence[str],
    allowed: np.ndarray | None = None,
    encode: Encode = index.encode_queries,
) -> Pool:
    """The best pages of each question by a plain score, with their features.

    The plain score is the mean of the standardised window signals plus the fit of the filing's identity; nothing in it
    is trained.

    Args:
        study: gives the pages, and the number of pages per question (fewer if fewer are allowed).
        questions: the texts.
        allowed: which pages may be chosen, boolean, shape (n_questions, n_pages); None for all.
        encode: see :func:`lib.ahead.signals.signals`.
    """
    pages, scores = described_pages(study), signals(study, questions, encode)
    identity = identity_features(questions, identities(study))
    windows = (standardised(scores["window"]) + standardised(scores["window_expanded"])) / 2
    chosen = windows + identity["identity"][:, pages.filing]
    if allowed is not None:
        chosen = np.where(allowed, chosen, -np.inf)
    order = np.argsort(-chosen, axis=1, kind="stable")[:, : study.profile.ahead.pool]
    rows, columns = np.repeat(np.arange(len(questions)), order.shape[1]), order.ravel()
    is_allowed = np.isfinite(chosen[rows, columns])
    rows, columns = rows[is_allowed], columns[is_allowed]
    table: dict[str, np.ndarray] = {}
    for name, values in scores.items():
        features = signal_features(name, values, pages.groups)
        table |= {feature: matrix[rows, columns] for feature, matrix in features.items()}
    table |= {name: matrix[rows, columns] for name, matrix in kind_features(questions, pages).items()}
    table |= {name: matrix[rows, pages.filing[columns]] for name, matrix in identity.items()}
    table |= {name: values[columns] for name, values in pages.features.items()}
    frame = pd.DataFrame(table)
    # trees depend on the order of the columns, so it stays as it was when the saved ones were trained
    frame.insert(frame.columns.get_loc("same_year"), "chosen", chosen[rows, columns])
    return Pool(rows, columns, frame.astype(np.float32))
