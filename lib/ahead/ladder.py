"""From the plain order to the whole method, one ingredient per step; and the whole without or with one ingredient.

Every rung is trained and chosen within the same folds as the method itself, on the columns of its ingredients alone.
"""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml

from lib.ahead import training
from lib.ahead.combiner import fit_linear, linear_scores
from lib.ahead.pool import page_index, signal_features
from lib.ahead.training import Task, task_of
from lib.evaluation import METRIC_COLUMNS
from lib.metrics.frame import long_frame
from lib.page_scorer.pages import base_vectors
from lib.profile import Settings
from lib.retrievers import dense, splade
from lib.study import Study

TABLE = yaml.safe_load(Path(__file__).with_name("rungs.yaml").read_text())
INGREDIENTS: dict[str, str] = TABLE["ingredients"]
ALL = tuple(INGREDIENTS)
PARTS = ALL[1:]
#: Signals that are tried in addition: the settings that they depend on.
FURTHER_SIGNALS = {
    "children": ("embedder", "parent_child"),
    "sparse": ("splade",),
    "bare": ("embedder", "page_scorer", "page_scorer_light"),
}


class Rung(NamedTuple):
    """A step of the ladder: what it adds or leaves out, its INGREDIENTS, its learner, and one of FURTHER_SIGNALS.

    The learner is ``plain`` (the order that chose the pool), ``linear``, ``trees`` or ``both``.
    """

    name: str
    title: str
    ingredients: tuple[str, ...]
    learner: str
    signal: str = ""


LADDER = tuple(
    Rung(**row | {"ingredients": ALL if row["ingredients"] == "all" else tuple(row["ingredients"].split())})
    for row in TABLE["ladder"]
)
PLAIN = LADDER[0]
#: Compared with the rungs below: like them it has trees of one seed and lacks the order that chose the pool.
WHOLE = Rung("single", "all of it, with trees of one seed", PARTS, "both")
WITHOUT = tuple(
    Rung(f"no_{left}", f"without {left}", tuple(name for name in PARTS if name != left), "both")
    for left in ("identity", "windows", "heads", "words", "kinds", "neighbours")
)
FURTHER = tuple(Rung(**row, ingredients=PARTS, learner="both") for row in TABLE["further"])
RUNGS = (*LADDER, WHOLE, *WITHOUT, *FURTHER)


def columns_of(ingredients: Sequence[str], table: pd.DataFrame) -> list[str]:
    """The table's columns that need no other ingredients than these."""
    others = "|".join(pattern for name, pattern in INGREDIENTS.items() if name not in ingredients)
    return [column for column in table if not re.fullmatch(others, column)]


def further_signal(study: Study, signal: str) -> np.ndarray:
    """One of FURTHER_SIGNALS, shape (n_questions, n_pages); a page's score is that of its best chunk, or its own."""
    if signal == "bare":
        queries, pages = base_vectors(study)
        return queries @ pages.T
    score = {"children": dense.score_children, "sparse": splade.score}[signal]
    chunks = score(study, study.candidates("standard"))
    chunks = np.where(np.isfinite(chunks), chunks, chunks[np.isfinite(chunks)].min())
    best = np.full((len(chunks), len(study.pages)), chunks.min(), np.float32)
    np.maximum.at(best, (slice(None), page_index(study).chunk_pages), chunks)
    return best


def rung_table(study: Study, rung: Rung) -> pd.DataFrame:
    """The columns that a rung learns from, one row per pair; a further signal's are made like the built-in ones."""
    pool = task_of(study).pool
    table = pool.table[columns_of(rung.ingredients, pool.table)]
    if rung.signal:
        signal = further_signal(study, rung.signal)
        added = signal_features(rung.signal, signal, page_index(study).pages.groups)
        table = table.assign(**{name: values[pool.rows, pool.columns] for name, values in added.items()})
    return table


