"""The learnt combiner: a linear ranker and boosted trees (LambdaMART; Burges, 2010), added.

The trees see some eighty numbers, against the collection and against the filing; the linear ranker sees sixteen and
steadies them where there is little to learn from.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd

from lib.ahead.features import Pool
from lib.ahead.linear import LinearRanker, fit_linear


def boosting_params(settings, seed: int) -> dict:
    """LightGBM's parameters; one thread and fixed seeds, so that the same data gives the same trees."""
    return {
        "objective": "lambdarank",
        "num_leaves": settings.leaves,
        "learning_rate": settings.learning_rate,
        "min_data_in_leaf": settings.min_pages,
        "feature_fraction": settings.feature_share,
        "bagging_fraction": settings.page_share,
        "bagging_freq": 1,
        "lambda_l2": settings.tree_l2,
        "lambdarank_truncation_level": 10,
        "seed": seed,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbose": -1,
    }


def fit_trees(
    table: pd.DataFrame, gold: np.ndarray, rows: np.ndarray, settings, n_trees: int, seed: int
) -> lightgbm.Booster:
    """Boost trees on pairs; the pairs of a question stand together."""
    starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
    sizes = np.diff(np.r_[starts, len(rows)])
    data = lightgbm.Dataset(table, gold.astype(int), group=sizes)
    return lightgbm.train(boosting_params(settings, seed), data, n_trees)


def per_question(scores: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Scores standardised within each question, so that models can be added."""
    _, lists = np.unique(rows, return_inverse=True)
    counts = np.bincount(lists)
    mean = np.bincount(lists, scores) / counts
    spread = np.sqrt(np.maximum(np.bincount(lists, scores**2) / counts - mean**2, 0)) + 1e-9
    return (scores - mean[lists]) / spread[lists]


@dataclass(frozen=True)
class Combiner:
    """A trained combiner.

    Attributes:
        linear: the linear ranker.
        boosters: trees, one set a seed.
        n_trees: trees of each set that count.
        share: weight of the linear ranker's standardised score beside the trees'.
    """

    linear: LinearRanker
    boosters: tuple[lightgbm.Booster, ...]
    n_trees: int
    share: float

    def scores(self, pool: Pool) -> np.ndarray:
        """The score of each pair, shape (n_pairs,); comparable within a question."""
        table = pool.table[self.boosters[0].feature_name()]
        trees = sum(
            booster.predict(table, num_iteration=self.n_trees, num_threads=1) for booster in self.boosters
        )
        return per_question(trees, pool.rows) + self.share * per_question(
            self.linear.scores(pool.table), pool.rows
        )

    def save(self, folder: Path, about: dict) -> None:
        """Write ``combiner.json`` and one LightGBM text file a booster; no pickle.

        Args:
            folder: where; made when missing.
            about: what else the record says, such as what it was trained on.
        """
        folder.mkdir(parents=True, exist_ok=True)
        files = [f"trees-{number}.txt" for number in range(len(self.boosters))]
        for name, booster in zip(files, self.boosters, strict=True):
            (folder / name).write_text(booster.model_to_string(num_iteration=self.n_trees))
        record = {
            "linear": self.linear.record(),
            "trees": files,
            "n_trees": self.n_trees,
            "share": self.share,
        }
        (folder / "combiner.json").write_text(json.dumps(record | about, indent=1) + "\n")

    @classmethod
    def load(cls, folder: Path) -> "Combiner":
        """The combiner that :meth:`save` wrote."""
        record = json.loads((folder / "combiner.json").read_text())
        boosters = tuple(lightgbm.Booster(model_str=(folder / name).read_text()) for name in record["trees"])
        return cls(LinearRanker.of_record(record["linear"]), boosters, record["n_trees"], record["share"])


def fit_combiner(
    table: pd.DataFrame,
    gold: np.ndarray,
    rows: np.ndarray,
    settings,
    n_trees: int,
    share: float,
    seeds: Sequence[int],
) -> Combiner:
    """Fit both parts on pairs of training questions."""
    boosters = tuple(fit_trees(table, gold, rows, settings, n_trees, seed) for seed in seeds)
    return Combiner(fit_linear(table, gold, rows, settings.linear_l2), boosters, n_trees, share)
