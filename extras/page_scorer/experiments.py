"""The experiment on the page scorer: recipes trained fold by fold, and measured at stage one.

The states of a fold after some epochs are kept; only then are its test questions read and all pages ranked for them.
"""

import shutil
import time
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import torch
from tqdm.auto import tqdm

from lib.folds import Fold
from lib.models.weights import fetch
from lib.page_scorer.experiments import COLUMNS, ROUTES, cells, marks, recalls, recipe_of, stored_as
from lib.page_scorer.layers import Trainee
from lib.page_scorer.pages import folds
from lib.page_scorer.reading import Corpus, fold_reading
from lib.page_scorer.search import pages_of_chunks
from lib.page_scorer.training import train
from lib.retrievers.matched import fits_best, identities
from lib.silver import read_silver
from lib.study import Study


def train_cells(
    study: Study, names: Sequence[str] = (), seeds: Sequence[int] = (), fold: int | None = None
) -> Iterator[str]:
    """Train cells of the experiment, see :mod:`lib.page_scorer.experiments`; yields a line of results for each.

    Args:
        study: whose questions.
        names: of cells, by default the profile's grid.
        seeds: by default the profile's.
        fold: only the fold with this number.
    """
    names = names or cells(study)
    for cell in names:
        recipe_of(study, cell, 0)  # a wrong name is found before hours of training
    for seed in seeds or study.profile.page_scorer_experiments.seeds:
        for cell in names:
            if fold is None:
                ranks = cell_ranks(study, cell, seed)
            else:
                ranks = fold_ranks(study, cell, seed, folds(study, "company")[fold])
            last = ranks[ranks["pool"] == "all"]
            means = recalls(last, (5, 20)).groupby(["metric", "k", "route"], sort=False)["value"].mean()
            page = ", ".join(f"{k[2]} @{k[1]} {mean:.3f}" for k, mean in means.loc[["page_recall"]].items())
            seconds = ranks[ranks["what"].isin(["train_s", "score_s"])].groupby("what")["value"].sum()
            yield f"{cell}, seed {seed}: page recall by route: {page}; {seconds.round().to_dict()}"


def cell_ranks(study: Study, cell: str, seed: int) -> pd.DataFrame:
    """The measurements of a cell, see :func:`lib.page_scorer.experiments.measured_cells`; trained where not stored."""

    def make() -> pd.DataFrame:
        parts = [fold_ranks(study, cell, seed, fold) for fold in folds(study, "company")]
        return pd.concat(parts, ignore_index=True)

    stage, params, version = stored_as(study, cell, seed)
    return study.store.frame(stage, params, make, version, public=True)


def fold_ranks(study: Study, cell: str, seed: int, fold: Fold) -> pd.DataFrame:
    """The measurements of one fold of a cell: COLUMNS. Stored, so that a killed run resumes with the next fold."""
    recipe = recipe_of(study, cell, seed)
    stage, params, version = stored_as(study, cell, seed)
    stage, params = f"{stage}/folds", params | {"fold": fold.number}
    if "silver" in recipe.sources:
        params |= {"silver": read_silver(study).digest}
    states = study.store.root / stage / f"states-{study.store.key(stage, params, version)}"

    def make() -> pd.DataFrame:
        trainee, corpus = recipe.trainee(fetch(study.profile.embedder.weights)), Corpus(study, recipe)
        reading, started = fold_reading(study, fold, recipe, corpus, trainee), time.perf_counter()
        n_epochs = sum(phase.epochs for phase in reading.phases)
        earlier = [epoch for epoch in marks(study, seed) if epoch < n_epochs]

        def keep(trainee: Trainee, epoch: int) -> None:
            if epoch in (*earlier, n_epochs):
                torch.save(trainee.state(), states / f"epoch-{epoch}.pt")

        states.mkdir(parents=True, exist_ok=True)
        torch.save(trainee.state(), states / "epoch-0.pt")
        title = f"fold {fold.number} of {cell}, seed {seed}"
        curve = pd.DataFrame(train(trainee, recipe, reading, states, title, after_epoch=keep))
        losses, rows = curve.groupby(np.ceil(curve["epoch"]).astype(int))["loss"].mean(), []
        rows += [(epoch, "", "", "", "loss", -1, loss) for epoch, loss in losses.items()]
        rows.append((n_epochs, "", "", "", "train_s", -1, time.perf_counter() - started))
        started, final = time.perf_counter(), {n_epochs: "all"}
        for epoch, pool in (dict.fromkeys(earlier, "held-out") | final).items():
            trainee.load(torch.load(states / f"epoch-{epoch}.pt", weights_only=True))
            rows += _ranks(study, fold, corpus, trainee, reading.pages, epoch, pool)
        rows.append((n_epochs, "", "", "", "score_s", -1, time.perf_counter() - started))
        return pd.DataFrame([(fold.number, *row) for row in rows], columns=COLUMNS)

    frame = study.store.frame(stage, params, make, version)
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
