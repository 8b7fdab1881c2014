"""The fine-tuned page scorer: one bi-encoder per fold, trained on the (question, gold page) pairs of the other folds.

A question is scored only by the model of the fold in which its filing (or company) was held out. The number of epochs
is fixed beforehand.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from lib.files import digest_of
from lib.folds import By, Fold, LeakError, check_fold
from lib.method import Search
from lib.models.vectors import encode_texts
from lib.models.weights import fetch, trainable, weights_hash
from lib.page_scorer.pages import VERSION as SCORES_VERSION
from lib.page_scorer.pages import (
    folds,
    headed_texts,
    headers,
    load_records,
    load_scores,
    page_texts,
    params_of_folds,
    question_twins,
    scores_in_folds,
    text_by_page,
)
from lib.profile import Settings
from lib.retrievers.dense import cosines
from lib.store import Entry

VERSION = 1
MIN_COMPANIES, MIN_QUESTIONS = 3, 10
SECTION, BEST = "page_scorer", "page_scorer_best"  # of the profile: the published recipe, another's changes
TUNED_BY: tuple[By, ...] = ("filing", "company")  # folds for which an encoder is fine-tuned
#: What a model by the published recipe depends on.
SETTINGS = ("epochs", "max_tokens", "learning_rate", "batch_size", "warmup", "seed", "train_precision")


def untrainable(search: Search) -> str:
    """Why no scorer can be trained and tested on a study's own questions; empty where one can."""
    n_companies, n_questions = search.questions["company"].nunique(), len(search.questions)
    if n_companies < MIN_COMPANIES or n_questions < MIN_QUESTIONS:
        few = f"{n_questions} questions about {n_companies} companies are too few to train on some and test on others"
        return f"{few}; it takes {MIN_QUESTIONS} about {MIN_COMPANIES}"
    try:
        for fold in [*folds(search, "filing"), *folds(search, "company")]:
            checked_pairs(search, fold)
    except LeakError as error:
        return str(error)
    return ""


def training_pairs(search: Search, rows: Sequence[int]) -> pd.DataFrame:
    """Every gold page of the questions in the given rows: question_id, question, doc_name, page, text (as scored)."""
    text_of = text_by_page(search)
    pairs = search.questions.iloc[list(rows)][["question_id", "question", "doc_name", "gold_pages"]]
    pairs = pairs.explode("gold_pages").rename(columns={"gold_pages": "page"}).astype({"page": int})
    where = zip(pairs["doc_name"], pairs["page"], strict=True)
    return pairs.assign(text=[text_of[key] for key in where]).reset_index(drop=True)


def checked_pairs(search: Search, fold: Fold) -> tuple[pd.DataFrame, dict]:
    """A fold's training pairs, and the record of the check that they contain nothing of its test questions."""
    pairs = training_pairs(search, fold.train)
    twins = question_twins(search) if fold.by == "template" else None
    return pairs, check_fold(fold, pairs, search.questions, search.filings, text_by_page(search), twins)


def recipe_of(search: Search, section: str) -> Settings:
    """The published recipe, and what a section of the profile changes of it."""
    return search.profile[SECTION].updated(search.profile[section])


def recipe_params(search: Search, section: str) -> dict:
    """What a model trained by a section of the profile depends on."""
    recipe = recipe_of(search, section)
    return {name: recipe[name] for name in SETTINGS} | ({"header": True} if section == BEST else {})


def scores_params(search: Search, section: str) -> dict:
    """What page scores by a section of the profile depend on beside the model's own."""
    return recipe_params(search, section) | ({"headers": digest_of(headers(search))} if section == BEST else {})


def fold_model(search: Search, fold: Fold, section: str = SECTION) -> Entry:
    """The model of a fold, see :func:`trained`."""
    pairs, record = checked_pairs(search, fold)
    if section == BEST:
        headed = text_by_page(search, headed_texts)
        pairs["text"] = [headed[key] for key in zip(pairs["doc_name"], pairs["page"], strict=True)]
    name = f"{section}, fold {fold.number} by {fold.by}"
    return trained(search, f"{section}/model", pairs, record, name, {}, section)


