"""Preference pairs: a training question's prompt, the gold answer as chosen, a wrong answer as rejected.

The prompt shows the gold filing's or the gold pages' chunks (an oracle context of chapter 06), so that the chosen
answer is one that the context supports. The rejected answer is what the untuned generator wrote to the same question
from what a retriever found, where that is wrong. A question that it answered right gives no pair. That the generator is
trained on preferences is Kim et al.'s (2025); how the pairs are made is ours.
"""

from collections import Counter
from dataclasses import dataclass

import pandas as pd

from lib.answers.answers import answers, asked, best_baseline, prompt
from lib.answers.prompt_context import BEST_BASELINE, ORACLES, Context, context, contexts, segments_read
from lib.evaluation import evaluate_all
from lib.folds import Fold, check_fold, make_folds
from lib.methods import METHODS, baselines
from lib.metrics.answers import NUMERIC_QUESTION_TYPES, numeric_match_strict, token_f1
from lib.page_scorer.full import training_pairs
from lib.page_scorer.pages import page_rows, page_texts
from lib.study import Study
from lib.words import StudyError

PAIR_COLUMNS = ["question_id", "messages", "chosen", "rejected"]


@dataclass(frozen=True)
class Pairs:
    """The pairs of a study.

    Attributes:
        table: PAIR_COLUMNS, one row a pair; ``messages`` is the prompt as a chat.
        counts: what became of the questions: ``pair``, ``right`` (answered right already), ``missing`` (no answer was
            written).
    """

    table: pd.DataFrame
    counts: Counter


def is_right(question_type: str, question: str, answer: str, written: str, right_from: float) -> bool:
    """Whether an answer needs no correction.

    Args:
        question_type, question, answer: of the dataset.
        written: what the generator wrote.
        right_from: token F1 from which an answer that has no number to match counts as right.
    """
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


def pairs(study: Study) -> Pairs:
    """The pairs of all questions that are answered; answers that are not in the log are written now."""
    return study.memo("preference_pairs", lambda: _pairs(study))


def _pairs(study: Study) -> Pairs:
    right_from = study.profile.preference.right_from
    written = answers(study, rejected_context(study)).texts
    shown = contexts(study, prompt_context(study))
    rows, counts = [], Counter()
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


def fold_pairs(study: Study, fold: Fold) -> tuple[pd.DataFrame, dict]:
    """A fold's training pairs, and the record of the check that they hold nothing of its test questions.

    What is checked are the pages behind the pairs: the gold pages, which the chosen answers are from, and the pages
    whose chunks the prompts show.

    Raises:
        LeakError: they do.
        StudyError: no question of the fold gives a pair.
    """
    found, all_texts, row_of = pairs(study), page_texts(study), page_rows(study)
    ids = study.questions["question_id"]
    table = found.table[found.table["question_id"].isin(ids.iloc[list(fold.train)])].reset_index(drop=True)
    if table.empty:
        raise StudyError(
            f"fold {fold.number} by company: no training question gives a pair ({dict(found.counts)} of all questions)"
        )
    rows = [row for row, name in enumerate(ids) if name in set(table["question_id"])]
    shown = study.memo("preference_read", lambda: segments_read(study, prompt_context(study)))
    shown = shown[shown["question_id"].isin(table["question_id"])].merge(
        study.questions[["question_id", "question"]]
    )
    shown = shown.assign(
        text=[all_texts[row_of[key]] for key in zip(shown["doc_name"], shown["page"], strict=True)]
    )
    behind = pd.concat([training_pairs(study, rows), shown], ignore_index=True)
    test = study.questions.iloc[list(fold.test)]
    gold = {
        (row.doc_name, page): all_texts[row_of[row.doc_name, page]]
        for row in test.itertuples()
        for page in row.gold_pages
    }
    record = check_fold(fold, behind, study.questions, study.filings, gold)
    return table, record | {"n_train_pairs": len(table)}
