"""Preference training in a paragraph: the pairs that a study gives, and what a run of the full-sized model takes."""

import pandas as pd

from lib.analysis.preference.needs import characters, estimate, n_parameters
from lib.analysis.preference.pairs import folds, pairs
from lib.methods import baselines
from lib.study import Study

VERSION = COMPARED_VERSION = 1
COMPARED_STAGE = "preference/compared"


def counts(study: Study) -> dict[str, int]:
    """What became of the questions (``pair``, ``right``, ``missing``), and the characters that an epoch of every fold
    reads (``n_characters``): a pair is trained on in all folds but one. Stored, and published without text.
    """
    params = {
        "chunks": study.digest("chunks"),
        "questions": study.digest("questions"),
        "settings": study.settings_of(("preference", "answers", "generator")),
        "runs": [study.run_digest(name, "standard") for name in baselines()],
    }

    def make() -> dict[str, int]:
        found = pairs(study)
        n_characters = characters(found.table) * (len(folds(study)) - 1)
        return {name: found.counts[name] for name in ("pair", "right", "missing")} | {
            "n_characters": n_characters
        }

    return study.store.value("preference/counts", params, make, VERSION, public=True)


def paragraph(study: Study, profile: dict) -> str:
    """How many pairs there are, and what training another profile's generator on as many takes.

    Args:
        study: gives the pairs, from what its own generator wrote.
        profile: names the model to train and how.

    Returns:
        Markdown.
    """
    found, settings, weights = counts(study), profile["preference"], profile["generator"]["weights"]
    size = n_parameters(weights)
    lora, full = (
        estimate(size, settings | {"method": method}, found["n_characters"]) for method in ("lora", "full")
    )
    n_questions = found["pair"] + found["right"] + found["missing"]
    return (
        f"Of {n_questions} questions {found['pair']} give a pair, {found['right']} were "
        f"answered right and {found['missing']} not at all. {weights} has {size / 1e9:.1f} billion parameters: "
        f"training adapters of rank {settings['rank']} takes a GPU of about {lora.memory_gib:.0f} GiB and, for "
        f"{settings['epochs']} epochs in {settings['n_folds']} folds, roughly {lora.hours:.1f} hours; training every "
        f"parameter takes {full.memory_gib:.0f} GiB and {full.hours:.1f} hours."
    )


def stored_as(study: Study, profile: dict, fold: int | None) -> tuple[str, dict]:
    """Where a comparison of tuned and untuned answers is stored: its stage, and all that it depends on.

    Args:
        study: gives questions, pages and runs.
        profile: by which was trained.
        fold: only this one was trained; None for all.
    """
    params = {name: study.digest(name) for name in ("chunks", "questions")}
    params |= {"gold": study.dataset.fingerprint, "fold": fold}
    params |= {name: dict(profile[name]) for name in ("preference", "answers", "generator")}
    return COMPARED_STAGE, params


def compared_before(study: Study, profile: dict, fold: int | None = 0) -> pd.DataFrame:
    """What training by a profile changed, of ``python -m extras.preference.train``: the columns of
    :func:`extras.preference.tuned.compared` and n_train_pairs; empty where it was not run."""
    stage, params = stored_as(study, profile, fold)
    if study.store.find(stage, params, COMPARED_VERSION) is None:
        return pd.DataFrame()
    return study.store.frame(stage, params, pd.DataFrame, COMPARED_VERSION, public=True)
