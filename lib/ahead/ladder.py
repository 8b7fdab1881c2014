"""From the plain order to the whole method, one ingredient per step; and the whole without or with one ingredient.

Every rung is trained and chosen within the same folds as the method itself, on the columns of its ingredients alone.
"""

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from lib.ahead.linear import fit_linear
from lib.ahead.nested import Task, fold_combiner, training_part
from lib.ahead.pool import signal_features
from lib.ahead.signals import described_pages, pages_of_chunks
from lib.ahead.training import VERSION, folds_of, has_folds, pool_scores, task_of, training_params
from lib.evaluation import METRIC_COLUMNS
from lib.folds import Fold
from lib.metrics.retrieval import long_frame
from lib.page_scorer.pages import base_vectors
from lib.profile import Settings
from lib.retrievers import dense, splade
from lib.study import Study

FILE = "ladder.csv"
#: Ingredients and their columns (regular expressions of whole names).
INGREDIENTS = {
    "routing": r"chosen",
    "identity": r"company(?:_named)?|year_gap|same_year|near_year|quarter_fit|type_fit|days|near_date"
    r"|identity(?:_gap)?",
    "windows": r"window.*",
    "heads": r"head.*",
    "words": r"words.*",
    "kinds": r"statement.*|n_statements|asked_.*|implied_.*|(?:balance|income|cashflow)_.*|\w+_items|\w+_title",
    "page": r"place_share|length|digits|filing_type",
    "neighbours": r".*_beside",
}
ALL = tuple(INGREDIENTS)
PARTS = tuple(name for name in ALL if name != "routing")
#: Signals that are tried in addition: the settings that they depend on.
FURTHER_SIGNALS = {
    "children": ("embedder", "parent_child"),
    "sparse": ("splade",),
    "bare": ("embedder", "page_scorer", "page_scorer_light"),
}


@dataclass(frozen=True)
class Rung:
    """A step of the ladder.

    Attributes:
        name: in metrics, ``rung_page_recall/<name>``.
        title: what it adds, or what it leaves out.
        ingredients: names of INGREDIENTS.
        learner: ``plain`` (the order that chose the pool), ``linear``, ``trees`` or ``both``.
        signal: one of FURTHER_SIGNALS that is added, or empty.
    """

    name: str
    title: str
    ingredients: tuple[str, ...]
    learner: str
    signal: str = ""


FIRST = ("windows", "identity")
PLAIN = Rung("routed", "identity and windows added, nothing learnt", ("routing",), "plain")
LADDER = (
    PLAIN,
    Rung("linear", "weights of windows and identity learnt (linear)", FIRST, "linear"),
    Rung("words", "+ words (BM25 of stems, topic alone)", (*FIRST, "words"), "linear"),
    Rung("heads", "+ page heads behind an identity header", (*FIRST, "words", "heads"), "linear"),
    Rung("kinds", "+ page kinds", (*FIRST, "words", "heads", "kinds"), "linear"),
    Rung("trees", "boosted trees over all numbers instead", ALL, "trees"),
)
#: Compared with the rungs below: like them it has trees of one seed and lacks the order that chose the pool.
WHOLE = Rung("single", "all of it, with trees of one seed", PARTS, "both")
WITHOUT = tuple(
    Rung(f"no_{left}", f"without {left}", tuple(name for name in PARTS if name != left), "both")
    for left in ("identity", "windows", "heads", "words", "kinds", "neighbours")
)
FURTHER = (
    Rung("with_children", "with windows of 126 tokens (parent-child)", PARTS, "both", "children"),
    Rung("with_sparse", "with SPLADE", PARTS, "both", "sparse"),
    Rung("with_bare", "with page heads that have no identity header", PARTS, "both", "bare"),
)
RUNGS = (*LADDER, WHOLE, *WITHOUT, *FURTHER)


def columns_of(ingredients: Sequence[str], table: pd.DataFrame) -> list[str]:
    """The table's columns that need no other ingredients than these.

    Raises:
        ValueError: a column belongs to no ingredient.
    """
    kept = []
    for column in table:
        needed = {name for name, pattern in INGREDIENTS.items() if re.fullmatch(pattern, column)}
        if not needed:
            raise ValueError(f"column {column!r} belongs to no ingredient")
        kept += [column] if needed <= set(ingredients) else []
    return kept


def further_signal(study: Study, signal: str) -> np.ndarray:
    """One of FURTHER_SIGNALS, shape (n_questions, n_pages); a page's score is that of its best chunk, or its own."""
    if signal == "bare":
        queries, pages = base_vectors(study)
        return queries @ pages.T
    score = {"children": dense.score_children, "sparse": splade.score}[signal]
    chunks = score(study, study.candidates("standard"))
    chunks = np.where(np.isfinite(chunks), chunks, chunks[np.isfinite(chunks)].min())
    owners, best = pages_of_chunks(study), np.full((len(chunks), len(study.pages)), chunks.min(), np.float32)
    for row, values in zip(best, chunks, strict=True):
        np.maximum.at(row, owners, values)
    return best


def further_columns(study: Study, signal: str) -> pd.DataFrame:
    """The features of one extra signal, computed like the built-in ones, one row per pair of the study's pool."""
    pool, groups = task_of(study).pool, described_pages(study).groups
    features = signal_features(signal, further_signal(study, signal), groups)
    return pd.DataFrame({name: values[pool.rows, pool.columns] for name, values in features.items()})


