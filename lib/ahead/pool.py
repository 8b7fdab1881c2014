"""A study's pairs of question and page, and who may score them."""

import json
from functools import partial
from pathlib import Path

import numpy as np

from lib.ahead import (
    asking,
    combiner,
    features,
    identity,
    linear,
    names,
    nested,
    page_kinds,
    periods,
    terms,
    views,
)
from lib.ahead.combiner import Combiner
from lib.ahead.features import Pool, identity_features, identity_score, make_pool, routed
from lib.ahead.nested import Task, fold_combiner
from lib.folds import make_folds
from lib.methods import code_hash
from lib.models import index
from lib.page_scorer.vectors import page_rows
from lib.store import digest_of

SAVED = Path(__file__).with_name("model")
MIN_COMPANIES = 5
MIN_QUESTIONS = 30
MODULES = (asking, combiner, features, identity, linear, names, nested, page_kinds, periods, terms, views)


def page_pool(
    study, questions: list[str], allowed: np.ndarray | None = None, encode=index.encode_queries
) -> Pool:
    """The pairs of question and page that the combiner orders.

    Args:
        study: gives the pages.
        questions: the texts.
        allowed: which pages may be chosen, boolean, shape (n_questions, n_pages); None for all.
        encode: see :func:`lib.ahead.views.view_scores`.
    """
    pages, filings = views.described_pages(study), views.identities(study)
    scores = views.view_scores(study, questions, encode)
    pair = identity_features(questions, filings)
    chosen = routed(scores, identity_score(pair), pages.filing)
    if allowed is not None:
        chosen = np.where(allowed, chosen, -np.inf)
    return make_pool(questions, scores, pages, filings, pair, chosen, study.profile.ahead.pool)


def gold_matrix(study) -> np.ndarray:
    """Which page is gold for which question, boolean, shape (n_questions, n_pages)."""
    gold, row_of = np.zeros((len(study.questions), len(study.pages)), bool), page_rows(study)
    for row, question in zip(gold, study.questions.itertuples(), strict=True):
        row[[row_of[question.doc_name, page] for page in question.gold_pages]] = True
    return gold


def task_of(study) -> Task:
    """The study's own questions over all pages, as something to learn from."""

    def make() -> Task:
        pool, gold = page_pool(study, study.questions["question"].tolist()), gold_matrix(study)
        company_of = dict(zip(study.filings["doc_name"], study.filings["company"], strict=True))
        asked, page_filings = study.questions["doc_name"].tolist(), study.pages["doc_name"].to_numpy()
        return Task(pool, gold[pool.rows, pool.columns], gold.sum(axis=1), asked, page_filings, company_of)

    return study.memo("ahead_task", make)


def saved_record() -> dict | None:
    """What the saved combiner was trained on and what was chosen; None when there is none."""
    path = SAVED / "combiner.json"
    return json.loads(path.read_text()) if path.is_file() else None


def is_own(study) -> bool:
    """Whether the saved combiner was trained on a question of this study, and so may not answer it."""
    record = saved_record()
    return record is None or bool(set(record["question_ids"]) & set(study.questions["question_id"]))


def has_folds(study) -> bool:
    """Whether this study's questions are scored by folds of their own, and not by the saved combiner."""
    enough = study.questions["company"].nunique() >= MIN_COMPANIES and len(study.questions) >= MIN_QUESTIONS
    return is_own(study) and enough


def training_params(study) -> dict:
    """What a trained combiner depends on."""
    return {
        "chunks": study.chunks_digest,
        "questions": study.questions_digest,
        "filings": digest_of([list(map(str, row)) for row in study.filings.itertuples(index=False)]),
        "settings": study.settings_of(("ahead", "embedder", "bm25")),
        "code": [code_hash(module) for module in MODULES],
        "kinds": digest_of(page_kinds.kinds()),
    }


def folds_of(study, seed: int | None = None):
    """The outer folds, by company; by default those of the profile's first seed."""
    settings = study.profile.ahead
    seed = settings.fold_seeds[0] if seed is None else seed
    return make_folds(study.questions, study.filings, "company", settings.n_folds, seed)


def fold_combiners(study, seed: int | None = None) -> list[tuple[tuple[int, ...], Combiner]]:
    """For each outer fold the questions that it tests and its combiner, trained if it is not stored."""
    seed = study.profile.ahead.fold_seeds[0] if seed is None else seed
    params, found = training_params(study) | {"seed": seed}, []
    for fold in folds_of(study, seed):
        entry = study.store.get("ahead/folds", params | {"fold": fold.number}, partial(_train, study, fold))
        study.show(entry.path / "fold.json", f"folds/ahead-{seed}-{fold.number}.json")
        found.append((fold.test, Combiner.load(entry.path)))
    return found


def _train(study, fold, target: Path) -> None:
    trained, record = fold_combiner(task_of(study), fold, study.profile.ahead)
    trained.save(target, {})
    (target / "fold.json").write_text(json.dumps(record, indent=1))


def pool_scores(study, pool: Pool, seed: int | None = None) -> np.ndarray:
    """The score of each pair, shape (n_pairs,), each question's by a combiner that may answer it.

    A dataset of other questions is scored by the saved combiner. The dataset that it was trained on is scored by folds;
    where a part of it is too small for them, the plain order that chose the pages stays.
    """
    if not is_own(study):
        return Combiner.load(SAVED).scores(pool)
    if not has_folds(study):
        return pool.table["chosen"].to_numpy(float)
    scores = np.empty(len(pool.rows))
    for test, trained in fold_combiners(study, seed):
        mine = np.isin(pool.rows, test)
        if mine.any():
            scores[mine] = trained.scores(pool.part(mine))
    return scores
