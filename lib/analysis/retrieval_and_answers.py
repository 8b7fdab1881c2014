"""Does better retrieval give better answers? Answers split by whether the page was there, and correlations."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lib.analysis.breakdowns import MARK, group_interval
from lib.answers.prompt_context import Context
from lib.show.display import number, with_interval
from lib.show.tables import values_of
from lib.stats import LEVEL, Interval, cluster_draws


def split_by_page(
    study, metrics: pd.DataFrame, contexts: Sequence[Context], metric: str, k: int
) -> pd.DataFrame:
    """A metric of the answers where a gold page was among the top k, and where none was.

    Returns:
        context (a name, or ``all`` of them pooled), is_there, mean, low, high, n, n_companies, is_small.
    """
    settings = study.profile.significance
    companies = study.questions.set_index("question_id")["company"]
    parts = [_pairs(metrics, context, metric, "page_hit", k) for context in contexts]
    rows = []
    for name, part in [(context.name, part) for context, part in zip(contexts, parts, strict=True)] + [
        ("all", pd.concat(parts))
    ]:
        for is_there in (True, False):
            values = part.loc[(part["retrieval"] > 0) == is_there, "answer"]
            if len(values):
                owners = pd.Series(companies[values.index].to_numpy(), range(len(values)))
                draws = (settings.n_draws, settings.seed)
                found, is_small = group_interval(
                    values.reset_index(drop=True), owners, *draws, widen_equal=True
                )
                rows.append((name, is_there, *found, is_small))
    columns = ["context", "is_there", "mean", "low", "high", "n", "n_companies", "is_small"]
    return pd.DataFrame(rows, columns=columns)


def split_table(split: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """The split as it is printed: one row a context, page there and page missing side by side."""
    rows = []
    for name, part in split.groupby("context", sort=False):
        row = {"Context": titles.get(name, "all of them")}
        for is_there, head in ((True, "page there"), (False, "page missing")):
            found = part[part["is_there"] == is_there]
            shown = [
                with_interval(r.mean, r.low, r.high) + (MARK if r.is_small else "")
                for r in found.itertuples()
            ]
            row[head.capitalize()] = shown[0] if shown else "–"
            row[f"n ({head})"] = int(found["n"].sum())
        rows.append(row)
    return pd.DataFrame(rows)


def _pairs(metrics: pd.DataFrame, context: Context, metric: str, retrieval: str, k: int) -> pd.DataFrame:
    answer = values_of(metrics, context.method, context.condition, metric, None)
    found = values_of(metrics, context.method, context.condition, retrieval, k)
    return pd.DataFrame({"answer": answer, "retrieval": found.reindex(answer.index)})


def correlations(
    study, metrics: pd.DataFrame, contexts: Sequence[Context], wanted: Sequence[str], k: int
) -> pd.DataFrame:
    """Spearman's correlation of page recall at k with each metric of the answers, over questions and contexts pooled.

    Returns:
        metric, and an interval (companies drawn with replacement; ranks are those of the whole).
    """
    settings, rows = study.profile.significance, []
    companies = study.questions.set_index("question_id")["company"]
    for metric in wanted:
        pooled = pd.concat([_pairs(metrics, context, metric, "page_recall", k) for context in contexts])
        owners = companies[pooled.index].to_numpy()
        found = rank_correlation(
            pooled["retrieval"], pooled["answer"], owners, settings.n_draws, settings.seed
        )
        rows.append((metric, *found))
    return pd.DataFrame(rows, columns=["metric", "mean", "low", "high", "n", "n_companies"])


def correlations_table(found: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """The correlations as they are printed; a dash where one of the two never varies."""
    shown = [
        "–" if np.isnan(row.mean) else with_interval(row.mean, row.low, row.high)
        for row in found.itertuples()
    ]
    return pd.DataFrame(
        {
            "Metric of the answers": found["metric"].map(titles),
            "Spearman's ρ with page recall": shown,
            "n (question, context)": found["n"],
        }
    )


def rank_correlation(x: pd.Series, y: pd.Series, clusters: Sequence, n_draws: int, seed: int) -> Interval:
    """Spearman's correlation and its percentile interval, drawing clusters with replacement.

    A draw in which one of the two does not vary has no correlation and is left out; where the whole has none, all
    three numbers are missing.
    """
    a, b = (values.rank().to_numpy(float) for values in (x, y))
    codes, names = pd.factorize(np.asarray(clusters))
    columns = [np.ones(len(a)), a, b, a * a, b * b, a * b]
    sums = np.stack([np.bincount(codes, column) for column in columns], axis=1)
    drawn, whole = (
        _pearson(cluster_draws(len(names), n_draws, seed) @ sums),
        float(_pearson(sums.sum(axis=0))),
    )
    edges = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = np.nanquantile(drawn, edges) if np.isfinite(drawn).any() else (np.nan, np.nan)
    return Interval(whole, float(low), float(high), len(a), len(names))


def _pearson(sums: np.ndarray) -> np.ndarray:
    n, a, b, aa, bb, ab = np.moveaxis(sums, -1, 0)
    spread = (n * aa - a * a) * (n * bb - b * b)
    return np.where(spread > 1e-9, (n * ab - a * b) / np.sqrt(np.maximum(spread, 1e-9)), np.nan)


def points(
    metrics: pd.DataFrame,
    contexts: Sequence[Context],
    titles: Mapping[str, str],
    wanted: Sequence[str],
    k: int,
) -> pd.DataFrame:
    """The means of each context: context (title), page_recall at k (0 without retrieval), and a column a metric."""
    rows = []
    for context in contexts:
        key = (context.method, context.condition)
        found = values_of(metrics, *key, "page_recall", k)
        row = {"context": titles[context.name], "page_recall": found.mean() if len(found) else 0.0}
        rows.append(row | {metric: values_of(metrics, *key, metric, None).mean() for metric in wanted})
    return pd.DataFrame(rows)


def rho(table: pd.DataFrame, metric: str) -> str:
    """Spearman's correlation of page recall with a metric over a few contexts, in print; a dash where none varies."""
    ranks = table[["page_recall", metric]].rank()
    return number(ranks.corr().iloc[0, 1] if (ranks.nunique() > 1).all() else np.nan)
