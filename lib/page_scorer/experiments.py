"""What makes the page scorer weak: trainings that differ in tokens, negatives and header, measured at stage one.

A cell such as ``128-filing-header`` is a recipe. Each of its folds by company is trained, and the states after some
epochs are kept; only then are the test questions read and all pages ranked for them. What is stored per cell and seed
is the rank of every gold page, and of the first page of the gold filing, so that recall at any depth can be read off.
"""

import shutil
import time
from collections.abc import Iterable
from itertools import product

import numpy as np
import pandas as pd
import torch
from tqdm.auto import tqdm

from lib.folds import Fold
from lib.models.weights import fetch, weights_hash
from lib.page_scorer.layers import Trainee
from lib.page_scorer.pages import folds
from lib.page_scorer.reading import Corpus, fold_reading
from lib.page_scorer.search import pages_of_chunks
from lib.page_scorer.training import NEGATIVES, Recipe, train
from lib.retrievers.matched import fits_best, identities
from lib.study import Study
from lib.words import StudyError

STAGE, VERSION, SILVER_VERSION = (
    "page_scorer/experiments",
    1,
    1,
)  # the latter is raised with the silver questions
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


def cell_ranks(study: Study, cell: str, seed: int, is_wanted: bool = True) -> pd.DataFrame | None:
    """The measurements of a cell: COLUMNS; trained fold by fold where they are not stored, or None unless wanted.

    ``what`` says what a value is: the rank of a gold ``page``, of the first page of the gold ``filing``, the mean
    ``loss`` of an epoch, seconds of training ``train_s`` and of encoding and ranking ``score_s``. ``pool`` is which
    pages are ranked: ``all``, or after earlier epochs those of the ``held-out`` companies' filings.
    """
    recipe, marks = recipe_of(study, cell, seed), _marks(study, seed)
    params = _params(study, recipe, marks)
    if not (is_wanted or study.store.find(STAGE, params, VERSION)):
        return None

    def make() -> pd.DataFrame:
        parts = [fold_ranks(study, recipe, fold, marks) for fold in folds(study, "company")]
        return pd.concat(parts, ignore_index=True)

    return study.store.frame(STAGE, params, make, VERSION, public=True)


def fold_of_cell(study: Study, cell: str, seed: int, number: int) -> pd.DataFrame:
    """The measurements of one fold of a cell: COLUMNS; trained where they are not stored."""
    return fold_ranks(
        study, recipe_of(study, cell, seed), folds(study, "company")[number], _marks(study, seed)
    )


def measured_cells(study: Study, names: Iterable[str] = ()) -> pd.DataFrame:
    """What was measured of the grid and of further cells, without training: COLUMNS, ``cell`` and ``seed``."""
    seeds, found = study.profile.page_scorer_experiments.seeds, []
    for cell, seed in product(dict.fromkeys([*cells(study), *names]), seeds):
        if (ranks := cell_ranks(study, cell, seed, is_wanted=False)) is not None:
            found.append(ranks.assign(cell=cell, seed=seed))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=[*COLUMNS, "cell", "seed"])


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


def _marks(study: Study, seed: int) -> list[int]:
    """The epochs after which a cell is measured: a learning curve for the first seed, the end alone for others."""
    grid = study.profile.page_scorer_experiments
    return list(grid.curve) if seed == grid.seeds[0] else []


def _params(study: Study, recipe: Recipe, marks: list[int]) -> dict:
    """What the ranks depend on; computable without any text."""
    parts = [
        {"test": list(fold.test), "filings": sorted(fold.test_filings)} for fold in folds(study, "company")
    ]
    inputs = {name: study.digest(name) for name in ("pages", "questions")}
    inputs |= {"silver": SILVER_VERSION} if "silver" in recipe.sources else {}
    settings = {"marks": marks, "max_characters": study.profile.page_scorer.max_characters}
    return recipe.params() | inputs | settings | {"folds": parts, "weights": weights_hash(_weights(study))}


def _weights(study: Study) -> str:
    return study.profile.embedder.weights


