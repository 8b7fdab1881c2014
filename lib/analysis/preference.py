"""Preference training of the generator, as a chapter reads it: the pairs, what a run takes, and what it changed.

A pair is a training question's prompt, the gold answer as chosen, a wrong answer as rejected. The prompt shows the gold
filing's or the gold pages' chunks (an oracle context of chapter 06), so that the chosen answer is one that the context
supports. The rejected answer is what the untuned generator wrote to the same question from what a retriever found. A
question that it answered right gives no pair. That the generator is trained on preferences is Kim et al.'s (2025); how
the pairs are made is ours.

Memory is parameters times bytes. Trained in full, a parameter takes 16 bytes: its value, its gradient and Adam's two
moments, in float32 (Rajbhandari et al., SC 2020, 3.1). With adapters (LoRA, Hu et al., ICLR 2022) the model stays as it
is, 2 bytes a parameter in bfloat16, and only the adapters take 16. The reference's probabilities are computed before
training, so that no second model is held. Time counts operations as :mod:`extras.preflight` does.
"""

import math
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from lib.answers.answers import answers, asked, best_baseline, prompt
from lib.answers.prompt_context import BEST_BASELINE, ORACLES, Context, context, contexts, segments_read
from lib.evaluation import evaluate_all
from lib.folds import Fold, check_fold, make_folds
from lib.method import remembered, stored
from lib.methods import METHODS, baselines
from lib.metrics.answers import NUMERIC_QUESTION_TYPES, numeric_match_strict, token_f1
from lib.models.encoders import GIB, GPU_FLOPS, NEEDS_GPU_GIB, ROOM, gpu
from lib.models.weights import fetch, locked
from lib.page_scorer.full import training_pairs
from lib.page_scorer.pages import page_rows, page_texts
from lib.study import Study
from lib.words import StudyError

VERSION = COMPARED_VERSION = 1
COMPARED_STAGE = "preference/compared"
PAIR_COLUMNS = ["question_id", "messages", "chosen", "rejected"]
TRAINED_BYTES, FROZEN_BYTES = 16, 2
ADAPTER_SHARE = 4e-4  # of the parameters per rank, where all linear layers have adapters; less in larger models
OPERATIONS = {"full": 10, "lora": 8}  # a parameter and token: reference 2, forward 2, again 2, backward 4 or 2
CHARACTERS_A_TOKEN = 3  # of filings, which are full of numbers


class Pairs(NamedTuple):
    """The pairs of a study."""

    table: pd.DataFrame  # PAIR_COLUMNS, one row a pair; ``messages`` is the prompt as a chat
    counts: Counter  # of the questions: pair, right (answered right already), missing (no answer was written)


class Needs(NamedTuple):
    """What training takes."""

    n_parameters: int
    memory_gib: float  # of the GPU, with room for what a step computes
    hours: float  # on one data-centre GPU, good to a factor of about three


def is_right(question_type: str, question: str, answer: str, written: str, right_from: float) -> bool:
    """Whether a written answer needs no correction: the number matches, or without one token F1 is ``right_from``."""
    if question_type in NUMERIC_QUESTION_TYPES:
        return numeric_match_strict(written, answer, question)
    return token_f1(written, answer) >= right_from


def prompt_context(study: Study) -> Context:
    """The context that a training prompt shows.

    Raises:
        StudyError: it is no oracle's: then a prompt could hold pages of a company that is tested.
    """
    name = study.profile.preference.context
    if name not in ORACLES:
        raise StudyError(
            f"preference.context is {name!r}: say {' or '.join(ORACLES)}, so that a prompt holds its own filing alone"
        )
    return context(name, oracle="dense" if "dense" in METHODS else "bm25")


def rejected_context(study: Study) -> Context:
    """The context that the rejected answers were written from; ``best-baseline`` is chosen as in chapter 06."""
    name, best = study.profile.preference.rejected, ""
    if name == BEST_BASELINE:
        found = evaluate_all(study, baselines(), ["standard"])
        best = best_baseline(found, study.profile.answers.n_chunks)
    return context(name, best)


@remembered
def pairs(study: Study) -> Pairs:
    """The pairs of all questions that are answered; answers that are not in the log are written now."""
    right_from = study.profile.preference.right_from
    written = answers(study, rejected_context(study)).texts
    shown = contexts(study, prompt_context(study))
    rows, counted = [], Counter()
    for row in asked(study).itertuples():
        text = written.get(row.question_id)
        if text is None:
            counted["missing"] += 1
        elif is_right(row.question_type, row.question, row.answer, text, right_from):
            counted["right"] += 1
        else:
            counted["pair"] += 1
            messages = prompt(row.question, shown[row.question_id]).messages
            rows.append((row.question_id, messages, str(row.answer), text))
    return Pairs(pd.DataFrame(rows, columns=PAIR_COLUMNS), counted)


def folds(study: Study) -> list[Fold]:
    """The study's folds by company."""
    settings = study.profile.preference
    return make_folds(study.questions, study.filings, "company", settings.n_folds, settings.seed)


@remembered
def _read(study: Study) -> pd.DataFrame:
    return segments_read(study, prompt_context(study))


