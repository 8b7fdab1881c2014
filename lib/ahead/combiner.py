"""The trained ranker of pages: a linear ranker plus boosted trees (LambdaMART; Burges, 2010).

The trees read some eighty features. The linear ranker is listwise, a softmax over a question's pages (ListNet with one
gold list; Cao et al., ICML 2007); its sixteen weights steady the trees where there is little to learn from.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from lib.ahead.pool import Pool
from lib.profile import Settings

if TYPE_CHECKING:
    import lightgbm  # takes seconds to load

FEATURES = (
    "window window_expanded window_expanded_standing head_expanded words_expanded words_expanded_standing statement_fit"
    " asked_items_best asked_items asked_titles company near_year same_year quarter_fit type_fit near_date".split()
)
CLIP = 5.0
TREES = {"objective": "lambdarank", "lambdarank_truncation_level": 10, "bagging_freq": 1, "verbose": -1}
REPEATABLE = {"num_threads": 1, "deterministic": True, "force_row_wise": True}


def linear_scores(linear: pd.DataFrame, table: pd.DataFrame) -> np.ndarray:
    """The score of each row of a table of features by a linear ranker, shape (n_rows,)."""
    return _inputs(linear, table) @ linear["weights"].to_numpy()


def _inputs(linear: pd.DataFrame, table: pd.DataFrame) -> np.ndarray:
    values = np.nan_to_num(table[linear["features"]].to_numpy(np.float64))
    return np.clip((values - linear["mean"].to_numpy()) / linear["scale"].to_numpy(), -CLIP, CLIP)


def fit_linear(pool: Pool, l2: float) -> pd.DataFrame:
    """Fit by L-BFGS: the mean over questions and their gold pages of ``-log softmax``, plus ``l2 |w|² / 2``.

    A question without gold in the pool is left out. The result has a row per feature: features, mean, scale, weights; a
    missing value counts as 0 before it is standardised.
    """
    features = [name for name in FEATURES if name in pool.table]
    values = np.nan_to_num(pool.table[features].to_numpy(np.float64))
    scale = values.std(axis=0) + 1e-6
    linear = pd.DataFrame({"features": features, "mean": values.mean(axis=0), "scale": scale})
    inputs = _inputs(linear, pool.table)
    _, starts, list_of = np.unique(pool.rows, return_index=True, return_inverse=True)
    n_gold = np.add.reduceat(pool.gold.astype(float), starts)
    target = pool.gold / np.maximum(n_gold, 1)[list_of]
    counted, n_lists = (n_gold > 0)[list_of], max((n_gold > 0).sum(), 1)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = inputs @ weights
        scores = scores - np.maximum.reduceat(scores, starts)[list_of]
        log_total = np.log(np.add.reduceat(np.exp(scores), starts))[list_of]
        share = np.exp(scores - log_total) * counted
        value = -(target * (scores - log_total)).sum() / n_lists + l2 * weights @ weights / 2
        return value, inputs.T @ (share - target) / n_lists + l2 * weights

    found = minimize(loss, np.zeros(len(features)), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return linear.assign(weights=found.x)


def fit_trees(
    pool: Pool, settings: Settings, n_trees: int, seed: int, weights: np.ndarray | None = None
) -> "lightgbm.Booster":
    """Boost trees on the pairs, ``weights`` being those of the pairs; the same data gives the same trees."""
    params = {
        "num_leaves": settings.leaves,
        "learning_rate": settings.learning_rate,
        "min_data_in_leaf": settings.min_pages,
        "feature_fraction": settings.feature_share,
        "bagging_fraction": settings.page_share,
        "lambda_l2": settings.tree_l2,
        "seed": seed,
    }
    sizes = np.unique(pool.rows, return_counts=True)[1]
    import lightgbm

    data = lightgbm.Dataset(pool.table, pool.gold.astype(int), weight=weights, group=sizes)
    return lightgbm.train(TREES | REPEATABLE | params, data, n_trees)


def per_question(scores: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Scores standardised within each question, so that models can be added."""
    _, lists = np.unique(rows, return_inverse=True)
    counts = np.bincount(lists)
    mean = np.bincount(lists, scores) / counts
    spread = np.sqrt(np.maximum(np.bincount(lists, scores**2) / counts - mean**2, 0)) + 1e-9
    return (scores - mean[lists]) / spread[lists]


@dataclass(frozen=True)
class Combiner:
    """A trained combiner: one model of trees per seed, ``n_trees`` of each, and the linear ranker.

    The linear ranker's score has the weight ``share`` beside the trees', both standardised within each question.
    """

    linear: pd.DataFrame
    boosters: "Sequence[lightgbm.Booster]"
    n_trees: int
    share: float

    def scores(self, pool: Pool) -> np.ndarray:
        """The score of each pair, shape (n_pairs,); comparable within a question."""
        table = pool.table[self.boosters[0].feature_name()]
        trees = sum(one.predict(table, num_iteration=self.n_trees, num_threads=1) for one in self.boosters)
        linear = per_question(linear_scores(self.linear, pool.table), pool.rows)
        return per_question(trees, pool.rows) + self.share * linear

    def save(self, folder: Path, about: dict) -> None:
        """Write ``combiner.json`` with further entries, and LightGBM's text files; no pickle."""
        folder.mkdir(parents=True, exist_ok=True)
        files = [f"trees-{number}.txt" for number in range(len(self.boosters))]
        for name, booster in zip(files, self.boosters, strict=True):
            (folder / name).write_text(booster.model_to_string(num_iteration=self.n_trees))
        record = {"linear": self.linear.to_dict("list"), "trees": files, "n_trees": self.n_trees}
        record |= {"share": self.share} | about
        (folder / "combiner.json").write_text(json.dumps(record, indent=1) + "\n")

    @classmethod
    def load(cls, folder: Path) -> "Combiner":
        """The combiner that :meth:`save` wrote."""
        import lightgbm

        record = json.loads((folder / "combiner.json").read_text())
        boosters = [lightgbm.Booster(model_str=(folder / name).read_text()) for name in record["trees"]]
        return cls(pd.DataFrame(record["linear"]), boosters, record["n_trees"], record["share"])


def fit_combiner(pool: Pool, settings: Settings, n_trees: int, share: float) -> Combiner:
    """Fit both parts on the pairs of training questions, by the profile's section ``ahead``; see :class:`Combiner`."""
    boosters = [fit_trees(pool, settings, n_trees, seed) for seed in settings.seeds]
    return Combiner(fit_linear(pool, settings.linear_l2), boosters, n_trees, share)