def fold_ranks(study: Study, recipe: Recipe, fold: Fold, marks: list[int]) -> pd.DataFrame:
    """The measurements of one fold: COLUMNS. Stored, so that a killed run resumes with the next fold."""
    stage, params = f"{STAGE}/folds", _params(study, recipe, marks) | {"fold": fold.number}
    states = study.store.root / stage / f"states-{study.store.key(stage, params, VERSION)}"

    def make() -> pd.DataFrame:
        trainee, corpus = recipe.trainee(fetch(_weights(study))), Corpus(study, recipe)
        started, reading = time.perf_counter(), fold_reading(study, fold, recipe, corpus, trainee)
        n_epochs = sum(phase.epochs for phase in reading.phases)

        def keep(trainee: Trainee, epoch: int) -> None:
            if epoch in marks or epoch == n_epochs:
                torch.save(trainee.state(), states / f"epoch-{epoch}.pt")

        states.mkdir(parents=True, exist_ok=True)
        torch.save(trainee.state(), states / "epoch-0.pt")
        title = f"fold {fold.number}, {recipe.max_tokens} {recipe.negatives}{' header' * recipe.header}"
        curve = pd.DataFrame(train(trainee, recipe, reading, states, title, after_epoch=keep))
        losses, rows = curve.groupby(np.ceil(curve["epoch"]).astype(int))["loss"].mean(), []
        rows += [(epoch, "", "", "", "loss", -1, loss) for epoch, loss in losses.items()]
        rows.append((n_epochs, "", "", "", "train_s", -1, time.perf_counter() - started))
        started, final = time.perf_counter(), {n_epochs: "all"}
        for epoch, pool in (dict.fromkeys(marks, "held-out") | final).items():
            trainee.load(torch.load(states / f"epoch-{epoch}.pt", weights_only=True))
            rows += _ranks(study, fold, corpus, trainee, reading.pages, epoch, pool)
        rows.append((n_epochs, "", "", "", "score_s", -1, time.perf_counter() - started))
        return pd.DataFrame([(fold.number, *row) for row in rows], columns=COLUMNS)

    frame = study.store.frame(stage, params, make, VERSION)
    shutil.rmtree(states, ignore_errors=True)
    return frame


def _ranks(
    study: Study, fold: Fold, corpus: Corpus, trainee: Trainee, inputs, epoch: int, pool: str
) -> list[tuple]:
    """The ranks of a fold's gold pages and filings by a trained state: the columns from ``epoch`` on."""
    n_pages, test = len(study.pages), study.questions.iloc[list(fold.test)]
    is_ranked = np.bincount(pages_of_chunks(study), minlength=n_pages) > 0
    if pool == "held-out":
        is_ranked &= study.pages["doc_name"].isin(fold.test_filings).to_numpy()
    texts = np.unique(corpus.row[:n_pages][is_ranked])
    vectors = np.zeros((len(corpus.texts), trainee.transformer.config.hidden_size), np.float32)
    for part in tqdm(
        np.array_split(texts, max(1, len(texts) // 512)), f"epoch {epoch}, {pool}", mininterval=5
    ):
        vectors[part] = trainee.encode(inputs, part)
    asked = trainee.encode(trainee.inputs(test["question"].tolist()), range(len(test)))
    scores = asked @ vectors[corpus.row[:n_pages]].T
    routes = {route: first[list(fold.test)] for route, first in _first_pages(study).items()}
    filing, page = study.pages["doc_name"].to_numpy(), study.pages["page"].to_numpy()
    rows = []
    for number, question in enumerate(test.itertuples()):
        for route in ROUTES:
            order = np.lexsort((-scores[number], ~routes[route][number], ~is_ranked))
            rank = np.empty(n_pages, int)
            rank[order] = np.arange(1, n_pages + 1)
            own, known = filing == question.doc_name, (epoch, pool, route, question.question_id)
            for gold in dict.fromkeys(question.gold_pages):
                rows.append((*known, "page", gold, float(rank[own & (page == gold)][0])))
            rows.append((*known, "filing", -1, float(rank[own].min())))
    return rows


def _first_pages(study: Study) -> dict[str, np.ndarray]:
    """By route the pages that come first for each question, boolean, shape (n_questions, n_pages)."""

    def make() -> dict[str, np.ndarray]:
        of_page = pd.Index(study.filings["doc_name"]).get_indexer(study.pages["doc_name"])
        asked, own = study.questions["question"].tolist(), study.pages["doc_name"].to_numpy()
        first = {"none": np.ones((len(asked), len(own)), bool)}
        for route in ("covers", "records"):
            first[route] = fits_best(asked, identities(study, route == "covers"))[:, of_page]
        return first | {"filing": own == study.questions["doc_name"].to_numpy()[:, None]}

    return study.memo("first pages", make)
