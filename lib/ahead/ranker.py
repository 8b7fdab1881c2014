"""One ranker for questions of every kind, trained on several question sets over the same filings, told none by name.

Boosted trees (LambdaMART; Burges, 2010) order the pages by their views (:mod:`lib.ahead.views`), beside the untrained
sum. Folds hold out a company's questions of every set and all its pages, and may hold out their twins, too
(:mod:`lib.filings.templates`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lib.ahead.pool import Pool
from lib.ahead.sets import Union, all_questions, fold_numbers, training_pairs, union_of
from lib.ahead.views import ENCODED, VIEWS
from lib.files import digest_of
from lib.filings import templates
from lib.folds import By
from lib.method import Search

if TYPE_CHECKING:
    import lightgbm  # takes seconds to load

VERSION = 5  # raised when the same settings give pages other features, or trees that are trained otherwise
TREES = {"objective": "lambdarank", "lambdarank_truncation_level": 10, "bagging_freq": 1, "verbose": -1}
TREES |= {"num_threads": 1, "deterministic": True, "force_row_wise": True}  # the same data gives the same trees
SECTIONS = ("ahead", "spans", "bm25")


@dataclass(frozen=True)
class Variant:
    """What a ranker reads beside the page itself and the untrained sum."""

    name: str  # part of its keys
    views: tuple[str, ...] = VIEWS
    has_kinds: bool = False
    is_from_covers: bool = False  # filings are known by their first pages alone, without records and names of files
    by: By = "company"  # what its folds hold out

    def columns(self, views: Mapping[str, Sequence[str]]) -> list[str]:
        """The features that it reads, of the columns of each view of a pool."""
        read = {"plain", "page", *self.views, *(["kinds"] if self.has_kinds else [])}
        return [column for view, columns in views.items() if view in read for column in columns]


def without(name: str) -> Variant:
    """All views but one, or but those by an ``encoder``."""
    dropped = ENCODED if name == "encoder" else (name,)
    return Variant(f"without {name}", tuple(view for view in VIEWS if view not in dropped))


def without_twins(variant: Variant) -> Variant:
    """The same reading, trained without twins of test questions."""
    return replace(variant, name=f"{variant.name}, templates held out", by="template")


UNTRAINED, WHOLE = Variant("untrained", ()), Variant("all views")
WITH_KINDS = Variant("with hand-written kinds", has_kinds=True)
FROM_COVERS = Variant(f"{WITH_KINDS.name}, from covers", has_kinds=True, is_from_covers=True)


class Ranker(NamedTuple):
    """A trained ranker."""

    tested: frozenset[str]  # companies that it may score
    booster: "lightgbm.Booster"
    share: float  # of the learnt order beside the untrained sum


def fit(search: Search, union: Union, companies: set[str], sets: Sequence[str], variant: Variant) -> "lightgbm.Booster":
    """Trees of the questions of some sets, of these companies and over their pages."""
    import lightgbm

    settings, is_read = search.profile.ahead, training_pairs(union, companies, sets, variant.by)
    pool = union.pool.part(is_read)
    params = {
        "num_leaves": settings.leaves,
        "learning_rate": settings.learning_rate,
        "min_data_in_leaf": settings.min_pages,
        "feature_fraction": settings.feature_share,
        "bagging_fraction": settings.page_share,
        "lambda_l2": settings.tree_l2,
        "seed": settings.seed,
    }
    sizes, read = np.unique(pool.rows, return_counts=True)[1], pool.table[variant.columns(pool.views)]
    data = lightgbm.Dataset(read, union.answers[is_read].astype(int), weight=union.weights[pool.rows], group=sizes)
    return lightgbm.train(TREES | params, data, settings.n_trees)


def standardised_by_question(scores: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Scores standardised within each question, so that models can be added."""
    _, lists = np.unique(rows, return_inverse=True)
    counts = np.bincount(lists)
    mean = np.bincount(lists, scores) / counts
    spread = np.sqrt(np.maximum(np.bincount(lists, scores**2) / counts - mean**2, 0)) + 1e-9
    return (scores - mean[lists]) / spread[lists]


def mixed(booster: "lightgbm.Booster", share: float, pool: Pool) -> np.ndarray:
    """The score of each pair: the learnt order's share, and the untrained sum for the rest."""
    learnt = booster.predict(pool.table[booster.feature_name()], num_threads=1)
    plain = standardised_by_question(pool.table["plain"].to_numpy(float), pool.rows)
    return share * standardised_by_question(learnt, pool.rows) + (1 - share) * plain


def fold_rankers(search: Search, variant: Variant, seed: int, sets: Sequence[str] = ()) -> list[Ranker]:
    """The ranker of each outer fold, folds drawn by ``seed``; ``sets`` are trained on, by default all. Stored."""
    asked = all_questions(search)
    names, of = list(sets or asked["set"].unique()), fold_numbers(asked, search.profile.ahead.n_folds, seed)
    params = {"inputs": digest_of(inputs(search)), "sets": names, "pages": search.digest("pages")}
    params |= {"variant": variant.name, "seed": seed, "settings": search.settings_of(SECTIONS)}
    if variant.by == "template":
        params["templates"] = templates.VERSION

    def ranker(fold: int) -> Ranker:
        tested = {company for company, number in of.items() if number == fold}

        def compute(target: Path) -> None:
            union, companies = union_of(search, variant.is_from_covers), set(search.filings["company"]) - tested
            trees = fit(search, union, companies, names, variant)
            about = {"share": search.profile.ahead.share, "tested": sorted(tested)}
            (target / "trees.txt").write_text(trees.model_to_string(), encoding="utf-8")
            (target / "ranker.json").write_text(json.dumps(about), encoding="utf-8")

        folder = search.store.files("ahead/rankers", params | {"fold": fold}, compute, VERSION).path
        return read_ranker(folder / "trees.txt", folder / "ranker.json")

    return [ranker(fold) for fold in range(max(of.values()) + 1)]


def read_ranker(trees: Path, record: Path) -> Ranker:
    """A ranker from the files of its trees and of what is recorded of it, in JSON."""
    import lightgbm

    about = json.loads(record.read_text(encoding="utf-8"))
    booster = lightgbm.Booster(model_str=trees.read_text(encoding="utf-8"))
    return Ranker(frozenset(about.get("tested", ())), booster, about["share"])


def inputs(search: Search) -> list:
    """What trained rankers depend on beside settings and pages: all questions, and what is known of filings."""
    asked, filings = (one.astype(str).to_numpy().tolist() for one in (all_questions(search), search.filings))
    return [VERSION, digest_of(asked), digest_of(filings)]


def nested_scores(rankers: Sequence[Ranker], companies: np.ndarray, pool: Pool) -> np.ndarray:
    """The score of each pair by the ranker of the fold that tests the company of its question."""
    scores = np.full(len(pool.rows), -np.inf)
    for tested, booster, share in rankers:
        mine = np.isin(companies[pool.rows], sorted(tested))
        if mine.any():
            scores[mine] = mixed(booster, share, pool.part(mine))
    return scores
