"""Page recall against what a generator reads, chunks or tokens, on each question set, with what each method needs."""

import pandas as pd

from lib.analysis import reading
from lib.analysis.strict_folds import TRAINED, strictest_of
from lib.evaluation import evaluate_all
from lib.method_sets import over_all_filings
from lib.methods import METHODS, RECORDS, TEXTS, TRAINING
from lib.stats import Resampling, means
from lib.study import Study

#: Searches of all filings, those after a metadata match, and trained rows.
ROWS = (
    *("dense", "bm25", "hybrid_rrf", "fixed_128", "multi_hyde_rerank"),
    *("dense_records", "hybrid_rrf_records", "parent_child_records", "fixed_128_records"),
    *("parent_child_covers", "fixed_128_covers"),
    *("ahead_covers", "ahead"),
)
NEEDED = {"metadata": RECORDS, "labels": TRAINING, "language_model": TEXTS}
CHUNKS, TOKENS = UNITS = ("chunks", "tokens")
COLUMNS = ["set", "method", "title", "unit", "budget", "page_recall", "low", "high", "n", *NEEDED]


def recalls(study: Study, methods: list[str]) -> dict[tuple[str, int], pd.DataFrame]:
    """Page recall (questions × methods) within each budget, by unit and budget; of trained rows by their strictest
    folds where the first k chunks are read and these are known at every k, else by the folds of their runs."""
    metrics, found, ks = evaluate_all(study, methods, ["standard"]), {}, study.profile.metrics.ks
    strict = {k: strictest_of(study, [name for name in methods if name in TRAINED], k) for k in ks}
    strictly = set.intersection(*({*of_k} for of_k in strict.values()))
    for k in ks:
        columns = {name: metrics[name, "page_recall", k] for name in methods}
        columns |= {name: strict[k][name]["page_recall"] for name in strictly}
        found[CHUNKS, k] = pd.DataFrame(columns)
    values = reading.values(study, methods)
    for tokens in reading.BUDGETS:
        found[TOKENS, tokens] = reading.within(values, "page_recall", tokens)
    return found


def by_budget(sets: dict[str, Study]) -> pd.DataFrame:
    """COLUMNS: page recall with its interval of ROWS that each set measures, within each budget."""
    parts = []
    for name, study in sets.items():
        here = [method for method in ROWS if method in over_all_filings(study.profile)]
        draws = Resampling.of(study)
        for (unit, budget), values in recalls(study, here).items():
            if values.empty:
                continue
            levels = means(values, draws).rename(columns={"mean": "page_recall"}).rename_axis("method").reset_index()
            parts.append(levels.assign(set=name, unit=unit, budget=budget))
    found = pd.concat(parts, ignore_index=True)
    rows = found["method"].map(METHODS)
    found["title"] = [row.title for row in rows]
    for name, need in NEEDED.items():
        found[name] = [need in row.needs for row in rows]
    return found[COLUMNS]
