"""Training of the rankers that other datasets use."""

import json
from pathlib import Path

from lib.ahead import general
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


def train_general(study: Study, target: Path = general.SAVED) -> dict:
    """Train the rankers for questions of every kind on all questions over a study's filings, and save them.

    The share of the learnt order is chosen by folds by company, so three companies or more are needed.

    Args:
        study: with filings.
        target: directory of the rankers, ``plain`` and ``kinds``, the latter with the hand-written page kinds.

    Returns:
        What the file of the first says of its training data.
    """
    union, companies = general.union_of(study), set(study.filings["company"])
    sets = tuple(dict.fromkeys(union.questions["set"]))
    about = {
        "sets": union.questions["set"].value_counts().to_dict(),
        "n_questions": len(union.questions),
        "n_companies": int(union.questions["company"].nunique()),
        "embedder": study.settings_of(("embedder",))["embedder"],
        "question_ids": union.questions["question_id"].tolist(),
    }
    target.mkdir(parents=True, exist_ok=True)
    for name, variant in (("kinds", general.WITH_KINDS), ("plain", general.WHOLE)):
        record = about | {"share": general.choose(study, union, companies, sets, variant)}
        booster = general.fit(study, union, general.training_pairs(union, companies, sets), variant)
        (target / f"{name}.txt").write_text(booster.model_to_string())
        (target / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    return record
