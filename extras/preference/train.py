"""Preference training of a study's generator, one model a fold by company; each is stored and training is resumed.

``python -m lib train-preference --dataset financebench --profile paper`` trains all folds, has each answer the
questions that it never saw, and goes on where it was killed.
"""

import json
import shutil
from pathlib import Path

import click
import pandas as pd

from extras.preference.pairs import fold_pairs, folds, pairs, prompt_context, rejected_context
from extras.preflight import preflight
from lib.analysis import preference
from lib.files import digest_of
from lib.folds import Fold
from lib.models.weights import fetch, hub_models, weights_hash
from lib.schema import StudyError
from lib.store import Entry
from lib.study import Study

STAGE = "preference/model"
VERSION = 1
TRAINING = ("method", "beta", "learning_rate", "epochs", "batch_size", "warmup", "seed", "train_precision")
ADAPTERS = ("rank", "alpha")


def fold_model(study: Study, fold: Fold) -> Entry:
    """The model of a fold, trained if it is not stored: its directory also holds ``curves.json`` and ``fold.json``.

    Raises:
        LeakError: the training pairs hold something of the test fold.
        StudyError: the model cannot be trained here.
    """
    (table, record), settings = fold_pairs(study, fold), study.profile.preference
    weights, title = study.profile.generator.weights, f"fold {fold.number} by company"
    pairs = digest_of(table[["messages", "chosen", "rejected"]].values.tolist())
    names = TRAINING + (ADAPTERS if settings.method == "lora" else ())
    params = {"weights": weights_hash(weights), "pairs": pairs} | {name: settings[name] for name in names}
    checkpoints = study.store.root / STAGE / f"checkpoints-{study.store.key(STAGE, params, VERSION)}"

    def compute(target: Path) -> None:
        from extras.preference.dpo import save, train

        model, tokenizer, curve = train(fetch(weights), table, settings, checkpoints, title)
        save(model, tokenizer, weights, target)
        (target / "curves.json").write_text(json.dumps(curve, indent=1), encoding="utf-8")
        (target / "fold.json").write_text(json.dumps(record, indent=1), encoding="utf-8")

    entry = study.store.files(STAGE, params, compute, VERSION)
    shutil.rmtree(checkpoints, ignore_errors=True)
    return entry


def train_all(study: Study, say=print, only: int | None = None) -> dict[int, Entry]:
    """Every fold's model by the fold's number, or only one's; what is stored is not trained again."""
    models = {fold.number: fold_model(study, fold) for fold in folds(study) if only in (None, fold.number)}
    for number, entry in models.items():
        losses = [step["loss"] for step in json.loads((entry.path / "curves.json").read_text(encoding="utf-8"))]
        about = f"{len(losses)} steps, loss {losses[0]:.3f} to {losses[-1]:.3f}, {entry.origin}"
        say(f"fold {number}: {n_pairs(entry)} pairs, {about}")
    return models


def n_pairs(entry: Entry) -> int:
    """How many pairs a fold's model was trained on."""
    return json.loads((entry.path / "fold.json").read_text(encoding="utf-8"))["n_train_pairs"]


def run(study: Study, only: int | None) -> pd.DataFrame:
    """Train and compare; the counts of pairs and the comparison are stored without text, and shown in appendix a3."""
    from extras.preference.tuned import compared

    generator = study.profile.generator
    if generator.backend != "transformers":
        given = f"the generator {generator.weights} is run by {generator.backend}, which does not train it"
        raise StudyError(f"{given}; choose --profile preference or paper")
    if hub_models(study.profile):
        preflight(study)
    store, version = study.store, preference.VERSION
    store.frame(*preference.counts_entry(study), lambda: dict(pairs(study).counts), version, public=True)
    models = train_all(study, click.echo, only)

    def make() -> pd.DataFrame:
        tables = [compared(study, one, models) for one in (prompt_context(study), rejected_context(study))]
        return pd.concat(tables, ignore_index=True).assign(n_train_pairs=n_pairs(next(iter(models.values()))))

    return store.frame(*preference.comparison_entry(study, study.profile, only), make, version, public=True)
