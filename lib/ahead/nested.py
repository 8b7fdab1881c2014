"""Training that never reads what it is scored on: outer folds by company to score, inner folds to choose.

Within an outer fold's training questions the number of trees and the linear ranker's share are chosen by inner folds,
by company again (nested cross-validation; Varma & Simon, BMC Bioinformatics 2006). Negatives come from the training
companies' filings alone.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lib.ahead.combiner import Combiner, fit_combiner, fit_trees, per_question
from lib.ahead.linear import fit_linear
from lib.ahead.pool import Pool
from lib.folds import Fold, LeakError, assign_folds
from lib.profile import Settings

CHOICE_DEPTH = 10


@dataclasses.dataclass(frozen=True)
class Task:
    """Labelled pairs of question and page, with their filings and companies.

    Attributes:
        pool: pairs of all questions.
        gold: whether each pair's page is gold, boolean.
        n_gold: gold pages of every question, in the pool or not.
        gold_filings: the gold filing of every question.
        page_filings: the filing of every page.
        company_of: company by filing.
    """

    pool: Pool
    gold: np.ndarray
    n_gold: np.ndarray
    gold_filings: Sequence[str]
    page_filings: np.ndarray
    company_of: Mapping[str, str]

    def part(self, pairs: np.ndarray) -> "Task":
        """The same with only the pairs that a boolean mask keeps."""
        return dataclasses.replace(self, pool=self.pool.part(pairs), gold=self.gold[pairs])

    @property
    def questions(self) -> list[int]:
        """The questions that have pairs here."""
        return np.unique(self.pool.rows).tolist()

    def companies(self, questions: Iterable[int]) -> list[str]:
        """The company of each question's gold filing."""
        return [self.company_of[self.gold_filings[row]] for row in questions]

    def companies_read(self) -> set[str]:
        """All companies of questions and of pages here."""
        filings = set(self.page_filings[np.unique(self.pool.columns)])
        return {self.company_of[name] for name in filings} | set(self.companies(self.questions))


class Choice(NamedTuple):
    """The chosen settings, and the mean nDCG of every combination that was tried."""

    n_trees: int
    share: float
    curve: list[dict]


def ndcg(task: Task, scores: np.ndarray, depth: int = CHOICE_DEPTH) -> np.ndarray:
    """The nDCG of each question that has pairs, gold pages being relevant."""
    discount, values = 1 / np.log2(np.arange(2, depth + 2)), []
    for row in task.questions:
        mine = task.pool.rows == row
        found = task.gold[mine][np.argsort(-scores[mine], kind="stable")[:depth]]
        best = discount[: min(depth, task.n_gold[row])].sum()
        values.append((found * discount[: len(found)]).sum() / best)
    return np.array(values)


def choose(task: Task, settings: Settings) -> Choice:
    """Choose the number of trees and the linear share on the task's questions alone, by inner folds by company.

    Args:
        task: the training questions and pairs of an outer fold.
        settings: the profile's section ``ahead``.
    """
    inner = assign_folds(task.companies(task.questions), settings.inner_folds, settings.seeds[0])
    numbers = inner[np.searchsorted(task.questions, task.pool.rows)]
    totals: dict[tuple[int, float], float] = {}
    for number in range(inner.max() + 1):
        train, held_out = task.part(numbers != number), task.part(numbers == number)
        table, rows = held_out.pool.table, held_out.pool.rows
        linear = per_question(fit_linear(train.pool, train.gold, settings.linear_l2).scores(table), rows)
        booster = fit_trees(train.pool, train.gold, settings, max(settings.n_trees), settings.seeds[0])
        for n_trees in settings.n_trees:
            trees = per_question(booster.predict(table, num_iteration=n_trees, num_threads=1), rows)
            for share in settings.shares:
                value = ndcg(held_out, trees + share * linear).sum() / len(task.questions)
                totals[n_trees, share] = totals.get((n_trees, share), 0.0) + value
    curve = [{"n_trees": n, "share": w, "ndcg": round(value, 5)} for (n, w), value in totals.items()]
    return Choice(*max(totals, key=totals.get), curve)


def training_part(task: Task, fold: Fold) -> Task:
    """The pairs that a fold's training may read: its questions with pages of its companies.

    Raises:
        LeakError: a question or a company is in training and in test.
    """
    readable = np.isin(task.page_filings, sorted(fold.train_filings))
    part = task.part(np.isin(task.pool.rows, fold.train) & readable[task.pool.columns])
    tested = {task.company_of[name] for name in fold.test_filings} | set(task.companies(fold.test))
    both = {"questions": set(part.questions) & set(fold.test), "companies": part.companies_read() & tested}
    for what, found in both.items():
        if found:
            names = ", ".join(map(str, sorted(found)))
            raise LeakError(f"fold {fold.number}: {what} in training and in test: {names}")
    return part


def fold_combiner(task: Task, fold: Fold, settings: Settings) -> tuple[Combiner, dict]:
    """Choose and train within one outer fold.

    Args:
        task: all questions and pairs.
        fold: by company.
        settings: the profile's section ``ahead``.

    Returns:
        The combiner, and a record of its training data and of the choice.

    Raises:
        LeakError: training would read what the fold tests.
    """
    part = training_part(task, fold)
    choice = choose(part, settings)
    combiner = fit_combiner(part.pool, part.gold, settings, choice.n_trees, choice.share, settings.seeds)
    record = {
        "fold": fold.number,
        "n_train_questions": len(part.questions),
        "n_train_pairs": len(part.pool.rows),
        "n_test_questions": len(fold.test),
        "train_companies": sorted(set(part.companies(part.questions))),
        "test_companies": sorted(set(part.companies(fold.test))),
    }
    return combiner, record | choice._asdict()