def fold_pairs(study: Study, fold: Fold) -> tuple[pd.DataFrame, dict]:
    """A fold's training pairs, and the record of the check that they hold nothing of its test questions.

    What is checked are the pages behind the pairs: the gold pages, which the chosen answers are from, and the pages
    whose chunks the prompts show.

    Raises:
        LeakError: they do.
        StudyError: no question of the fold gives a pair.
    """
    found, texts, row_of = pairs(study), page_texts(study), page_rows(study)
    ids, text_of = study.questions["question_id"], lambda place: texts[row_of[place]]
    table = found.table[found.table["question_id"].isin(ids.iloc[list(fold.train)])].reset_index(drop=True)
    if table.empty:
        raise StudyError(
            f"fold {fold.number} by company: no training question gives a pair ({dict(found.counts)} of all questions)"
        )
    rows = [row for row, name in enumerate(ids) if name in set(table["question_id"])]
    shown = _read(study)
    shown = shown[shown["question_id"].isin(table["question_id"])]
    shown = shown.merge(study.questions[["question_id", "question"]])
    shown = shown.assign(text=[*map(text_of, zip(shown["doc_name"], shown["page"], strict=True))])
    behind = pd.concat([training_pairs(study, rows), shown], ignore_index=True)
    test = study.questions.iloc[list(fold.test)].itertuples()
    gold = {place: text_of(place) for row in test for place in ((row.doc_name, page) for page in row.gold_pages)}
    record = check_fold(fold, behind, study.questions, study.filings, gold)
    return table, record | {"n_train_pairs": len(table)}


def n_parameters(weights: str) -> int:
    """The parameters of a model of the lock file, or of one in a directory of safetensors files."""
    if not Path(weights).is_dir() and "parameters" in locked(weights):
        return locked(weights)["parameters"]
    from safetensors import safe_open

    n_values = 0
    for path in fetch(weights).glob("*.safetensors"):
        with safe_open(path, "numpy") as tensors:
            slices = map(tensors.get_slice, tensors.keys())  # of which only the header is read
            n_values += sum(math.prod(one.get_shape()) for one in slices)
    return n_values


def estimate(n_parameters: int, settings: dict, n_characters: int = 0) -> Needs:
    """Memory and time of training.

    Args:
        n_parameters: of the model.
        settings: the profile's section ``preference``.
        n_characters: read in one epoch: each pair's prompt twice, and both answers; see :func:`characters`.

    Raises:
        StudyError: no such method.
    """
    method = settings["method"]
    if method not in OPERATIONS:
        raise StudyError(f"preference.method is {method!r}: say {' or '.join(OPERATIONS)}")
    adapters = FROZEN_BYTES + TRAINED_BYTES * ADAPTER_SHARE * settings["rank"]
    n_bytes = n_parameters * (TRAINED_BYTES if method == "full" else adapters)
    operations = OPERATIONS[method] * n_parameters * n_characters / CHARACTERS_A_TOKEN * settings["epochs"]
    return Needs(n_parameters, ROOM * n_bytes / GIB, operations / GPU_FLOPS / 3600)


def characters(table: pd.DataFrame) -> int:
    """The characters that an epoch over pairs reads."""
    prompts = [sum(len(part["content"]) for part in messages) for messages in table["messages"]]
    return 2 * sum(prompts) + int(table["chosen"].str.len().sum() + table["rejected"].str.len().sum())


def check_machine(profile: dict) -> Needs:
    """What training a profile's generator takes; its time is not known before the pairs are.

    Raises:
        StudyError: its backend does not train, or there is no GPU, or too small a one.
    """
    settings, weights = profile["preference"], profile["generator"]["weights"]
    if profile["generator"]["backend"] != "transformers":
        raise StudyError(
            f"the generator {weights} is run by {profile['generator']['backend']}, which does not train: say --profile "
            "preference or paper, or a profile whose generator has backend: transformers"
        )
    needed, found = estimate(n_parameters(weights), settings), gpu()
    size = f"{weights} has {needed.n_parameters / 1e9:.1f} billion parameters"
    if found is None and FROZEN_BYTES * needed.n_parameters >= NEEDS_GPU_GIB * GIB:
        raise StudyError(
            f"there is no GPU: {size}, and training it with preference.method {settings['method']} takes one of "
            f"{needed.memory_gib:.0f} GiB; run it where there is one, or choose a smaller generator"
        )
    if found is not None and found[1] < needed.memory_gib:
        smaller = "; say preference.method: lora" if settings["method"] == "full" else ""
        raise StudyError(
            f"{found[0]} has {found[1]:.0f} GiB: {size}, and training it takes {needed.memory_gib:.0f} GiB{smaller}"
        )
    return needed


def counts(study: Study) -> dict[str, int]:
    """What became of the questions (``pair``, ``right``, ``missing``), and the characters that an epoch of every fold
    reads (``n_characters``): a pair is trained on in all folds but one. Stored, and published without text.
    """
    return _counts(study, [study.run_digest(name, "standard") for name in baselines()])


@stored(
    "preference/counts", ["chunks", "questions"], ["preference", "answers", "generator"], version=VERSION, public=True
)
def _counts(study: Study, runs: list[str]) -> dict[str, int]:
    found = pairs(study)
    known = {name: found.counts[name] for name in ("pair", "right", "missing")}
    return known | {"n_characters": characters(found.table) * (len(folds(study)) - 1)}


def paragraph(study: Study, profile: dict) -> str:
    """How many pairs there are, and what training another profile's generator on as many takes, as Markdown."""
    found, settings, weights = counts(study), profile["preference"], profile["generator"]["weights"]
    size, needed = n_parameters(weights), found["n_characters"]
    lora, full = (estimate(size, settings | {"method": one}, needed) for one in ("lora", "full"))
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

    ``profile`` is by which was trained; ``fold`` the only one that was, None for all.
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
    return study.store.kept(stage, params, pd.DataFrame, COMPARED_VERSION, public=True)
