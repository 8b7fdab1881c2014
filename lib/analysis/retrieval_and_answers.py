"""Does better retrieval give better answers? Answers split by whether the page was there, and correlations."""

from collections.abc import Mapping, Sequence

import pandas as pd

from lib.analysis.breakdowns import group_interval
from lib.answers.prompt_context import Context
from lib.metrics.frame import values_of
from lib.stats import Resampling
from lib.study import Study

SPLIT = ["context", "is_there", "mean", "low", "high", "n", "n_companies", "is_small"]


def split_by_page(
    study: Study, metrics: pd.DataFrame, contexts: Sequence[Context], metric: str, k: int
) -> pd.DataFrame:
    """A metric of the answers where a gold page was among the top k, and where none was.

    Returns:
        SPLIT: context (a name, or ``all`` of them pooled), whether the page was there, and the interval.
    """
    draws, rows = Resampling.of(study), []
    parts = {context.name: _pairs(metrics, context, metric, "page_hit", k) for context in contexts}
    for name, part in (parts | {"all": pd.concat(parts.values())}).items():
        for is_there in (True, False):
            values = part.loc[(part["retrieval"] > 0) == is_there, "answer"]
            if len(values):
                found, is_small = group_interval(draws, values, widen_equal=True)
                rows.append((name, is_there, *found, is_small))
    return pd.DataFrame(rows, columns=SPLIT)


def _pairs(metrics: pd.DataFrame, context: Context, metric: str, retrieval: str, k: int) -> pd.DataFrame:
    answer = values_of(metrics, context.method, context.condition, metric, None)
    found = values_of(metrics, context.method, context.condition, retrieval, k)
    return pd.DataFrame({"answer": answer, "retrieval": found.reindex(answer.index)})


def correlations(
    study: Study, metrics: pd.DataFrame, contexts: Sequence[Context], wanted: Sequence[str], k: int
) -> pd.DataFrame:
    """Spearman's correlation of page recall at k with each metric of the answers, over questions and contexts pooled.

    Returns:
        metric, and an interval: mean, low, high, n, n_companies (companies drawn with replacement).
    """
    draws, rows = Resampling.of(study), []
    for metric in wanted:
        pooled = pd.concat([_pairs(metrics, context, metric, "page_recall", k) for context in contexts])
        rows.append((metric, *draws.rank_correlation(pooled["retrieval"], pooled["answer"])))
    return pd.DataFrame(rows, columns=["metric", "mean", "low", "high", "n", "n_companies"])


def points(
    metrics: pd.DataFrame,
    contexts: Sequence[Context],
    titles: Mapping[str, str],
    wanted: Sequence[str],
    k: int,
) -> pd.DataFrame:
    """The means of each context: context (title), page_recall at k (0 without retrieval), and a column per metric."""
    rows = []
    for context in contexts:
        key = (context.method, context.condition)
        found = values_of(metrics, *key, "page_recall", k)
        row = {"context": titles[context.name], "page_recall": found.mean() if len(found) else 0.0}
        rows.append(row | {metric: values_of(metrics, *key, metric, None).mean() for metric in wanted})
    return pd.DataFrame(rows)


def spearman(table: pd.DataFrame, metric: str) -> float:
    """Spearman's correlation of page recall with a metric over the rows of :func:`points`; NaN if one is constant."""
    ranks = table[["page_recall", metric]].rank()
    return float(ranks.corr().iloc[0, 1]) if (ranks.nunique() > 1).all() else float("nan")
