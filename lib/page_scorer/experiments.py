"""What makes the page scorer weak: trainings that differ in tokens, negatives and header, measured at stage one.

A cell such as ``128-filing-header`` is a recipe, trained in folds by company (``python -m lib scorer-experiments``,
hours). What is stored per cell and seed is the rank of every gold page, and of the first page of the gold filing, so
that recall at any depth can be read off.
"""

from collections.abc import Iterable
from itertools import product

import pandas as pd

from lib.models.weights import weights_hash
from lib.page_scorer.pages import folds
from lib.page_scorer.recipe import NEGATIVES, Recipe
from lib.study import Study
from lib.words import StudyError

STAGE, VERSION = "page_scorer/experiments", 1
SILVER_VERSION = 1  # raised when the silver questions change
DEPTHS = (1, 5, 10, 20, 50)
#: Which filings' pages come first: none; those that fit the question's identity best; the gold filing's.
ROUTES = ("none", "covers", "records", "filing")
COLUMNS = ["fold", "epoch", "pool", "route", "question_id", "what", "page", "value"]
CHANGES = {
    "header": {"header": True},
    "full": {"frozen_layers": 0},
    "dropout": {"dropout": True},
    "silver": {"sources": ["silver"]},
    "both": {"sources": ["silver", "gold"]},
}


def cells(study: Study) -> list[str]:
    """The names of the profile's grid: tokens, negatives, and ``header`` where there is one."""
    grid = study.profile.page_scorer_experiments
    headers = ["-header" if header else "" for header in grid.headers]
    return [
        f"{n}-{negatives}{header}" for n, negatives, header in product(grid.tokens, grid.negatives, headers)
    ]


def recipe_of(study: Study, cell: str, seed: int) -> Recipe:
    """The recipe of a cell: tokens, negatives (NEGATIVES) and any of CHANGES.

    Raises:
        StudyError: the name is of another form.
    """
    tokens, *words = cell.split("-")
    known = len(words) and tokens.isdigit() and words[0] in NEGATIVES and set(words[1:]) <= set(CHANGES)
    if not known:
        raise StudyError(
            f"no cell {cell!r}: write tokens, one of {', '.join(NEGATIVES)}, and any of {', '.join(CHANGES)}, "
            "with hyphens between, such as 128-filing-header"
        )
    changes = {"max_tokens": int(tokens), "negatives": words[0], "seed": seed}
    for word in words[1:]:
        changes |= CHANGES[word]
    if words[0] == "batch":
        changes["n_negatives"] = 0
    return Recipe.of(study.profile.page_scorer_experiments.recipe, **changes)


def stored_as(study: Study, cell: str, seed: int) -> tuple[str, dict, int]:
    """Stage, parameters and version of a cell's measurements; computable without any text."""
    recipe = recipe_of(study, cell, seed)
    parts = [
        {"test": list(fold.test), "filings": sorted(fold.test_filings)} for fold in folds(study, "company")
    ]
    inputs = {name: study.digest(name) for name in ("pages", "questions")}
    inputs |= {"silver": SILVER_VERSION} if "silver" in recipe.sources else {}
    settings = {"marks": marks(study, seed), "max_characters": study.profile.page_scorer.max_characters}
    weights = weights_hash(study.profile.embedder.weights)
    return STAGE, recipe.params() | inputs | settings | {"folds": parts, "weights": weights}, VERSION


def marks(study: Study, seed: int) -> list[int]:
    """The epochs after which a cell is measured: a learning curve for the first seed, the end alone for others."""
    grid = study.profile.page_scorer_experiments
    return list(grid.curve) if seed == grid.seeds[0] else []


def measured_cells(study: Study, names: Iterable[str] = ()) -> pd.DataFrame:
    """What ``python -m lib scorer-experiments`` measured of the grid and of further cells: COLUMNS, cell, seed.

    ``what`` says what a value is: the rank of a gold ``page``, of the first page of the gold ``filing``, the mean
    ``loss`` of an epoch, seconds of training ``train_s`` and of encoding and ranking ``score_s``. ``pool`` is which
    pages are ranked: ``all``, or after earlier epochs those of the ``held-out`` companies' filings.
    """
    seeds, found = study.profile.page_scorer_experiments.seeds, []
    for cell, seed in product(dict.fromkeys([*cells(study), *names]), seeds):
        stage, params, version = stored_as(study, cell, seed)
        if study.store.find(stage, params, version):
            ranks = study.store.frame(stage, params, _measured_elsewhere, version, public=True)
            found.append(ranks.assign(cell=cell, seed=seed))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=[*COLUMNS, "cell", "seed"])


def _measured_elsewhere() -> pd.DataFrame:
    raise AssertionError("an entry that was found is not computed")


def recalls(ranks: pd.DataFrame, depths: Iterable[int] = DEPTHS) -> pd.DataFrame:
    """Recall of each question: the columns of the ranks without ``what``, ``page``, ``value``; metric, k, value.

    ``page_recall`` is the share of gold pages among the best k, ``doc_recall`` whether a page of the gold filing is.
    """
    keys = [name for name in ranks.columns if name not in ("what", "page", "value")]
    metric = ranks["what"].map({"page": "page_recall", "filing": "doc_recall"})
    ranks, parts = ranks.assign(metric=metric).dropna(subset="metric"), []
    for k in depths:
        is_found = ranks.assign(value=(ranks["value"] <= k).astype(float), k=k)
        parts.append(is_found.groupby([*keys, "metric", "k"], as_index=False, sort=False)["value"].mean())
    return pd.concat(parts, ignore_index=True)


def chosen_elsewhere(ranks: pd.DataFrame, route: str, k: int = 5) -> pd.DataFrame:
    """The final ranks of each fold by the cell that is best on the *other* folds' test questions, all seeds together.

    So no question has a say in the recipe that it is measured by, as it would in the best cell of all.

    Args:
        ranks: of :func:`measured_cells`.
        route, k: the cell with the highest mean page recall at k by this route is chosen.
    """
    final = ranks[(ranks["pool"] == "all") & (ranks["route"] == route)]
    recall = recalls(final, [k]).query("metric == 'page_recall'")
    chosen = {}
    for fold in recall["fold"].unique():
        means = recall[recall["fold"] != fold].groupby("cell", sort=False)["value"].mean()
        chosen[fold] = means.idxmax()
    return final[final["cell"] == final["fold"].map(chosen)].reset_index(drop=True)
