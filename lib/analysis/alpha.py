"""The weight of dense against BM25, swept from 0 to 1 by 0.025 (Kim et al., 2025), and chosen inside folds.

The best weight over all questions is a peek: it was chosen by the questions it is scored on. What the choice is worth
is what it gives in folds by company, whose test questions had no say in it.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from lib.code import code_hash
from lib.folds import Fold, make_folds
from lib.metrics import retrieval
from lib.retrievers import bm25, convex, convex_folds, dense
from lib.retrievers.convex_folds import ALPHAS, CHOSEN_BY, METRICS, alpha_values, best_alpha, chosen_alphas
from lib.stats import LEVEL, cluster_draws

STAGE = "siblings/alpha"
HEADS = ("Document recall@5", "Page recall@5", "nDCG@10")  # of METRICS


def sweep(study) -> pd.DataFrame:
    """What every ``alpha`` gives each question under the standard condition, stored; see :func:`alpha_values`."""
    settings = ("embedder", "bm25")

    def params() -> dict:
        return {
            "chunks": study.chunks_digest,
            "questions": study.questions_digest,
            "settings": study.settings_of(settings),
            "depth": study.profile.run.depth,
            "alphas": list(ALPHAS),
            "code": [code_hash(module) for module in (convex, convex_folds, dense, bm25, retrieval)],
        }

    def compute(target: Path) -> None:
        table = alpha_values(study, study.candidates("standard"))
        table.to_csv(target / "values.csv", index=False)

    path = study.shared(STAGE, params, compute, settings=settings).path / "values.csv"
    return pd.read_csv(path, dtype={"question_id": str}, float_precision="round_trip")


def best_interval(values: pd.DataFrame, companies: pd.Series, n_draws: int, seed: int) -> tuple[float, float]:
    """Where the best ``alpha`` lies when the questions are drawn anew: the interval of its bootstrap by company.

    Args:
        values: from :func:`sweep`.
        companies: the company of each question, indexed by question_id.
        n_draws, seed: of the bootstrap.
    """
    table = values.pivot(index="question_id", columns="alpha", values=CHOSEN_BY)
    groups = table.groupby(companies.reindex(table.index).to_numpy())
    draws = cluster_draws(groups.ngroups, n_draws, seed)
    means = (draws @ groups.sum().to_numpy()) / (draws @ groups.size().to_numpy())[:, None]
    best = table.columns.to_numpy()[means.round(12).argmax(axis=1)]
    low, high = np.quantile(best, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def folds_of(study, n_folds: int, seed: int) -> list[Fold]:
    """The folds by company that the choice is made in."""
    return make_folds(study.questions, study.filings, "company", n_folds, seed)


def held_out(values: pd.DataFrame, folds: list[Fold], questions: pd.DataFrame) -> pd.DataFrame:
    """Each question with the ``alpha`` that the other folds' questions chose.

    Returns:
        question_id, fold, alpha and METRICS, in the questions' order.
    """
    ids = questions["question_id"]
    chosen = pd.DataFrame({"question_id": ids, "fold": 0, "alpha": 0.0})
    for fold, alpha in zip(folds, chosen_alphas(values, folds, ids), strict=True):
        chosen.loc[list(fold.test), "fold"] = fold.number
        chosen.loc[list(fold.test), "alpha"] = alpha
    return chosen.merge(values, on=["question_id", "alpha"], how="left", validate="one_to_one")


def summary(values: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """BM25 alone, dense alone, the peek and the held-out choice: what, alpha (a range where it differs), METRICS, n."""
    peek = best_alpha(values)
    rows = [("BM25 alone", 0.0), ("dense alone", 1.0), ("best over all questions (a peek)", peek)]
    found = [
        {"what": what, "alpha": f"{alpha:g}"}
        | values[values["alpha"] == alpha][list(METRICS)].mean().to_dict()
        for what, alpha in rows
    ]
    low, high = chosen["alpha"].min(), chosen["alpha"].max()
    span = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    found.append(
        {"what": "chosen in folds by company", "alpha": span} | chosen[list(METRICS)].mean().to_dict()
    )
    return pd.DataFrame(found).assign(n=len(chosen))
