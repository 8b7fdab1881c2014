"""A metadata match before any search: the filings whose identity fits the question come first.

Company, period and form of the question are matched with each filing's, by untrained weights. Another method ranks the
chunks of the filings that fit best, then those of all others. A question without a company searches all filings.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from lib import runs
from lib.filings.identity import Identity, filing_identities, identity_features
from lib.method import Search, memoized

SLACK = 1e-4  # of the fit: sums of the same weights differ by rounding


@memoized
def identities(search: Search, is_from_covers: bool) -> list[Identity]:
    """The identity of every filing, in the order of ``filings``, from dataset fields or from its first pages alone."""
    return filing_identities(search.filings, search.pages, is_from_covers)


@memoized
def identity_of(search: Search) -> dict[str, Identity]:
    """The identity of each filing from dataset fields, by doc_name, in the order of ``filings``."""
    return {one.doc_name: one for one in identities(search, False)}


def inputs(search: Search, *, covers: bool) -> list[list[str]]:
    """What the match depends on beside the questions, JSON-able: each filing's identity without the printed form."""
    found = (identity._asdict() for identity in identities(search, covers))
    return [[str(value) for name, value in one.items() if name != "form"] for one in found]


def fits_best(questions: list[str], filings: list[Identity]) -> np.ndarray:
    """Whether no filing fits a question better, shape (n_questions, n_filings); every filing where none is named."""
    features = identity_features(questions, filings)
    best = features["identity"] >= features["identity"].max(axis=1, keepdims=True) - SLACK
    return best | (features["company"].max(axis=1, keepdims=True) <= 0)


def run_within(
    search: Search, candidates: np.ndarray, covers: bool, rank: Callable[[np.ndarray], pd.DataFrame]
) -> pd.DataFrame:
    """A run: what ``rank`` finds among the candidates of the filings that fit best, then what it finds elsewhere."""
    best = fits_best(search.questions["question"].tolist(), identities(search, covers))
    of_chunk = pd.Index(search.filings["doc_name"]).get_indexer(search.chunks["doc_name"])
    run = pd.concat([rank(candidates & best[:, of_chunk]), rank(candidates)], ignore_index=True)
    run = run.drop_duplicates(["question_id", "chunk_id"], ignore_index=True)
    return run.assign(rank=run.groupby("question_id", sort=False).cumcount() + 1)


def score(search: Search, candidates: np.ndarray, *, method: str, covers: bool) -> np.ndarray:
    """Minus the rank, shape (n_questions, n_chunks), in :func:`run_within` by the row ``method``."""
    depth = search.profile.run.depth
    run = run_within(search, candidates, covers, lambda allowed: search.rank_method(method, allowed, depth))
    return runs.to_matrix(run, search.questions, search.chunks, -run["rank"].to_numpy(np.float32))
