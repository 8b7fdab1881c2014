"""The tables of chapter 08: the rows of one sibling study, each beside the row that it changes."""

from collections.abc import Sequence

import pandas as pd

from lib.methods import METHODS
from lib.show.display import number, with_interval
from lib.show.tables import title, values_of
from lib.stats import clustered_bootstrap, compare, holm

#: What a row changes, where that is not plain dense retrieval.
REFERENCE = {
    "bm25_k12": "bm25",
    "multi_query": "dense",
    "keyword_query": "hybrid_rrf",
    "lm_expansion": "hybrid_rrf",
    "crag": "hybrid_rrf",
    "selection_agent": "hybrid_rrf",
    "contextual_hybrid": "hybrid_rrf",
    "contextual_header_hybrid": "hybrid_rrf",
    "hybrid_rerank": "hybrid_rrf",
}
SHOWN = (("doc_recall", 5), ("page_recall", 5), ("mrr", 10), ("ndcg", 10))
DIFFERENCE = ("Page recall: difference", "from", "p (Holm)")
HEADS = {
    "doc_recall": "Document recall",
    "page_recall": "Page recall",
    "mrr": "MRR",
    "ndcg": "nDCG",
    "map": "MAP",
}


def reference_of(method: str) -> str:
    """The row that another one changes: hybrid retrieval for fusions, BM25 over other chunks for BM25, else dense."""
    if method in REFERENCE:
        return REFERENCE[method]
    if method.startswith(("convex_", "rrf_")):
        return "hybrid_rrf"
    return "bm25" if method.endswith("_bm25") else "dense"


def against_reference(
    study, metrics: pd.DataFrame, methods: Sequence[str], metric: str = "page_recall", k: int = 5
) -> pd.DataFrame:
    """Each row against the one that it changes, corrected for all rows together.

    Returns:
        Indexed by method: reference and the columns of :func:`lib.stats.compare`; ``p_holm`` is over all
        the rows.
    """
    settings = study.profile.significance
    company = study.questions.set_index("question_id")["company"]
    parts = []
    for name in methods:
        base = values_of(metrics, reference_of(name), "standard", metric, k)
        own = values_of(metrics, name, "standard", metric, k).reindex(base.index)
        part = compare(base, {name: own}, company.reindex(base.index), settings.n_draws, settings.seed)
        parts.append(part.assign(reference=reference_of(name)))
    table = pd.concat(parts)
    table["p_holm"] = holm(table["p"].to_numpy(float))
    return table


def family_table(study, metrics: pd.DataFrame, methods: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of a study with intervals, and their page recall against the rows that they change.

    The reference rows come first, so that a reader sees what is changed.

    Returns:
        What is printed, and its numbers: method, metric, k, mean, low, high, n.
    """
    settings = study.profile.significance
    company = study.questions.set_index("question_id")["company"]
    references = [name for name in dict.fromkeys(map(reference_of, methods)) if name not in methods]
    tested = against_reference(study, metrics, methods)
    shown, numbers = [], []
    for name in [*references, *methods]:
        row = {"Method": title(name)}
        for metric, k in SHOWN:
            values = values_of(metrics, name, "standard", metric, k)
            found = clustered_bootstrap(
                values, company.reindex(values.index), settings.n_draws, settings.seed
            )
            row[f"{HEADS[metric]}@{k}"] = with_interval(found.mean, found.low, found.high)
            numbers.append((name, metric, k, found.mean, found.low, found.high, found.n))
        row |= _difference(tested.loc[name]) if name in tested.index else dict.fromkeys(DIFFERENCE, "–")
        shown.append(row | {"n": found.n})
    columns = ["method", "metric", "k", "mean", "low", "high", "n"]
    return pd.DataFrame(shown), pd.DataFrame(numbers, columns=columns)


def _difference(row: pd.Series) -> dict[str, str]:
    told = (
        with_interval(row["difference"], row["low"], row["high"]),
        title(row["reference"]),
        number(row["p_holm"], 3),
    )
    return dict(zip(DIFFERENCE, told, strict=True))


def takeaway(study, metrics: pd.DataFrame, methods: Sequence[str]) -> str:
    """Which rows can be told from what they change, in one sentence."""
    tested = against_reference(study, metrics, methods)
    apart = tested[tested["p_holm"] < 0.05]
    better = ", ".join(title(name) for name in apart.index[apart["difference"] > 0]) or "none"
    worse = ", ".join(title(name) for name in apart.index[apart["difference"] < 0]) or "none"
    return f"Better than the row that they change, told from chance: {better}. Worse: {worse}."


def pipelines(methods: Sequence[str]) -> pd.DataFrame:
    """What the rows do, as the chapter's first table; cells are markup."""
    rows = [METHODS[name] for name in methods]
    return pd.DataFrame(
        {
            "Method": [row.title for row in rows],
            "Name": [f"`{row.name}`" for row in rows],
            "Pipeline": [row.pipeline for row in rows],
            "Source": [row.citation() for row in rows],
        }
    )


def depths_table(study, metrics: pd.DataFrame, methods: Sequence[str], ks: Sequence[int]) -> pd.DataFrame:
    """Page recall at several depths, and MAP@10."""
    rows = []
    for name in methods:
        means = {f"@{k}": number(values_of(metrics, name, "standard", "page_recall", k).mean()) for k in ks}
        precision = values_of(metrics, name, "standard", "map", 10).mean()
        rows.append(
            {"Method": title(name)} | means | {"MAP@10": number(precision), "n": len(study.questions)}
        )
    return pd.DataFrame(rows)


def left_out(family: str, run: Sequence[str]) -> str:
    """A sentence on the rows of a study that the profile does not run; empty where it runs all."""
    absent = [row.title for row in METHODS.values() if row.family == family and row.name not in run]
    return f"Not run in this profile: {', '.join(absent)}." if absent else ""
