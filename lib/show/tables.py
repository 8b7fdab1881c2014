"""The frames behind the tables: ours next to the published figures, with n and intervals."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pandas as pd
import yaml

from lib.evaluation import summarise
from lib.methods import METHODS
from lib.show.display import number, with_interval
from lib.stats import compare

METRIC_TITLES = {
    "doc_recall": "Document recall",
    "page_recall": "Page recall",
    "ctx_bleu": "BLEU",
    "ctx_rouge_l": "ROUGE-L",
    "ndcg": "nDCG",
    "mrr": "MRR",
}
HEADLINE = ("doc_recall", "page_recall", "ctx_bleu", "ctx_rouge_l")


@cache
def published_study() -> dict:
    """The published study's figures, as a nested dictionary."""
    return yaml.safe_load(Path(__file__).with_name("published_study.yaml").read_text())


def title(method: str) -> str:
    """A method's title."""
    return METHODS[method].title


def at_depth(metrics: pd.DataFrame, k: int, wanted: Sequence[str] = HEADLINE) -> pd.DataFrame:
    """The rows of some metrics at one depth."""
    return metrics[metrics["metric"].isin(wanted) & (metrics["k"] == k)]


def summary_at(study, metrics: pd.DataFrame, k: int = 5, wanted: Sequence[str] = HEADLINE) -> pd.DataFrame:
    """Means and intervals at one depth, see :func:`lib.evaluation.summarise`."""
    settings = study.profile.significance
    return summarise(at_depth(metrics, k, wanted), study.questions, settings.n_draws, settings.seed)


def results_table(summary: pd.DataFrame, condition: str, methods: Iterable[str]) -> pd.DataFrame:
    """One row a method: our means with intervals, the published figures where there are any, and n."""
    rows = []
    for method in methods:
        part = summary[(summary["method"] == method) & (summary["condition"] == condition)].set_index(
            "metric"
        )
        known = published_study()[condition].get(method, {})
        row = {"Method": title(method)}
        for metric in HEADLINE:
            ours = part.loc[metric]
            row[METRIC_TITLES[metric]] = with_interval(ours["mean"], ours["low"], ours["high"])
        published = [number(known[metric]) if metric in known else "–" for metric in HEADLINE]
        row["Published D / P / B / R"] = " / ".join(published) if known else "–"
        row["n"] = int(part["n"].iloc[0])
        rows.append(row)
    return pd.DataFrame(rows)


def conditions_table(
    summary: pd.DataFrame, methods: Iterable[str], conditions: Iterable[str]
) -> pd.DataFrame:
    """One row a method and condition: means of the headline metrics, and n."""
    indexed = summary.set_index(["method", "condition", "metric"])
    rows = []
    for method in methods:
        for condition in conditions:
            part = indexed.loc[method, condition]
            row = {"Method": title(method), "Condition": condition}
            row |= {METRIC_TITLES[metric]: number(part.loc[metric, "mean"]) for metric in HEADLINE}
            rows.append(row | {"n": int(part["n"].iloc[0])})
    return pd.DataFrame(rows)


def best(summary: pd.DataFrame, metric: str = "page_recall", condition: str = "standard") -> pd.Series:
    """The summary row of the method with the highest mean; ties go to the first name."""
    part = summary[(summary["metric"] == metric) & (summary["condition"] == condition)]
    return part.sort_values(["mean", "method"], ascending=[False, True]).iloc[0]


def values_of(
    metrics: pd.DataFrame, method: str, condition: str, metric: str, k: int | None = 5
) -> pd.Series:
    """One method's values by question id."""
    chosen = (
        (metrics["method"] == method) & (metrics["condition"] == condition) & (metrics["metric"] == metric)
    )
    at_k = metrics["k"].isna() if k is None else metrics["k"] == k
    return metrics[chosen & at_k].set_index("question_id")["value"]


