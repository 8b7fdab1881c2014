"""The fine-tuned page scorer: one bi-encoder per fold, trained on the (question, gold page) pairs of the other folds.

A question is scored only by the model of the fold in which its filing (or company) was held out. The number of epochs
is fixed beforehand; nothing here reads a test question before its fold's model is stored.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from lib.files import digest_of
from lib.folds import By, Fold, LeakError, check_fold
from lib.models.weights import fetch, weights_hash
from lib.page_scorer.pages import encode_distinct, folds, page_texts, scores_in_folds, text_by_page
from lib.page_scorer.reading import Corpus, fold_pairs, fold_reading, pairs_alone, training_pairs
from lib.page_scorer.recipe import Reading, Recipe
from lib.retrievers.dense import cosines
from lib.store import Entry
from lib.study import Study

if TYPE_CHECKING:
    from lib.page_scorer.layers import Trainee

VERSION = 1
MIN_COMPANIES, MIN_QUESTIONS = 3, 10
SECTION = "page_scorer"  # of the profile: the published recipe


def untrainable(study: Study) -> str:
    """Why no scorer can be trained and tested on a study's own questions, in a sentence; empty where one can."""
    n_companies, n_questions = study.questions["company"].nunique(), len(study.questions)
    if n_companies < MIN_COMPANIES or n_questions < MIN_QUESTIONS:
        return (
            f"{n_questions} questions about {n_companies} companies are too few to train on some and test on others; "
            f"it takes {MIN_QUESTIONS} about {MIN_COMPANIES}"
        )
    try:
        for by in ("filing", "company"):
            for fold in folds(study, by):
                checked_pairs(study, fold)
    except LeakError as error:
        return str(error)
    return ""


def checked_pairs(study: Study, fold: Fold) -> tuple[pd.DataFrame, dict]:
    """A fold's training pairs, and the record of the check that they contain nothing of its test questions.

    Raises:
        LeakError: they do.
    """
    pairs = training_pairs(study, fold.train)
    return pairs, check_fold(fold, pairs, study.questions, study.filings, text_by_page(study))


def fold_model(study: Study, fold: Fold, section: str = SECTION) -> Entry:
    """The model of a fold, trained if it is not stored; see :func:`trained` and :func:`checked_pairs`.

    ``section`` of the profile contains the recipe.
    """
    pairs, record = checked_pairs(study, fold)
    recipe, title = Recipe.of(study.profile[section]), f"fold {fold.number} by {fold.by}"
    if recipe.sources == ("gold",) and recipe.negatives == "batch" and not recipe.header:
        return trained(study, "page_scorer/model", pairs, record, title, {}, recipe)
    corpus = Corpus(study, recipe)
    parts = fold_pairs(study, fold, recipe, corpus)
    params = {"fold": [sorted(fold.test_filings), list(fold.test)], "pages": study.digest("pages")}
    params |= {"silver": corpus.silver.digest} if corpus.silver else {}
    read = lambda trainee: fold_reading(study, fold, recipe, corpus, trainee)  # noqa: E731
    pairs = pd.concat(parts.values(), ignore_index=True)
    return trained(study, f"{section}/model", pairs, record, title, params, recipe, read)


def trained(
    study: Study,
    stage: str,
    pairs: pd.DataFrame,
    record: dict,
    title: str,
    params: dict,
    recipe: Recipe | None = None,
    read: Callable[["Trainee"], Reading] | None = None,
    **changes,
) -> Entry:
    """A model trained on pairs, from the store or now.

    Args:
        study, stage: where it is stored.
        pairs: question and text of each.
        record: written beside the model.
        title, changes: see :func:`lib.page_scorer.training.train`.
        params: what the model depends on besides pairs, base encoder and recipe.
        recipe: by default the published one.
        read: what training reads, by default the texts of the pairs alone.

    Returns:
        An entry that SentenceTransformer loads, with ``curves.json`` (the curve) and ``fold.json`` (the record).
    """
    published = Recipe.of(study.profile[SECTION])
    recipe = recipe or published
    weights, digest = study.profile.embedder.weights, digest_of(pairs[["question", "text"]].values.tolist())
    params = params | recipe.params() | {"weights": weights_hash(weights), "pairs": digest}
    checkpoints = study.store.root / stage / f"checkpoints-{study.store.key(stage, params, VERSION)}"

    def compute(target: Path) -> None:
        from lib.page_scorer.training import GoldAwareBatches, train  # loads torch, which takes seconds

        trainee = recipe.trainee(fetch(weights))
        reading = read(trainee) if read else pairs_alone(pairs, recipe, trainee)
        if recipe == published and not (read or changes):
            from lib.page_scorer import library  # takes seconds to load

            batches = GoldAwareBatches(reading.phases[0].clashes(), recipe.batch_size, recipe.seed)
            model, curve = library.train(fetch(weights), recipe, pairs, batches, checkpoints, title)
        else:
            curve = train(trainee, recipe, reading, checkpoints, title, **changes)
            model = trainee.whole()
        model.save_pretrained(str(target), safe_serialization=True, create_model_card=False)
        (target / "curves.json").write_text(json.dumps(curve, indent=1))
        (target / "fold.json").write_text(json.dumps(record, indent=1))

    entry = study.store.get(stage, params, compute, VERSION)
    shutil.rmtree(checkpoints, ignore_errors=True)
    return entry


def scores_of_model(study: Study, entry: Entry, rows: Sequence[int], section: str = SECTION) -> np.ndarray:
    """The cosine of every page for the questions in the given rows under a model, shape (n_rows, n_pages)."""
    recipe = Recipe.of(study.profile[section])
    encode = partial(encode_distinct, study, lambda: entry.path, entry.digest, recipe.max_tokens)
    questions = study.questions["question"].iloc[list(rows)].tolist()
    queries = encode("page_scorer/questions", questions, "query")
    return cosines(queries, encode("page_scorer/pages", page_texts(study, recipe.header), "document"))


def score_fold(
    study: Study, fold: Fold, model: Callable[[Study, Fold], Entry] = fold_model, section: str = SECTION
) -> tuple[np.ndarray, dict]:
    """The scores of every page for a fold's test questions by its model, and the model's record.

    The record has the model's digest, the seconds of its training ``wall_s`` and the mean loss of each epoch ``curve``.
    """
    entry = model(study, fold)
    record = json.loads((entry.path / "fold.json").read_text())
    curve = pd.DataFrame(json.loads((entry.path / "curves.json").read_text()))
    losses = curve.groupby(np.ceil(curve["epoch"]))["loss"].mean().round(5).tolist()
    record |= {"model": entry.digest, "wall_s": entry.wall_s, "curve": losses}
    return scores_of_model(study, entry, fold.test, section), record


def scores_entry(study: Study, by: By, section: str = SECTION) -> Entry:
    """The stored scores and records of all folds by the recipe of a section, trained and computed if missing."""
    score, params = partial(score_fold, section=section), Recipe.of(study.profile[section]).params()
    if section != SECTION:
        score = partial(score, model=partial(fold_model, section=section))
    return scores_in_folds(study, f"{section}/scores/{by}", by, score, params, public=True)