def rung_scores(
    task: Task, rung: Rung, table: pd.DataFrame, folds: Sequence[Fold], settings: Settings
) -> np.ndarray:
    """The score of each pair under a rung, each question's by the fold that tests it, shape (n_pairs,).

    Args:
        task: the study's.
        rung: names the learner.
        table: the columns to learn from, one row per pair.
        folds: the outer folds.
        settings: the profile's section ``ahead``.
    """
    masked = dataclasses.replace(task, pool=dataclasses.replace(task.pool, table=table))
    shares = [0.0] if rung.learner == "trees" else settings.shares
    settings = Settings(settings | {"shares": shares, "seeds": settings.seeds[:1]})
    scores = np.empty(len(task.pool.rows))
    for fold in folds:
        tested = np.isin(task.pool.rows, fold.test)
        if rung.learner == "linear":
            part = training_part(masked, fold)
            ranker = fit_linear(part.pool, part.gold, settings.linear_l2)
            scores[tested] = ranker.scores(masked.pool.table[tested])
        else:
            combiner, _ = fold_combiner(masked, fold, settings)
            scores[tested] = combiner.scores(masked.pool.part(tested))
    return scores


def stored_scores(study: Study, rung: Rung, seed: int) -> np.ndarray:
    """:func:`rung_scores` under one seed of the outer folds, stored if something is trained."""
    task = task_of(study)
    if rung.learner == "plain":
        return task.pool.table["chosen"].to_numpy(float)
    columns = columns_of(rung.ingredients, task.pool.table)

    def compute(target: Path) -> None:
        table = task.pool.table[columns]
        if rung.signal:
            added = study.memo(("ahead_further", rung.signal), lambda: further_columns(study, rung.signal))
            table = pd.concat([table, added.set_axis(table.index)], axis=1)
        scores = rung_scores(task, rung, table, folds_of(study, seed), study.profile.ahead)
        np.save(target / "scores.npy", scores)

    params = training_params(study) | {"seed": seed, "columns": columns, "learner": rung.learner}
    if rung.signal:
        settings = study.settings_of(FURTHER_SIGNALS[rung.signal])
        params |= {"signal": rung.signal, "signal_settings": settings}
    return np.load(study.store.get("ahead/rungs", params, compute, VERSION).path / "scores.npy")


def recalls(task: Task, scores: np.ndarray, n_questions: int, k: int) -> pd.DataFrame:
    """Document and page recall of the first k pages by score, one row per question, from the pairs alone."""
    found = pd.DataFrame(0.0, index=range(n_questions), columns=["doc_recall", "page_recall"])
    for row in task.questions:
        mine = np.flatnonzero(task.pool.rows == row)
        top = mine[np.argsort(-scores[mine], kind="stable")[:k]]
        is_gold_filing = task.page_filings[task.pool.columns[top]] == task.gold_filings[row]
        found.loc[row] = float(np.any(is_gold_filing)), task.gold[top].sum() / task.n_gold[row]
    return found


def ladder_metrics(study: Study, k: int = 5) -> pd.DataFrame:
    """Every rung's recall, and the whole method's under each seed of the outer folds, as metrics of ``ahead``.

    A study without folds of its own has the plain rung alone.

    Args:
        study: with filings, or with published metrics.
        k: pages.

    Returns:
        METRIC_COLUMNS; metric is ``rung_doc_recall/<name>`` or ``rung_page_recall/<name>``, ``whole_<seed>`` being the
        method itself under a seed. A value of LADDER is the mean over the seeds, of the others that of the first seed.

    Raises:
        NeedsFilings: there are no filings, and the ladder was not published.
    """

    def compute(target: Path) -> None:
        measured_rungs(study, k).to_csv(target / FILE, index=False)

    params = training_params(study) | {"k": k}
    entry = study.store.get(f"ahead/ladder/{k}", params, compute, VERSION, public=True)
    return pd.read_csv(entry.path / FILE, dtype={"question_id": str, "k": "Int64"})


def measured_rungs(study: Study, k: int) -> pd.DataFrame:
    """:func:`ladder_metrics`, trained and measured now."""
    task, ids, frames = task_of(study), study.questions["question_id"], {}
    seeds = study.profile.ahead.fold_seeds if has_folds(study) else []
    for rung in RUNGS if seeds else [PLAIN]:
        drawn = (seeds if rung in LADDER else seeds[:1]) or [0]
        parts = [recalls(task, stored_scores(study, rung, seed), len(ids), k) for seed in drawn]
        frames[rung.name] = sum(parts) / len(parts)
    for seed in seeds:
        frames[f"whole_{seed}"] = recalls(task, pool_scores(study, task.pool, seed), len(ids), k)
    if seeds:
        frames["whole"] = sum(frames[f"whole_{seed}"] for seed in seeds) / len(seeds)
    rows = [
        long_frame(frame[metric].set_axis(ids), f"rung_{metric}/{name}", k)
        for name, frame in frames.items()
        for metric in frame
    ]
    return pd.concat(rows, ignore_index=True).assign(method="ahead", condition="standard")[METRIC_COLUMNS]
