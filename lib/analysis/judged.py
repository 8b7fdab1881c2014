"""Measures in the manner of RAGAS (Es et al., 2024), by the small judge, each beside one that knows the gold.

Context precision asks whether useful chunks come before useless ones; the gold pages answer it, too. Answer relevance
asks whether an answer fits its question; ROUGE-L with the gold answer asks whether it is right.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.analysis.hand import judge_measured
from lib.answers.answers import answers, score
from lib.answers.prompt_context import Context
from lib.metrics.answer_relevance import answer_relevance
from lib.metrics.context_precision import context_precision, gold_precision
from lib.show.answers import context_title
from lib.show.display import number, with_interval
from lib.show.tables import title
from lib.stats import cluster_draws, clustered_bootstrap

PRECISION = ("Judged by the model", "Judged by gold pages")
RELEVANCE = ("Answer relevance", "ROUGE-L with the gold answer")


def precisions(study, methods: Sequence[str], k: int) -> pd.DataFrame:
    """Context precision of the first ``k`` chunks: name (title of the method), question_id, judged, gold."""
    parts = [
        pd.DataFrame(
            {
                "name": title(name),
                "judged": context_precision(study, study.run(name), k),
                "gold": gold_precision(study, study.run(name), k),
            }
        )
        for name in methods
    ]
    return pd.concat(parts).rename_axis("question_id").reset_index()


def relevances(study, contexts: Sequence[Context]) -> pd.DataFrame:
    """Answer relevance and ROUGE-L of answers: name (title of the context), question_id, judged, gold."""
    parts = []
    for one in contexts:
        written = answers(study, one)
        judged = answer_relevance(study, written)
        found = score(study, written)
        gold = found[found["metric"] == "answer_rouge_l"].set_index("question_id")["value"]
        parts.append(
            pd.DataFrame({"name": context_title(one), "judged": judged, "gold": gold.reindex(judged.index)})
        )
    return pd.concat(parts).rename_axis("question_id").reset_index()


def judged_table(study, values: pd.DataFrame, first: str, heads: Sequence[str]) -> pd.DataFrame:
    """The means of both measures with intervals over companies, and their rank correlation over questions.

    Args:
        study: gives companies and the settings ``significance``.
        values: of :func:`precisions` or :func:`relevances`.
        first: head of the first column.
        heads: of the judged and of the gold measure.
    """
    settings, rows = study.profile.significance, []
    company = study.questions.set_index("question_id")["company"]
    for name, part in values.groupby("name", sort=False):
        groups, row = company.loc[part["question_id"]].to_numpy(), {first: name}
        for column, head in zip(("judged", "gold"), heads, strict=True):
            found = clustered_bootstrap(part[column].to_numpy(), groups, settings.n_draws, settings.seed)
            row[head] = with_interval(found.mean, found.low, found.high)
        together = rank_correlation(part["judged"], part["gold"], groups, settings.n_draws, settings.seed)
        row["Rank correlation"] = "–" if np.isnan(together[0]) else with_interval(*together)
        rows.append(row | {"n": len(part)})
    return pd.DataFrame(rows)


def rank_correlation(
    a: pd.Series, b: pd.Series, clusters: Sequence, n_draws: int, seed: int
) -> tuple[float, float, float]:
    """Spearman's correlation and its 95 % interval, drawing whole clusters; NaN where either is constant.

    The ranks are those among all values, also in a draw.
    """
    ranks = np.stack([a.rank().to_numpy(), b.rank().to_numpy()])
    codes, names = pd.factorize(np.asarray(clusters))
    drawn = _weighted_correlation(ranks, cluster_draws(len(names), n_draws, seed)[:, codes])
    if not (there := drawn[~np.isnan(drawn)]).size:
        return (float("nan"),) * 3
    low, high = np.quantile(there, [0.025, 0.975])
    return float(_weighted_correlation(ranks, np.ones((1, len(codes))))[0]), float(low), float(high)


def _weighted_correlation(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson's correlation of two rows of values under each row of weights, shape (n_weights,)."""
    total = weights.sum(axis=1)
    mean = weights @ values.T / total[:, None]
    product = weights @ (values[0] * values[1]) / total - mean.prod(axis=1)
    variance = weights @ (values**2).T / total[:, None] - mean**2
    scale = np.sqrt(variance.clip(0).prod(axis=1))
    return np.divide(product, scale, out=np.full(len(weights), np.nan), where=scale > 1e-9)


def labels_table(study, judged: pd.DataFrame) -> pd.DataFrame:
    """How often the judge says each label, and how often the chunk then is on a gold page."""
    counted = judge_measured(study, judged)
    return pd.DataFrame(
        {
            "Label": counted.index.str.lower(),
            "Pairs": counted["n"],
            "Of all pairs (%)": [number(100 * share, 0) for share in counted["share"]],
            "On a gold page": counted["n_gold"],
            "On a gold page (%)": [number(100 * share, 1) for share in counted["gold_share"]],
        }
    )
