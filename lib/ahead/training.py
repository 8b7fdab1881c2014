"""Training that never reads what it is scored on, and which trained combiner may score which question.

Outer folds by company score. Within a fold's training questions the number of trees and the linear ranker's share are
chosen by inner folds, by company again (nested cross-validation; Varma & Simon, BMC Bioinformatics 2006). Negatives
come from the training companies' filings alone.
"""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from lib.ahead.combiner import Combiner, fit_combiner, fit_linear, fit_trees, linear_scores, per_question
from lib.ahead.pages import kinds
from lib.ahead.pool import Pool, page_pool
from lib.files import digest_of
from lib.folds import Fold, LeakError, assign_folds, make_folds
from lib.frames import remembered
from lib.page_scorer.pages import page_rows
from lib.profile import Settings
from lib.study import Study

SAVED = Path(__file__).with_name("model")
MIN_COMPANIES, MIN_QUESTIONS = 5, 30
NDCG_DEPTH = 10


@dataclasses.dataclass(frozen=True)
class Task:
    """Labelled pairs of question and page.

    Beside them: for every question the number of gold pages, in the pool or not, and their filing; the filing of every
    page; the company of every filing.
    """

    pool: Pool
    n_gold: np.ndarray
    gold_filings: np.ndarray
    page_filings: np.ndarray
    company_of: Mapping[str, str]

    def part(self, pairs: np.ndarray) -> "Task":
        """The same with only the pairs that a boolean mask keeps."""
        return dataclasses.replace(self, pool=self.pool.part(pairs))

    @property
    def questions(self) -> list[int]:
        """The questions that have pairs here."""
        return np.unique(self.pool.rows).tolist()

    def companies(self, questions: Iterable[int]) -> list[str]:
        """The company of each question's gold filing."""
        return [self.company_of[self.gold_filings[row]] for row in questions]


@remembered
def task_of(study: Study) -> Task:
    """The study's questions over all pages, as training data."""
    questions, row_of = study.questions, page_rows(study)
    pool = page_pool(study, questions["question"].tolist())
    gold = np.zeros((len(questions), len(study.pages)), bool)
    for row, question in zip(gold, questions.itertuples(), strict=True):
        row[[row_of[question.doc_name, page] for page in question.gold_pages]] = True
    filings = questions["doc_name"].to_numpy(), study.pages["doc_name"].to_numpy()
    company_of = study.filings.set_index("doc_name")["company"].to_dict()
    pool = dataclasses.replace(pool, gold=gold[pool.rows, pool.columns])
    return Task(pool, gold.sum(axis=1), *filings, company_of)


def ndcg(task: Task, scores: np.ndarray) -> np.ndarray:
    """The nDCG of each question that has pairs, gold pages being relevant."""
    discount, values = 1 / np.log2(np.arange(2, NDCG_DEPTH + 2)), []
    for row in task.questions:
        mine = task.pool.rows == row
        found = task.pool.gold[mine][np.argsort(-scores[mine], kind="stable")[:NDCG_DEPTH]]
        best = discount[: task.n_gold[row]].sum()
        values.append((found * discount[: len(found)]).sum() / best)
    return np.array(values)


def choose(task: Task, settings: Settings) -> dict:
    """Choose on the task's questions alone: n_trees, share, and the curve, mean nDCG of every combination tried."""
    inner = assign_folds(task.companies(task.questions), settings.inner_folds, settings.seeds[0])
    numbers = inner[np.searchsorted(task.questions, task.pool.rows)]
    totals: dict[tuple[int, float], float] = {}
    for number in range(inner.max() + 1):
        train, held_out = task.pool.part(numbers != number), task.part(numbers == number)
        table, rows = held_out.pool.table, held_out.pool.rows
        linear = per_question(linear_scores(fit_linear(train, settings.linear_l2), table), rows)
        booster = fit_trees(train, settings, max(settings.n_trees), settings.seeds[0])
        for n_trees in settings.n_trees:
            trees = per_question(booster.predict(table, num_iteration=n_trees, num_threads=1), rows)
            for share in settings.shares:
                value = ndcg(held_out, trees + share * linear).sum() / len(task.questions)
                totals[n_trees, share] = totals.get((n_trees, share), 0.0) + value
    curve = [{"n_trees": n, "share": w, "ndcg": round(value, 5)} for (n, w), value in totals.items()]
    n_trees, share = max(totals, key=totals.get)
    return {"n_trees": n_trees, "share": share, "curve": curve}


