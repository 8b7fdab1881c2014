"""The trained ranker of pages: a linear ranker plus boosted trees (LambdaMART; Burges, 2010).

The trees read some eighty features; the linear ranker reads sixteen and steadies them where there is little to learn
from.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import lightgbm
import numpy as np

from lib.ahead.linear import LinearRanker, fit_linear
from lib.ahead.pool import Pool
from lib.profile import Settings


def fit_trees(pool: Pool, gold: np.ndarray, settings: Settings, n_trees: int, seed: int) -> lightgbm.Booster:
    """Boost trees on pairs, with one thread and fixed seeds, so that the same data gives the same trees."""
    params = {
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
    sizes = np.unique(pool.rows, return_counts=True)[1]
    return lightgbm.train(params, lightgbm.Dataset(pool.table, gold.astype(int), group=sizes), n_trees)


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
        boosters: trees, one model per seed.
        n_trees: trees of each model that count.
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
        linear = per_question(self.linear.scores(pool.table), pool.rows)
        return per_question(trees, pool.rows) + self.share * linear

    def save(self, folder: Path, about: dict) -> None:
        """Write ``combiner.json`` and one LightGBM text file per booster; no pickle.

        Args:
            folder: made when missing.
            about: further entries of ``combiner.json``, such as the data that it was trained on.
        """
        folder.mkdir(parents=True, exist_ok=True)
        files = [f"trees-{number}.txt" for number in range(len(self.boosters))]
        for name, booster in zip(files, self.boosters, strict=True):
            (folder / name).write_text(booster.model_to_string(num_iteration=self.n_trees))
        record = {"linear": asdict(self.linear), "trees": files, "n_trees": self.n_trees, "share": self.share}
        (folder / "combiner.json").write_text(json.dumps(record | about, indent=1) + "\n")

    @classmethod
    def load(cls, folder: Path) -> "Combiner":
        """The combiner that :meth:`save` wrote."""
        record = json.loads((folder / "combiner.json").read_text())
        boosters = tuple(lightgbm.Booster(model_str=(folder / name).read_text()) for name in record["trees"])
        linear = LinearRanker(**{name: tuple(values) for name, values in record["linear"].items()})
        return cls(linear, boosters, record["n_trees"], record["share"])


def fit_combiner(
    pool: Pool, gold: np.ndarray, settings: Settings, n_trees: int, share: float, seeds: Sequence[int]
) -> Combiner:
    """Fit both parts on the pairs of training questions.

    Args:
        pool: the pairs.
        gold: whether the pair's page is gold, boolean, shape (n_pairs,).
        settings: the profile's section ``ahead``.
        n_trees, share: see :class:`Combiner`.
        seeds: of the trees.
    """
    boosters = tuple(fit_trees(pool, gold, settings, n_trees, seed) for seed in seeds)
    return Combiner(fit_linear(pool, gold, settings.linear_l2), boosters, n_trees, share)
