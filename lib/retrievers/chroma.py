"""Dense retrieval as Kobeissi & Langlais (2026) run it: all chunks in one Chroma collection, similarity search.

The collection is a graph of near windows (HNSW; Malkov & Yashunin, TPAMI 2020), walked to the windows nearest to a
question; what an exact search finds may be missed. Which chunks compete is a filter by filing and page (``where``). A
chunk scores as its best window that the search returns. The graph differs by the order in which filings are written.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from lib.method import Search
from lib.models.index import HNSW, chunk_of
from lib.models.vectors import chunk_index, of_windows
from lib.retrievers.dense import question_vectors


def where_of(places: pd.DataFrame, allowed: np.ndarray, others: Iterable[str] = ()) -> dict | None:
    """Chroma's filter for the pages of the allowed chunks; None where nothing else is in the collection.

    Args:
        places: doc_name and page of each chunk.
        allowed: boolean, shape (n_chunks,), with one chunk or more; of a page all chunks or none.
        others: filings of the collection that have no chunk here.
    """
    if allowed.all() and not [*others]:
        return None
    pages = places[allowed].groupby("doc_name", sort=False)["page"].unique()
    in_part = pages.index.isin(places[~allowed]["doc_name"])
    clauses = [{"doc_name": {"$in": [*pages.index[~in_part]]}}] if not in_part.all() else []
    for name, wanted in pages[in_part].items():
        clauses.append({"$and": [{"doc_name": name}, {"page": {"$in": wanted.tolist()}}]})
    return clauses[0] if len(clauses) == 1 else {"$or": clauses}


def n_windows(search: Search, owners: np.ndarray) -> int:
    """So many windows that they are of as many chunks as a run has, up to those that the search looks at; ``owners``
    has the chunk that each window lies in."""
    return min(search.profile.run.depth * int(np.bincount(owners).max()), HNSW["ef_search"])


def score(search: Search, candidates: np.ndarray) -> np.ndarray:
    """Cosine between the question and the best window of each chunk among the nearest windows, else ``-inf``, shape
    (n_questions, n_chunks)."""
    chunks, queries = search.chunks, question_vectors(search)
    places, columns = chunks[["doc_name", "page"]], pd.Index(chunks["chunk_id"])
    table, owners, texts = of_windows(search)
    n = n_windows(search, owners)
    scores = np.full(candidates.shape, -np.inf, np.float32)
    with chunk_index(search, table, owners, texts) as (index, _):
        others = index.filings().keys() - {*places["doc_name"]}
        for query, allowed, row in zip(queries, candidates, scores, strict=True):
            if allowed.any():
                nearest = index.nearest(query, n, where_of(places, allowed, others))
                np.maximum.at(row, columns.get_indexer(nearest.index.map(chunk_of)), nearest.to_numpy(np.float32))
    return np.where(candidates, scores, -np.inf)