def training_part(task: Task, fold: Fold) -> Task:
    """The pairs that a fold's training may read: its questions with pages of its companies.

    Raises:
        LeakError: a question or a company is in training and in test.
    """
    readable = np.isin(task.page_filings, sorted(fold.train_filings))
    part = task.part(np.isin(task.pool.rows, fold.train) & readable[task.pool.columns])
    read = {task.company_of[name] for name in np.unique(task.page_filings[part.pool.columns])}
    tested = {task.company_of[name] for name in fold.test_filings} | set(task.companies(fold.test))
    both = set(part.questions) & set(fold.test), (read | set(part.companies(part.questions))) & tested
    for what, found in zip(("questions", "companies"), both, strict=True):
        if found:
            raise LeakError(f"fold {fold.number}: {what} in training and in test: {sorted(found)}")
    return part


def fold_combiner(task: Task, fold: Fold, settings: Settings) -> tuple[Combiner, dict]:
    """Choose and train on :func:`training_part`: the combiner, and a record of its training data and of the choice."""
    part = training_part(task, fold)
    choice = choose(part, settings)
    record = {
        "fold": fold.number,
        "n_train_questions": len(part.questions),
        "n_train_pairs": len(part.pool.rows),
        "n_test_questions": len(fold.test),
        "train_companies": sorted(set(part.companies(part.questions))),
        "test_companies": sorted(set(part.companies(fold.test))),
    }
    return fit_combiner(part.pool, settings, choice["n_trees"], choice["share"]), record | choice


def saved_record() -> dict:
    """What the saved combiner was trained on and what was chosen."""
    return json.loads((SAVED / "combiner.json").read_text())


def is_own(study: Study) -> bool:
    """Whether the saved combiner was trained on a question of this study, and so may not answer it."""
    return not set(saved_record()["question_ids"]).isdisjoint(study.questions["question_id"])


def has_folds(study: Study) -> bool:
    """Whether this study's questions are scored by folds of their own, and not by the saved combiner."""
    enough = study.questions["company"].nunique() >= MIN_COMPANIES and len(study.questions) >= MIN_QUESTIONS
    return is_own(study) and enough


def training_params(study: Study) -> dict:
    """What a trained combiner depends on; computable without filings."""
    digests = {name: study.digest(name) for name in ("chunks", "pages", "questions")}
    digests |= {"filings": study.dataset.filings_digest, "kinds": digest_of(kinds())}
    return digests | {"settings": study.settings_of(("ahead", "embedder", "bm25"))}


def folds_of(study: Study, seed: int) -> list[Fold]:
    """The outer folds, by company."""
    return make_folds(study.questions, study.filings, "company", study.profile.ahead.n_folds, seed)


def pool_scores(study: Study, pool: Pool, seed: int | None = None) -> np.ndarray:
    """The score of each pair, shape (n_pairs,), each question's by a combiner that may answer it.

    Other datasets are scored by the saved combiner; the one that it was trained on by folds that have read nothing of a
    question's company, or, if a part of it is too small for them, by the plain score that chose the pages.
    """
    if not is_own(study):
        return study.memo("combiner", lambda: Combiner.load(SAVED)).scores(pool)
    if not has_folds(study):
        return pool.table["chosen"].to_numpy(float)
    scores = np.empty(len(pool.rows))
    seed = study.profile.ahead.fold_seeds[0] if seed is None else seed
    for fold in folds_of(study, seed):

        def compute(target: Path, fold: Fold = fold) -> None:
            trained, record = fold_combiner(task_of(study), fold, study.profile.ahead)
            trained.save(target, {})
            (target / "fold.json").write_text(json.dumps(record, indent=1))

        params = training_params(study) | {"seed": seed, "fold": fold.number}
        entry = study.store.get("ahead/folds", params, compute)
        study.link(entry.path / "fold.json", f"folds/ahead-{seed}-{fold.number}.json")
        tested = np.isin(pool.rows, fold.test)
        if tested.any():
            scores[tested] = Combiner.load(entry.path).scores(pool.part(tested))
    return scores
