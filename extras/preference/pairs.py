"""The pairs that the generator learns from.

A pair is a training question's prompt over an oracle context, which supports the gold answer, that answer as chosen,
and as rejected the wrong one that the untuned generator wrote from what a retriever found; a question that it answered
right gives none. That a generator is trained on preferences is Kim et al.'s (2025); how the pairs are made is ours.
"""

from collections import Counter
from typing import NamedTuple

import pandas as pd

from lib.analysis.preference import RUNS
from lib.answers.answers import answers, asked, prompt
from lib.answers.prompt_context import BEST_BASELINE, ORACLES, Context, context, contexts, segments_read
from lib.evaluation import evaluate_all
from lib.folds import Fold, check_fold, make_folds
from lib.method import memoized
from lib.method_sets import best_standard
from lib.methods import METHODS
from lib.metrics.answers import NUMERIC_QUESTION_TYPES, numeric_match_strict, token_f1
from lib.page_scorer.full import training_pairs
from lib.page_scorer.pages import page_texts
from lib.retrievers.places import page_rows
from lib.schema import StudyError
from lib.study import Study

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
    """The context of training prompts; a StudyError if it is no oracle's, as it may hold pages of tested companies."""
    name = study.profile.preference.context
    if name not in ORACLES:
        raise StudyError(f"preference.context is {name!r}; choose from {', '.join(ORACLES)}")
    return context(name, oracle="dense" if "dense" in METHODS else "bm25")


def rejected_context(study: Study) -> Context:
    """The context that the rejected answers were written from; ``best-baseline`` is chosen as in chapter 06."""
    name, best = study.profile.preference.rejected, ""
    if name == BEST_BASELINE:
        metrics = evaluate_all(study, RUNS, ["standard"])
        best = best_standard(metrics.means("page_recall", study.profile.answers.n_chunks))
    return context(name, best)


@memoized
def pairs(study: Study) -> Pairs:
    """The pairs of all questions that are answered; answers that are not in the log are written now."""
    right_from = study.profile.preference.right_from
    written = answers(study, rejected_context(study)).texts
    shown = contexts(study, prompt_context(study))
    rows, counts = [], Counter(pair=0, right=0, missing=0)
    for row in asked(study).itertuples():
        text = written.get(row.question_id)
        if text is None:
            counts["missing"] += 1
        elif is_right(row.question_type, row.question, row.answer, text, right_from):
            counts["right"] += 1
        else:
            counts["pair"] += 1
            messages = prompt(row.question, shown[row.question_id]).messages
            rows.append((row.question_id, messages, str(row.answer), text))
    return Pairs(pd.DataFrame(rows, columns=PAIR_COLUMNS), counts)


def folds(study: Study) -> list[Fold]:
    """The study's folds by company."""
    settings = study.profile.preference
    return make_folds(study.questions, study.filings, "company", settings.n_folds, settings.seed)


@memoized
def _pages_shown(study: Study) -> pd.DataFrame:
    return segments_read(study, prompt_context(study))


def fold_pairs(study: Study, fold: Fold) -> tuple[pd.DataFrame, dict]:
    """A fold's training pairs, and the record of the check that their pages (gold ones, which the chosen answers are
    from, and those that the prompts show) hold nothing of its test questions.

    Raises:
        LeakError: they do.
        StudyError: no question of the fold gives a pair.
    """
    every, texts, row_of = pairs(study), page_texts(study), page_rows(study)
    ids, text_of = study.questions["question_id"], lambda place: texts[row_of[place]]
    table = every.table[every.table["question_id"].isin(ids.iloc[list(fold.train)])].reset_index(drop=True)
    if table.empty:
        counts = dict(every.counts)
        raise StudyError(
            f"fold {fold.number} by company: no training question gives a pair ({counts} of all questions)"
        )
    rows = [row for row, name in enumerate(ids) if name in set(table["question_id"])]
    shown = _pages_shown(study)
    shown = shown[shown["question_id"].isin(table["question_id"])]
    shown = shown.merge(study.questions[["question_id", "question"]])
    shown = shown.assign(text=[*map(text_of, zip(shown["doc_name"], shown["page"], strict=True))])
    sources = pd.concat([training_pairs(study, rows), shown], ignore_index=True)
    test = study.questions.iloc[list(fold.test)].itertuples()
    gold = {place: text_of(place) for row in test for place in ((row.doc_name, page) for page in row.gold_pages)}
    record = check_fold(fold, sources, study.questions, study.filings, gold)
    return table, record | {"n_train_pairs": len(table)}
