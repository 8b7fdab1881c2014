"""From plain routing to the whole method, one ingredient a step; and the whole without each of its ingredients.

Every rung is trained and chosen within the same folds as the method itself, on the columns of its ingredients alone.
"""

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from lib.ahead.linear import fit_linear
from lib.ahead.nested import Task, fold_combiner, training_part
from lib.ahead.pool import folds_of, task_of, training_params
from lib.profile import Settings

#: Ingredients and the columns that hold them (regular expressions of whole names).
INGREDIENTS = {
    "routing": r"chosen",
    "identity": r"company(?:_named)?|year_gap|same_year|near_year|quarter_fit|type_fit|days|near_date"
    r"|identity(?:_gap)?",
    "windows": r"window(?!.*beside).*",
    "heads": r"head(?!.*beside).*",
    "words": r"words(?!.*beside).*",
    "kinds": r"statement.*|n_statements|asked_.*|implied_.*|(?:balance|income|cashflow)_.*|\w+_items|\w+_title",
    "page": r"place_share|length|digits|filing_type",
    "neighbours": r".*_beside",
}


@dataclass(frozen=True)
class Rung:
    """A step of the ladder.

    Attributes:
        name: what it adds, or what it leaves out.
        ingredients: names of INGREDIENTS.
        learner: ``linear``, ``trees`` or ``both``.
    """

    name: str
    ingredients: tuple[str, ...]
    learner: str


ALL = tuple(INGREDIENTS)
LADDER = (
    Rung("weights learnt: windows and identity", ("windows", "identity"), "linear"),
    Rung("+ words", ("windows", "identity", "words"), "linear"),
    Rung("+ page heads behind an identity header", ("windows", "identity", "words", "heads"), "linear"),
    Rung("+ page kinds", ("windows", "identity", "words", "heads", "kinds"), "linear"),
    Rung("boosted trees in place of weights", ALL, "trees"),
)
WITHOUT = tuple(
    Rung(f"without {left_out}", tuple(name for name in ALL if name not in (left_out, "routing")), "both")
    for left_out in ("identity", "windows", "heads", "words", "kinds", "neighbours")
)


def columns_of(ingredients: Sequence[str], table: pd.DataFrame) -> list[str]:
    """The table's columns that hold the ingredients; a column belongs to the first ingredient that claims it."""
    owner = {}
    for column in table:
        claims = [name for name, pattern in INGREDIENTS.items() if re.fullmatch(pattern, column)]
        if not claims:
            raise ValueError(f"column {column!r} belongs to no ingredient")
        owner[column] = claims[0]
    return [column for column in table if owner[column] in ingredients]


def rung_scores(task: Task, rung: Rung, folds: Sequence, settings) -> np.ndarray:
    """The score of each pair under a rung, each question's by the fold that tests it, shape (n_pairs,)."""
    columns = columns_of(rung.ingredients, task.pool.table)
    masked = dataclasses.replace(task, pool=dataclasses.replace(task.pool, table=task.pool.table[columns]))
    shares = [0.0] if rung.learner == "trees" else settings.shares
    chosen = Settings(settings | {"shares": shares, "seeds": settings.seeds[:1]})
    scores = np.empty(len(task.pool.rows))
    for fold in folds:
        tested = np.isin(task.pool.rows, fold.test)
        if rung.learner == "linear":
            part = training_part(masked, fold)
            linear = fit_linear(part.pool.table, part.gold, part.pool.rows, settings.linear_l2)
            scores[tested] = linear.scores(masked.pool.table[tested])
        else:
            combiner, _ = fold_combiner(masked, fold, chosen)
            scores[tested] = combiner.scores(masked.pool.part(tested))
    return scores


def stored_scores(study, rung: Rung, seed: int) -> np.ndarray:
    """:func:`rung_scores` under one seed of the outer folds, stored."""

    def compute(target: Path) -> None:
        scores = rung_scores(task_of(study), rung, folds_of(study, seed), study.profile.ahead)
        np.save(target / "scores.npy", scores)

    columns = columns_of(rung.ingredients, task_of(study).pool.table)
    params = training_params(study) | {"seed": seed, "columns": columns, "learner": rung.learner}
    return np.load(study.store.get("ahead/rungs", params, compute).path / "scores.npy")


def recalls(task: Task, scores: np.ndarray, n_questions: int, k: int) -> pd.DataFrame:
    """Document and page recall of the first k pages by score: one row a question, from the pairs alone."""
    found = pd.DataFrame(0.0, index=range(n_questions), columns=["doc_recall", "page_recall"])
    for row in task.questions:
        mine = np.flatnonzero(task.pool.rows == row)
        top = mine[np.argsort(-scores[mine], kind="stable")[:k]]
        found.loc[row, "page_recall"] = task.gold[top].sum() / task.n_gold[row]
        found.loc[row, "doc_recall"] = float(
            np.any(task.page_filings[task.pool.columns[top]] == task.asked[row])
        )
    return found


def mean_recalls(study, scores: Callable[[int], np.ndarray], seeds: Sequence[int], k: int) -> pd.DataFrame:
    """:func:`recalls` averaged over seeds of the outer folds, with one column more: ``spread``, over seeds.

    Args:
        study: with gold pages.
        scores: gives the scores of all pairs for a seed.
        seeds: of the outer folds.
        k: pages.
    """
    task, n_questions = task_of(study), len(study.questions)
    parts = [recalls(task, scores(seed), n_questions, k) for seed in seeds]
    mean = sum(parts) / len(parts)
    means = [part["page_recall"].mean() for part in parts]
    return mean.assign(spread=max(means) - min(means)).set_index(study.questions["question_id"])


def rung_recalls(study, rung: Rung, k: int = 5) -> pd.DataFrame:
    """:func:`mean_recalls` of a rung under every seed of the profile."""
    return mean_recalls(study, partial(stored_scores, study, rung), study.profile.ahead.fold_seeds, k)
