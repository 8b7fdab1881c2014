"""Which trained combiner may score which question: one of this dataset's folds, or the saved one."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lib.ahead.combiner import Combiner, fit_combiner
from lib.ahead.nested import Task, choose, fold_combiner
from lib.ahead.page_kinds import kinds
from lib.ahead.pool import Pool, page_pool
from lib.files import digest_of
from lib.folds import Fold, make_folds
from lib.page_scorer.pages import page_rows
from lib.study import Study

SAVED = Path(__file__).with_name("model")
MIN_COMPANIES = 5
MIN_QUESTIONS = 30
VERSION = 1  # of everything that is trained on the pool


def task_of(study: Study) -> Task:
    """The study's questions over all pages, as training data."""

    def make() -> Task:
        questions, row_of = study.questions, page_rows(study)
        pool = page_pool(study, questions["question"].tolist())
        gold = np.zeros((len(questions), len(study.pages)), bool)
        for row, question in zip(gold, questions.itertuples(), strict=True):
            row[[row_of[question.doc_name, page] for page in question.gold_pages]] = True
        filings = questions["doc_name"].tolist(), study.pages["doc_name"].to_numpy()
        company_of = dict(zip(study.filings["doc_name"], study.filings["company"], strict=True))
        return Task(pool, gold[pool.rows, pool.columns], gold.sum(axis=1), *filings, company_of)

    return study.memo("ahead_task", make)


def saved_record() -> dict | None:
    """What the saved combiner was trained on and what was chosen; None if there is none."""
    path = SAVED / "combiner.json"
    return json.loads(path.read_text()) if path.is_file() else None


def is_own(study: Study) -> bool:
    """Whether the saved combiner was trained on a question of this study, and so may not answer it."""
    record = saved_record()
    return record is None or bool(set(record["question_ids"]) & set(study.questions["question_id"]))


def has_folds(study: Study) -> bool:
    """Whether this study's questions are scored by folds of their own, and not by the saved combiner."""
    enough = study.questions["company"].nunique() >= MIN_COMPANIES and len(study.questions) >= MIN_QUESTIONS
    return is_own(study) and enough


def training_params(study: Study) -> dict:
    """What a trained combiner depends on; computable without filings."""
    return {
        "chunks": study.digest("chunks"),
        "questions": study.digest("questions"),
        "filings": digest_of([list(map(str, row)) for row in study.filings.itertuples(index=False)]),
        "settings": study.settings_of(("ahead", "embedder", "bm25")),
        "kinds": digest_of(kinds()),
    }


def folds_of(study: Study, seed: int) -> list[Fold]:
    """The outer folds, by company."""
    return make_folds(study.questions, study.filings, "company", study.profile.ahead.n_folds, seed)


def fold_combiners(study: Study, seed: int) -> Iterator[tuple[Fold, Combiner]]:
    """Each outer fold with its combiner, trained if it is not stored."""
    for fold in folds_of(study, seed):

        def compute(target: Path, fold: Fold = fold) -> None:
            trained, record = fold_combiner(task_of(study), fold, study.profile.ahead)
            trained.save(target, {})
            (target / "fold.json").write_text(json.dumps(record, indent=1))

        params = training_params(study) | {"seed": seed, "fold": fold.number}
        entry = study.store.get("ahead/folds", params, compute, VERSION)
        study.link(entry.path / "fold.json", f"folds/ahead-{seed}-{fold.number}.json")
        yield fold, Combiner.load(entry.path)


def pool_scores(study: Study, pool: Pool, seed: int | None = None) -> np.ndarray:
    """The score of each pair, shape (n_pairs,), each question's by a combiner that may answer it.

    A dataset of other questions is scored by the saved combiner. The dataset that it was trained on is scored by folds;
    if a part of it is too small for them, by the plain score that chose the pages.
    """
    if not is_own(study):
        return Combiner.load(SAVED).scores(pool)
    if not has_folds(study):
        return pool.table["chosen"].to_numpy(float)
    scores, seeds = np.empty(len(pool.rows)), study.profile.ahead.fold_seeds
    for fold, combiner in fold_combiners(study, seeds[0] if seed is None else seed):
        tested = np.isin(pool.rows, fold.test)
        if tested.any():
            scores[tested] = combiner.scores(pool.part(tested))
    return scores


def train(study: Study, target: Path = SAVED) -> dict:
    """Train the combiner that other datasets use, on every question of a study, and save it.

    Args:
        study: with filings.
        target: directory of the combiner.

    Returns:
        What ``combiner.json`` says of its training data.
    """
    task, settings = task_of(study), study.profile.ahead
    choice = choose(task, settings)
    about = {
        "dataset": study.dataset.name,
        "fingerprint": study.dataset.fingerprint,
        "profile": study.profile.name,
        "embedder": study.settings_of(("embedder",))["embedder"],
        "n_questions": len(task.questions),
        "n_companies": study.questions["company"].nunique(),
        "question_ids": study.questions["question_id"].tolist(),
        "curve": choice.curve,
    }
    trained = fit_combiner(task.pool, task.gold, settings, choice.n_trees, choice.share, settings.seeds)
    trained.save(target, about)
    return about