def rung_scores(study: Study, rung: Rung, seed: int) -> np.ndarray:
    """The score of each pair of the study's task, shape (n_pairs,), each by the fold that tests it; stored."""
    task, settings = task_of(study), study.profile.ahead
    if rung.learner == "plain":
        return task.pool.table["chosen"].to_numpy(float)
    shares = [0.0] if rung.learner == "trees" else settings.shares
    settings = Settings(settings | {"shares": shares, "seeds": settings.seeds[:1]})

    def compute(target: Path) -> None:
        pool = dataclasses.replace(task.pool, table=rung_table(study, rung))
        masked, scores = dataclasses.replace(task, pool=pool), np.empty(len(pool.rows))
        for fold in training.folds_of(study, seed):
            is_tested = np.isin(pool.rows, fold.test)
            tested = pool.part(is_tested)
            if rung.learner == "linear":
                linear = fit_linear(training.training_part(masked, fold).pool, settings.linear_l2)
                scores[is_tested] = linear_scores(linear, tested.table)
            else:
                scores[is_tested] = training.fold_combiner(masked, fold, settings)[0].scores(tested)
        np.save(target / "scores.npy", scores)

    columns = columns_of(rung.ingredients, task.pool.table)
    params = training.training_params(study) | {"seed": seed, "learner": rung.learner, "columns": columns}
    if rung.signal:
        read = study.settings_of(FURTHER_SIGNALS[rung.signal])
        params |= {"signal": rung.signal, "signal_settings": read}
    return np.load(study.store.get("ahead/rungs", params, compute).path / "scores.npy")


def recalls(task: Task, scores: np.ndarray, k: int) -> pd.DataFrame:
    """Document and page recall of the first k pages by score, one row per question, from the pairs alone."""
    rows, columns = task.pool.rows, task.pool.columns
    is_gold_filing = task.page_filings[columns] == task.gold_filings[rows]
    pairs = pd.DataFrame({"row": rows, "score": -scores, "doc": is_gold_filing, "page": task.pool.gold})
    top = pairs.sort_values("score", kind="stable").groupby("row").head(k).groupby("row")
    n_gold = pd.Series(task.n_gold)
    found = {"doc_recall": top["doc"].max().astype(float), "page_recall": top["page"].sum() / n_gold}
    return pd.DataFrame(found).reindex(n_gold.index).fillna(0.0)


def ladder_metrics(study: Study, k: int = 5) -> pd.DataFrame:
    """Every rung's recall, and the whole method's under each seed of the outer folds, as metrics of ``ahead``; stored.

    The metric is ``rung_doc_recall/<name>`` or ``rung_page_recall/<name>``, ``whole_<seed>`` being the method itself. A
    value of LADDER is the mean over the seeds, of the others that of the first. Without folds there is the plain rung.
    """

    def compute(target: Path) -> None:
        task, ids = task_of(study), study.questions["question_id"]
        seeds = study.profile.ahead.fold_seeds if training.has_folds(study) else []
        scores = {}
        for rung in RUNGS if seeds else [PLAIN]:
            drawn = (seeds if rung in LADDER else seeds[:1]) or [0]
            scores[rung.name] = [rung_scores(study, rung, seed) for seed in drawn]
        whole = {f"whole_{seed}": [training.pool_scores(study, task.pool, seed)] for seed in seeds}
        scores |= whole | ({"whole": [one for [one] in whole.values()]} if seeds else {})
        rows = []
        for name, drawn in scores.items():
            mean = sum(recalls(task, one, k) for one in drawn).set_axis(ids) / len(drawn)
            rows += [long_frame(mean[metric], f"rung_{metric}/{name}", k) for metric in mean]
        table = pd.concat(rows, ignore_index=True).assign(method="ahead", condition="standard")
        table[METRIC_COLUMNS].to_csv(target / "ladder.csv", index=False)

    params = training.training_params(study) | {"k": k}
    entry = study.store.get(f"ahead/ladder/{k}", params, compute, public=True)
    return pd.read_csv(entry.path / "ladder.csv", dtype={"question_id": str, "k": "Int64"})