def trained(
    search: Search,
    stage: str,
    pairs: pd.DataFrame,
    record: dict,
    title: str,
    params: dict,
    section: str = SECTION,
    **changes,
) -> Entry:
    """A model trained on pairs (question, text) by the recipe of a section of the profile, which SentenceTransformer
    loads; beside it lie ``curves.json`` (the curve) and ``fold.json`` (the record).

    ``params`` are what else the model depends on; ``title, changes`` see :func:`lib.page_scorer.trainer.train`.
    """
    base = trainable(search.profile.embedder.weights)
    params = params | recipe_params(search, section) | {"weights": weights_hash(base)}
    params |= {"pairs": digest_of(pairs[["question", "text"]].values.tolist())}
    checkpoints = search.store.root / stage / f"checkpoints-{search.store.key(stage, params, VERSION)}"

    def compute(target: Path) -> None:
        from lib.page_scorer import trainer  # loads torch, which takes seconds

        model, curve = trainer.train(fetch(base), recipe_of(search, section), pairs, checkpoints, title, **changes)
        model.save_pretrained(str(target), safe_serialization=True, create_model_card=False)
        (target / "curves.json").write_text(json.dumps(curve, indent=1), encoding="utf-8")
        (target / "fold.json").write_text(json.dumps(record, indent=1), encoding="utf-8")

    entry = search.store.files(stage, params, compute, VERSION)
    shutil.rmtree(checkpoints, ignore_errors=True)
    return entry


def scores_of_model(search: Search, entry: Entry, rows: Sequence[int], section: str = SECTION) -> np.ndarray:
    """The cosine of every page for questions under a model, shape (n_rows, n_pages)."""
    model, window = (lambda: entry.path, entry.digest), search.profile[SECTION].max_tokens
    encode = partial(encode_texts, search, window=window, is_pinned=True, model=model)
    queries = encode("page_scorer/questions", search.questions["question"].iloc[list(rows)].tolist(), "query")
    texts = headed_texts(search) if section == BEST else page_texts(search)
    return cosines(queries, encode("page_scorer/pages", texts))


def score_fold(
    search: Search, fold: Fold, model: Callable[[Search, Fold], Entry] = fold_model, section: str = SECTION
) -> tuple[np.ndarray, dict]:
    """The scores of every page for a fold's test questions by its model, and the model's record."""
    entry = model(search, fold)
    curve = pd.DataFrame(json.loads((entry.path / "curves.json").read_text(encoding="utf-8")))
    losses = curve.groupby(np.ceil(curve["epoch"]))["loss"].mean().round(5).tolist()  # of each epoch
    record = json.loads((entry.path / "fold.json").read_text(encoding="utf-8"))
    record |= {"model": entry.digest, "wall_s": entry.wall_s, "curve": losses}
    return scores_of_model(search, entry, fold.test, section), record


def scores_entry(search: Search, by: By, section: str = SECTION) -> Entry:
    """The stored scores and records of all folds by the recipe of a section, trained and computed if missing."""

    def score(search: Search, fold: Fold) -> tuple[np.ndarray, dict]:
        entry = fold_entry(search, fold, section)
        return load_scores(search, entry)[list(fold.test)], load_records(entry)[0]

    params = scores_params(search, section)
    return scores_in_folds(search, f"{section}/scores/{by}", folds(search, by), score, params, public=True)


def fold_entry(search: Search, fold: Fold, section: str = SECTION) -> Entry:
    """The stored scores and record of one fold, trained and computed if missing."""
    score = partial(score_fold, model=partial(fold_model, section=section), section=section)
    return scores_in_folds(search, _stage_of(fold, section), [fold], score, scores_params(search, section))


def finished_folds(search: Search, section: str = SECTION) -> list[dict]:
    """The records of scored folds whose others are missing, so that they are published before the last is trained."""
    records = []
    for by in TUNED_BY:
        parts, params = folds(search, by), scores_params(search, section)
        if not search.store.has(_reference(search, f"{section}/scores/{by}", parts, params)):
            references = [_reference(search, _stage_of(fold, section), [fold], params) for fold in parts]
            records += [search.store.record(one) | {"public": True} for one in references if search.store.has(one)]
    return records


def _stage_of(fold: Fold, section: str) -> str:
    return f"{section}/fold/{fold.by}/{fold.number}"


def _reference(search: Search, stage: str, parts: Sequence[Fold], params: dict) -> str:
    return f"{stage}/{search.store.key(stage, params_of_folds(search, parts, params), SCORES_VERSION)}"
