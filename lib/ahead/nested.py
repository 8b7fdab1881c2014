"""Training that never sees what it is scored on: outer folds by company to score, inner folds to choose.

Within an outer fold's training questions the number of trees and the linear ranker's share are chosen by inner folds, by
company again (nested cross-validation; Varma & Simon, BMC Bioinformatics 2006). Negatives come from the training
companies' filings alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.ahead.combiner import Combiner, fit_combiner, fit_trees, per_question
from lib.ahead.features import Pool
from lib.ahead.linear import fit_linear
from lib.folds import Fold, LeakError, assign_folds

CHOICE_DEPTH = 10


@dataclass(frozen=True)
class Choice:
    """What was chosen inside, and the mean nDCG of every choice there was."""

    n_trees: int
    share: float
    curve: tuple[dict, ...]


def subset(pool: Pool, pairs: np.ndarray) -> Pool:
    """The pairs of a pool that a boolean mask keeps."""
    return Pool(pool.rows[pairs], pool.columns[pairs], pool.table[pairs])


def ndcg(pool: Pool, gold: np.ndarray, scores: np.ndarray, n_gold: np.ndarray, depth: int = CHOICE_DEPTH) -> float:
    """The mean nDCG of the pool's questions, gold pages being relevant.

    Args:
        pool: pairs.
        gold: whether each pair's page is gold.
        scores: of each pair.
        n_gold: gold pages of every question, whether or not the pool holds them.
    """
    values = []
    for row in np.unique(pool.rows):
        mine = pool.rows == row
        found = gold[mine][np.argsort(-scores[mine], kind="stable")[:depth]]
        discount = 1 / np.log2(np.arange(2, depth + 2))
        values.append((found * discount[: len(found)]).sum() / discount[: min(depth, n_gold[row])].sum())
    return float(np.mean(values))


def choose(
    pool: Pool, gold: np.ndarray, n_gold: np.ndarray, questions: Sequence[int], groups: Sequence[str], settings
) -> Choice:
    """Choose the number of trees and the linear share on some questions alone.

    Args:
        pool: pairs of these questions.
        gold: whether each pair's page is gold.
        n_gold: gold pages of every question.
        questions: the questions.
        groups: the company of each of them.
        settings: the profile's section ``ahead``.
    """
    inner = assign_folds(groups, settings.inner_folds, settings.seeds[0])
    fold_of = dict(zip(questions, inner, strict=True))
    numbers = np.array([fold_of[row] for row in pool.rows])
    totals: dict[tuple[int, float], float] = {}
    for number in range(inner.max() + 1):
        train, held_out = numbers != number, subset(pool, numbers == number)
        parts = pool.table[train], gold[train], pool.rows[train]
        linear = per_question(fit_linear(*parts, settings.linear_l2).scores(held_out.table), held_out.rows)
        booster = fit_trees(*parts, settings, max(settings.n_trees), settings.seeds[0])
        for n_trees in settings.n_trees:
            trees = booster.predict(held_out.table, num_iteration=n_trees, num_threads=1)
            for share in settings.shares:
                scores = per_question(trees, held_out.rows) + share * linear
                value = ndcg(held_out, gold[numbers == number], scores, n_gold) * (inner == number).mean()
                totals[n_trees, share] = totals.get((n_trees, share), 0.0) + value
    n_trees, share = max(totals, key=totals.get)
    curve = tuple({"n_trees": n, "share": w, "ndcg": round(value, 5)} for (n, w), value in totals.items())
    return Choice(n_trees, share, curve)


def refuse_leaks(fold: Fold, trained: Sequence[int], filings: set[str], company_of: dict[str, str], asked: pd.Series) -> None:
    """Check that training reads no company that the fold tests.

    Args:
        fold: the fold.
        trained: the questions that training reads.
        filings: the filings whose pages it reads.
        company_of: company by filing.
        asked: the gold filing of every question, by row.

    Raises:
        LeakError: a question, filing or company on both sides.
    """
    if both := set(trained) & set(fold.test):
        raise LeakError(f"fold {fold.number}: questions in training and in test: {sorted(both)}; training was not started")
    read = {company_of[name] for name in filings} | {company_of[asked.iloc[row]] for row in trained}
    tested = {company_of[name] for name in fold.test_filings} | {company_of[asked.iloc[row]] for row in fold.test}
    if both := read & tested:
        names = ", ".join(sorted(both))
        raise LeakError(f"fold {fold.number}: companies in training and in test: {names}; training was not started")


def fold_combiner(
    pool: Pool, gold: np.ndarray, n_gold: np.ndarray, fold: Fold, filings: pd.DataFrame, page_names: np.ndarray, asked: pd.Series, settings
) -> tuple[Combiner, dict]:
    """Train the combiner of one fold.

    Args:
        pool: pairs of all questions.
        gold: whether each pair's page is gold.
        n_gold: gold pages of every question.
        fold: by company.
        filings: ``doc_name`` and ``company``.
        page_names: the filing of each page.
        asked: the gold filing of every question.
        settings: the profile's section ``ahead``.

    Returns:
        The combiner and a record of what was chosen.

    Raises:
        LeakError: training would read what the fold tests.
    """
    company_of = dict(zip(filings["doc_name"], filings["company"], strict=True))
    readable = np.isin(page_names, list(fold.train_filings))
    pairs = np.isin(pool.rows, fold.train) & readable[pool.columns]
    part, truth = subset(pool, pairs), gold[pairs]
    trained = sorted(set(part.rows.tolist()))
    refuse_leaks(fold, trained, set(page_names[part.columns]), company_of, asked)
    groups = [company_of[asked.iloc[row]] for row in trained]
    choice = choose(part, truth, n_gold, trained, groups, settings)
    combiner = fit_combiner(
        part.table, truth, part.rows, settings, choice.n_trees, choice.share, settings.seeds
    )
    record = {
        "fold": fold.number,
        "n_train_questions": len(trained),
        "n_train_pairs": int(pairs.sum()),
        "n_test_questions": len(fold.test),
        "train_companies": sorted(set(groups)),
        "test_companies": sorted({company_of[asked.iloc[row]] for row in fold.test}),
        "n_trees": choice.n_trees,
        "share": choice.share,
        "curve": list(choice.curve),
    }
    return combiner, record
