"""Preference training of the generator: the pairs that it learns from, and what it changed.

A pair is a training question's prompt over an oracle context, which supports the gold answer, that answer as chosen,
and as rejected the wrong one that the untuned generator wrote from what a retriever found; a question that it answered
right gives none. That a generator is trained on preferences is Kim et al.'s (2025); how the pairs are made is ours.
"""

from collections import Counter
from typing import NamedTuple

import pandas as pd

from lib.answers.answers import answers, asked, best_baseline, prompt
from lib.answers.prompt_context import BEST_BASELINE, ORACLES, Context, context, contexts, segments_read
from lib.evaluation import evaluate_all
from lib.folds import Fold, check_fold, make_folds
from lib.method import memoized, stored
from lib.method_sets import baselines
from lib.methods import METHODS
from lib.metrics.answers import NUMERIC_QUESTION_TYPES, numeric_match_strict, token_f1
from lib.page_scorer.full import training_pairs
from lib.page_scorer.pages import page_rows, page_texts
from lib.schema import NeedsFilings, StudyError
from lib.study import Study

VERSION = COMPARED_VERSION = 1
COMPARED_STAGE = "preference/compared"
PAIR_COLUMNS = ["question_id", "messages", "chosen", "rejected"]


class Pairs(NamedTuple):
    """The pairs of a study."""

    table: pd.DataFrame  # PAIR_COLUMNS; ``messages`` is the prompt as a chat
    counts: Counter  # of the questions: pair, right (answered right already), missing (no answer was written)


def is_right(question_type: str, question: str, answer: str, written: str, right_from: float) -> bool:
    """Whether a written answer needs no correction: the number matches, or without one token F1 is ``right_from``."""
    if question_type in NUMERIC_QUESTION_TYPES:
        return numeric_match_strict(written, answer, question)
    return token_f1(written, answer) >= right_from


def prompt_context(study: Study) -> Context:
    """The context that a training prompt shows; a StudyError where it is no oracle's, and a prompt could hold pages of
    a company that is tested."""
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


@memoized
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


@memoized
def _read(study: Study) -> pd.DataFrame:
    return segments_read(study, prompt_context(study))


def fold_pairs(study: Study, fold: Fold) -> tuple[pd.DataFrame, dict]:
    """A fold's training pairs, and the record of the check that the pages behind them (gold ones, which the chosen
    answers are from, and those that the prompts show) hold nothing of its test questions.

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


def counts(study: Study) -> dict[str, int]:
    """What became of the questions: ``pair``, ``right``, ``missing``. Stored, and published without text."""
    return _counts(study, [study.run_entry(name).digest for name in baselines()])


@stored(
    "preference/counts", ["chunks", "questions"], ["preference", "answers", "generator"], version=VERSION, public=True
)
def _counts(study: Study, runs: list[str]) -> dict[str, int]:
    found = pairs(study).counts
    return {name: found[name] for name in ("pair", "right", "missing")}


def stored_as(study: Study, profile: dict, fold: int | None) -> tuple[str, dict]:
    """The stage and key of a comparison of tuned and untuned answers: the ``profile`` by which was trained, and the
    only ``fold`` that was, None for all."""
    params = {name: study.digest(name) for name in ("chunks", "questions")}
    params |= {"gold": study.dataset.fingerprint, "fold": fold}
    params |= {name: dict(profile[name]) for name in ("preference", "answers", "generator")}
    return COMPARED_STAGE, params


def compared_before(study: Study, profile: dict, fold: int | None = 0) -> pd.DataFrame:
    """What training by a profile changed, by ``python -m lib train-preference``; empty where it was not run."""
    found = study.store.frame(*stored_as(study, profile, fold), None, COMPARED_VERSION)
    return pd.DataFrame() if found is None else found


def known_counts(study: Study) -> dict[str, int]:
    """:func:`counts`; empty where answers would be written now and the filings are not here."""
    try:
        return counts(study)
    except NeedsFilings:
        return {}