def comparison_table(
    study,
    metrics: pd.DataFrame,
    reference: str,
    others: Sequence[str],
    metric: str,
    condition: str = "standard",
) -> pd.DataFrame:
    """Each method against a reference: difference with interval, Holm's p, and whether they can be told apart."""
    settings = study.profile.significance
    first = values_of(metrics, reference, condition, metric)
    company = study.questions.set_index("question_id")["company"].reindex(first.index)
    values = {name: values_of(metrics, name, condition, metric).reindex(first.index) for name in others}
    compared = compare(first, values, company, settings.n_draws, settings.seed).reset_index()
    return pd.DataFrame(
        {
            "Method": compared["method"].map(title),
            METRIC_TITLES[metric]: compared["mean"].map(number),
            f"Difference from {title(reference)}": [
                with_interval(row.difference, row.low, row.high) for row in compared.itertuples()
            ],
            "p (Holm)": compared["p_holm"].map(lambda p: f"{p:.3f}"),
            "Told apart": compared["distinguishable"].map({True: "yes", False: "no"}),
            "n": compared["n"],
        }
    )


def cost_table(study, methods: Iterable[str]) -> pd.DataFrame:
    """Seconds to index the filings and milliseconds a question, by method, from the store's own clock.

    A method that reads another's run also pays for that one. Times are those of the machine that computed the entry.
    """
    stages, n_questions, rows = study.seconds, len(study.questions), []
    for name in methods:
        chain = [name, *METHODS[name].uses]
        index = {stage for used in chain for stage in METHODS[used].index_stages}
        query = {stage for used in chain for stage in METHODS[used].query_stages}
        asked = sum(stages.get(stage, 0.0) for stage in query)
        asked += sum(stages.get(f"runs/standard/{used}", 0.0) for used in chain)
        rows.append(
            {
                "Method": title(name),
                "Index (s)": sum(stages.get(stage, 0.0) for stage in index),
                "Per question (ms)": 1000 * asked / n_questions,
            }
        )
    return pd.DataFrame(rows)


def oracle_page_check(summary: pd.DataFrame, methods: Iterable[str]) -> pd.DataFrame:
    """Our metrics under oracle page by method, and the published row below them."""
    part = summary[summary["condition"] == "oracle-page"].set_index(["method", "metric"])
    rows = [
        {"Source": title(method)}
        | {METRIC_TITLES[m]: number(part.loc[(method, m), "mean"]) for m in HEADLINE}
        for method in methods
    ]
    known = published_study()["oracle-page"]["best"]
    rows.append({"Source": "published"} | {METRIC_TITLES[m]: number(known[m]) for m in HEADLINE})
    return pd.DataFrame(rows)


def pool_table(study, metrics: pd.DataFrame, methods: Sequence[str], k: int) -> pd.DataFrame:
    """For each reranking method: its first stage's page recall at k, the pool's ceiling, and what reranking reached.

    ``Pool misses`` is the gold that the pool does not hold, ``Inversions`` the gold that it holds and that stands
    below the first k after reranking.
    """
    depth, rows = study.profile.rerank.n, []
    for method in methods:
        first = METHODS[method].uses[0]
        if first not in set(metrics["method"]):
            continue
        ceiling = values_of(metrics, first, "standard", "page_recall", depth).mean()
        reached = values_of(metrics, method, "standard", "page_recall", k).mean()
        before = values_of(metrics, first, "standard", "page_recall", k).mean()
        rows.append((title(method), before, ceiling, reached, 1 - ceiling, ceiling - reached))
    columns = [
        "Method",
        f"First stage @{k}",
        f"Pool ceiling @{depth}",
        f"Reranked @{k}",
        "Pool misses",
        "Inversions",
    ]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(**{column: frame[column].map(number) for column in columns[1:]})


def funnel(
    metrics: pd.DataFrame, method: str, ks: Sequence[int], condition: str = "standard"
) -> pd.DataFrame:
    """Mean document and page recall of a method at several depths."""
    rows = [
        {"k": k}
        | {
            metric: values_of(metrics, method, condition, metric, k).mean()
            for metric in ("doc_recall", "page_recall")
        }
        for k in ks
    ]
    return pd.DataFrame(rows)
