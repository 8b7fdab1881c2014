"""What an approximate search in a vector store loses against an exact one, and what it takes."""

import os
import time
from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.method_sets import measured
from lib.models.vectors import chunk_index, of_windows
from lib.retrievers.chroma import n_windows, where_of
from lib.retrievers.dense import question_vectors
from lib.schema import CONDITIONS, Condition, or_without_filings
from lib.study import Study

EXACT, IN_STORE = "dense", "dense_chroma"
TIME_COLUMNS = "condition method search_s low_s high_s n_questions n_windows machine".split()
N_TIMED, SEED = 20, 13  # questions, and how they are drawn


def conditions(study: Study) -> list[Condition]:
    """Those under which both searches were run, or can be."""
    wanted = [run[1] for run in measured(study.profile) if run[0] == IN_STORE]
    return [one for one in CONDITIONS if one in wanted and study.has_run(IN_STORE, one) and study.has_run(EXACT, one)]


def agreement(exact: pd.DataFrame, found: pd.DataFrame, depths: Sequence[int]) -> pd.DataFrame:
    """The share of the first k chunks of an exact run that are among the first k of another: questions × depths."""
    shares = {}
    for k in depths:
        first, other = (run.loc[run["rank"] <= k, ["question_id", "chunk_id"]] for run in (exact, found))
        both = first.merge(other, how="left", indicator="is_found")
        shares[k] = both["is_found"].eq("both").groupby(both["question_id"], sort=False).mean()
    return pd.DataFrame(shares)


def times(study: Study) -> pd.DataFrame:
    """Median seconds of :func:`search_times`, conditions × methods; no rows where no search was, or can be, timed."""
    found = or_without_filings(lambda: search_times(study)) if conditions(study) else None
    found = pd.DataFrame(columns=TIME_COLUMNS) if found is None else found
    found = found.pivot(index="condition", columns="method", values="search_s")
    return found.reindex(columns=[EXACT, IN_STORE]).astype(float)


def search_times(study: Study) -> pd.DataFrame:
    """Seconds to find the nearest windows of a question whose vector is known, one question at a time; stored.

    Returns:
        A row per condition and method, EXACT (a product with all vectors in memory) or IN_STORE: median ``search_s``,
        quartiles ``low_s`` and ``high_s``, ``n_questions``, ``n_windows`` that are found at most, and machine.
    """
    params = {"chunks": study.digest("chunks"), "questions": study.digest("questions")}
    params["settings"] = study.settings_of(("embedder", "run"))
    return study.store.frame("speed/vector-store", params, lambda: _search_times(study), public=True)


def _search_times(study: Study) -> pd.DataFrame:
    study.need_filings("timing a search")
    rows, chunks, (table, owners, texts) = [], study.chunks[["doc_name", "page"]], of_windows(study)
    asked = study.questions.reset_index(drop=True).sample(min(N_TIMED + 1, len(study.questions)), random_state=SEED)
    if len(asked) < 2:  # the first question loads the graph, and is not timed
        return pd.DataFrame(columns=TIME_COLUMNS)
    queries, n = question_vectors(study), n_windows(study, owners)
    with chunk_index(study, table, owners, texts) as (index, vectors):
        for condition in CONDITIONS:
            taken = []
            for row in asked.index:
                query, allowed = queries[row], study.candidates(condition)[row]
                where = where_of(chunks, allowed)
                taken.append([time.perf_counter()])
                nearest(vectors if allowed.all() else vectors[allowed[owners]], query, n)
                taken[-1].append(time.perf_counter())
                index.nearest(query, n, where)
                taken[-1].append(time.perf_counter())
            seconds = np.diff(taken)[1:]
            for method, values in zip((EXACT, IN_STORE), seconds.T, strict=True):
                quartiles = np.quantile(values, [0.5, 0.25, 0.75])
                rows.append((condition, method, *quartiles, len(values), n, f"{os.cpu_count()} cores"))
    return pd.DataFrame(rows, columns=TIME_COLUMNS)


def nearest(vectors: np.ndarray, query: np.ndarray, n: int) -> np.ndarray:
    """The rows of the n vectors with the highest cosines, in falling order."""
    cosines = vectors @ query
    best = np.argpartition(-cosines, n - 1)[:n] if n < len(cosines) else np.arange(len(cosines))
    return best[np.argsort(-cosines[best], kind="stable")]
