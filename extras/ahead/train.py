"""Training of the combiner that other datasets use."""

from pathlib import Path

from lib.ahead.combiner import fit_combiner
from lib.ahead.training import SAVED, choose, task_of
from lib.study import Study


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
        "curve": choice["curve"],
    }
    fit_combiner(task.pool, settings, choice["n_trees"], choice["share"]).save(target, about)
    return about
