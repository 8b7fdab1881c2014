"""What preference training changes: the answers of each fold's model to questions about companies it never saw."""

import pandas as pd

from extras.preference.pairs import folds
from lib.answers.answers import ANSWER_METRICS, Answers, items, score
from lib.answers.prompt_context import Context
from lib.models.generator import open_generator
from lib.models.prompts import Generator
from lib.models.weights import fetch, weights_hash
from lib.models.written import Filled, GenerationLog, Model
from lib.stats import Resampling
from lib.store import Entry
from lib.study import Study

LOG = "generations.preference.jsonl"
FIRST_PUBLISHED = {"difference_low": "low", "difference_high": "high"}  # columns of the table that is published


def open_tuned(study: Study, entry: Entry | None) -> Generator:
    """The profile's generator with the weights of a fold's model; without one, as it was before training."""
    settings = study.profile.generator
    has_adapters = entry is not None and (entry.path / "adapter_config.json").is_file()
    is_whole = entry is not None and not has_adapters
    generator = open_generator(settings, entry.path if is_whole else fetch(settings.weights))
    if has_adapters:
        from peft import PeftModel

        generator.model = PeftModel.from_pretrained(generator.model, str(entry.path)).merge_and_unload().eval()
    return generator


def tuned_answers(study: Study, wanted: Context, models: dict[int, Entry | None]) -> Answers:
    """The answers under one context, each by the model of the fold that the question's company was held out of.

    ``models`` are by the fold's number, None for the untrained one; questions of other folds are not asked. What is
    written is kept beside the study's own log.
    """
    every, whole, weights = items(study, wanted), Filled(), study.profile.generator.weights
    for fold, entry in ((fold, models[fold.number]) for fold in folds(study) if fold.number in models):
        model = Model(f"{weights}-dpo", entry.digest) if entry else Model(weights, weights_hash(weights))
        log = GenerationLog(study.home / LOG, study.cache, model, say=study.store.say)
        tested = set(study.questions["question_id"].iloc[list(fold.test)])
        mine = [item for item in every if item.question_id in tested]
        filled = log.fill("answer", mine, lambda entry=entry: open_tuned(study, entry))
        whole.records.update(filled.records)
        whole.missing.update(filled.missing)
        whole.origins.update(filled.origins)
    return Answers(wanted, whole.texts, whole)


def compared(study: Study, wanted: Context, models: dict[int, Entry]) -> pd.DataFrame:
    """The tuned answers against the untuned ones, on the questions of the models' folds, same contexts and runtime.

    Returns:
        metric, context, n, untuned and tuned (means), difference, low, high (95 %, clustered by company), p_holm.
    """
    tested = [row for fold in folds(study) if fold.number in models for row in fold.test]
    ids, values, draws = study.questions["question_id"].iloc[tested], [], Resampling.of(study)
    for by in (dict.fromkeys(models), models):
        table = score(study, tuned_answers(study, wanted, by))
        values.append(table[table["question_id"].isin(ids)].set_index(["metric", "question_id"])["value"])
    before, after = values
    names = [name for name in ANSWER_METRICS if name in before]
    parts = [draws.compare(before[name], {"tuned": after[name]}).assign(metric=name) for name in names]
    found = pd.concat(parts, ignore_index=True).drop(columns=["low", "high"])
    found = found.rename(columns={"reference_mean": "untuned", "mean": "tuned", **FIRST_PUBLISHED})
    columns = ["metric", "context", "n", "untuned", "tuned", "difference", "low", "high", "p_holm"]
    return found.assign(context=wanted.name)[columns]
