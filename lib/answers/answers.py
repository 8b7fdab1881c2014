"""Answers: a language model reads a context and answers the question; one prompt, one decoding, several contexts.

The prompt has the published study's layout: a system line, then Context, Question, Answer. Decoding takes the likeliest
token always. Run one context at a time: ``python -m lib.answers.answers --dataset financebench --context oracle-page``.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from lib.answers.prompt_context import BEST_BASELINE, NONE, ORACLES, Context, context, contexts
from lib.command import open_study, status_of, study_parser
from lib.evaluation import METRIC_COLUMNS, evaluate_all
from lib.methods import METHODS, TRAINED, baselines
from lib.metrics.answers import answer_metrics
from lib.models.generator import Prompt, Sampling
from lib.models.written import Filled, Item
from lib.words import NeedsFilings, StudyError

SYSTEM = (
    "You are a financial analyst assistant. You give accurate, concise and well-supported answers to questions, "
    "based on the document segments that you are given."
)
TEMPLATE = "Context:\n{context}\n\nQuestion: {question}\n\nAnswer:"
NO_SEGMENTS = "(no document segments)"
ANSWER_METRICS = ("answer_rouge_l", "token_f1", "numeric_match", "numeric_match_strict", "refusal")


@dataclass(frozen=True)
class Answers:
    """What was written for one context.

    Attributes:
        context: which context.
        texts: question id to answer; a question that nothing was written for is not there.
        filled: the records, and why others are missing.
    """

    context: Context
    texts: dict[str, str]
    filled: Filled


def prompt(question: str, given: str) -> Prompt:
    """The one prompt, for every context."""
    return Prompt(TEMPLATE.format(context=given or NO_SEGMENTS, question=question), SYSTEM)


def plan(methods: Sequence[str], best_baseline: str) -> list[Context]:
    """The contexts of the chapter: none, best baseline, TRAINED where they are among the methods, the two oracles."""
    trained = [name for name in TRAINED if name in methods]
    oracle = "dense" if "dense" in methods else best_baseline
    return [context(name, best_baseline, oracle) for name in (NONE, BEST_BASELINE, *trained, *ORACLES)]


def best_baseline(metrics: pd.DataFrame, k: int) -> str:
    """The baseline with the highest mean page recall at k; ties go to the first name.

    This is a choice on the test questions, as the published study's is: it flatters the baseline a little.

    Raises:
        StudyError: no baseline was measured.
    """
    among = metrics["method"].isin(baselines()) & (metrics["condition"] == "standard")
    rows = metrics[among & (metrics["metric"] == "page_recall") & (metrics["k"] == k)]
    if rows.empty:
        raise StudyError(f"no baseline is among the methods; add one of {', '.join(baselines())}")
    means = rows.groupby("method")["value"].mean().reset_index()
    return means.sort_values(["value", "method"], ascending=[False, True])["method"].iloc[0]


def asked(study) -> pd.DataFrame:
    """The questions that are answered: the first ones of each type as the profile says, or all."""
    n_each = study.profile.answers.of_each_type
    return study.questions.groupby("question_type", sort=False).head(n_each) if n_each else study.questions


def answers(study, wanted: Context, limit: int | None = None) -> Answers:
    """The answers of the questions that are asked under one context, from the log or written now.

    Args:
        study: gives questions, runs, settings and the log.
        wanted: the context.
        limit: only the first questions.
    """
    settings = study.profile.answers
    sampling = Sampling(max_tokens=settings.max_tokens, temperature=0.0, seed=settings.seed)
    given, questions = contexts(study, wanted), asked(study).head(limit or len(study.questions))
    items = [
        Item(row.question_id, row.question_id, prompt(row.question, given[row.question_id]), sampling)
        for row in questions.itertuples()
    ]
    filled = study.generation_log().fill("answer", items, study.make_generator)
    return Answers(wanted, filled.texts, filled)


def score(study, written: Answers) -> pd.DataFrame:
    """The metrics of answers as METRIC_COLUMNS, ``k`` missing; an answer that was never written scores 0 in all."""
    questions = asked(study)[["question_id", "question", "answer", "question_type"]]
    frame = questions.assign(prediction=questions["question_id"].map(written.texts).fillna(""))
    table = answer_metrics(frame)
    table.loc[~table["question_id"].isin(written.texts), "value"] = 0.0
    return table.assign(method=written.context.method, condition=written.context.condition)[METRIC_COLUMNS]


def published_scores(study, wanted: Context) -> pd.DataFrame:
    """The published metrics of a context's answers, where there are no filings to make contexts from.

    Raises:
        NeedsFilings: they were not published, or not with these settings.
    """
    if study.profile.answers != study.published.manifest["settings"].get("answers"):
        raise NeedsFilings("answers with other settings have to be written, which needs the filings")
    known = study.published.metrics
    is_wanted = (known["method"] == wanted.method) & (known["condition"] == wanted.condition)
    found = known[is_wanted & known["metric"].isin(ANSWER_METRICS)]
    if found.empty:
        raise NeedsFilings(f"answers with context {wanted.name} were not published")
    return found[METRIC_COLUMNS].reset_index(drop=True)


def scores(study, wanted: Sequence[Context]) -> tuple[dict[str, Answers], pd.DataFrame]:
    """The answers of several contexts by name, and their metrics; without filings no answers and published metrics."""
    if not study.has_filings:
        return {}, pd.concat([published_scores(study, one) for one in wanted], ignore_index=True)
    written = {one.name: answers(study, one) for one in wanted}
    return written, pd.concat([score(study, one) for one in written.values()], ignore_index=True)


def main() -> int:
    """Write the answers of one context; what is there already is not written again."""
    parser = study_parser("lib.answers.answers", main.__doc__)
    parser.add_argument(
        "--context", default=NONE, help=f"none, best-baseline, {', '.join(ORACLES)}, or a method"
    )
    parser.add_argument("--k", type=int, default=5, help="depth at which the best baseline is chosen")
    parser.add_argument("--limit", type=int, help="only the first questions")
    return status_of(write_answers, parser.parse_args())


def write_answers(args: argparse.Namespace) -> None:
    """What the command line asks for."""
    study, best = open_study(args, "06_generation"), ""
    if args.context == BEST_BASELINE:
        best = best_baseline(evaluate_all(study, baselines(), ["standard"]), args.k)
    oracle = "dense" if "dense" in METHODS else best
    written = answers(study, context(args.context, best, oracle), args.limit)
    print(
        f"{args.context} ({written.context.method}): {len(written.texts)} answers, {dict(written.filled.origins)}"
    )


if __name__ == "__main__":
    sys.exit(main())
