"""Answers that a language model writes from a context, by one prompt (the reproduced study's layout), greedily."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import pandas as pd

from lib.answers.prompt_context import BEST_BASELINE, NONE, ORACLES, Context, context, contexts
from lib.evaluation import ANSWER_COLUMNS, METRIC_COLUMNS
from lib.method import memoized
from lib.method_sets import TRAINED
from lib.metrics.answers import BERT_SCORE, answer_metrics
from lib.metrics.frame import long_frame
from lib.metrics.right import right_metrics
from lib.models.encoders import Encoder, OnnxEncoder, load_encoder
from lib.models.prompts import Prompt, Sampling
from lib.models.weights import fetch, weights_hash
from lib.models.written import Filled, Item
from lib.study import Study

NO_SEGMENTS = "(no document segments)"
SYSTEM = (
    "You are a financial analyst assistant. You give accurate, concise and well-supported answers to questions, "
    "based on the document segments that you are given."
)
TEMPLATE = "Context:\n{context}\n\nQuestion: {question}\n\nAnswer:"
ANSWER_METRICS = tuple(
    "answer_right answer_rouge_l token_f1 numeric_match numeric_match_strict bert_score refusal".split()
)


@dataclass(frozen=True)
class Answers:
    """What was written for one context."""

    context: Context
    texts: dict[str, str]  # by question id
    filled: Filled = field(default_factory=Filled)


def prompt(question: str, given: str) -> Prompt:
    """The one prompt, for every context."""
    return Prompt(TEMPLATE.format(context=given or NO_SEGMENTS, question=question), SYSTEM)


def plan(methods: Sequence[str], best_baseline: str) -> list[Context]:
    """The contexts of the chapter: none, best baseline, TRAINED where they are among the methods, the two oracles."""
    trained = [name for name in TRAINED if name in methods]
    oracle = "dense" if "dense" in methods else best_baseline
    return [context(name, best_baseline, oracle) for name in (NONE, BEST_BASELINE, *trained, *ORACLES)]


def asked(study: Study) -> pd.DataFrame:
    """The questions that are answered: the first ones of each type as the profile says, or all."""
    n_each = study.profile.answers.of_each_type
    return study.questions.groupby("question_type", sort=False).head(n_each) if n_each else study.questions


def items(study: Study, wanted: Context) -> list[Item]:
    """What is to be written under one context, for the questions that are asked, in the study's order."""
    if "question" not in study.questions:
        study.need_filings("writing answers")
    settings, given = study.profile.answers, contexts(study, wanted)
    sampling = Sampling(max_tokens=settings.max_tokens, temperature=0.0, seed=settings.seed)
    return [
        Item(row.question_id, row.question_id, prompt(row.question, given[row.question_id]), sampling)
        for row in asked(study).itertuples()
    ]


def answers(study: Study, wanted: Context) -> Answers:
    """The answers of the questions that are asked under one context: stored, or written now."""
    filled = study.generation_log().fill("answer", items(study, wanted), study.make_generator)
    return Answers(wanted, filled.texts, filled)


def score(study: Study, written: Answers, measure: Callable = answer_metrics) -> pd.DataFrame:
    """The metrics of answers as METRIC_COLUMNS, ``k`` missing; an answer that was never written scores 0 in all."""
    questions = asked(study)[["question_id", "question", "answer", "question_type"]]
    table = measure(questions.assign(prediction=questions["question_id"].map(written.texts).fillna("")))
    table.loc[~table["question_id"].isin(written.texts), "value"] = 0.0
    return table.assign(method=written.context.method, condition=written.context.condition)[METRIC_COLUMNS]


@memoized
def token_encoder(study: Study) -> Encoder | OnnxEncoder:
    """The study's encoder in single precision, for vectors of tokens."""
    return load_encoder(fetch(study.profile.embedder.weights), study.profile.embedder.window, "float32")


def bert_scores(study: Study, written: Answers) -> pd.DataFrame:
    """BERTScore of the answers by the study's encoder as METRIC_COLUMNS; 0 for an answer that was never written."""

    def measure(questions: pd.DataFrame) -> pd.DataFrame:
        encoder = token_encoder(study)
        both = (encoder.encode_tokens(questions[column].tolist()) for column in ("prediction", "answer"))
        values = [BERT_SCORE.function(*pair) for pair in zip(*both, strict=True)]
        return long_frame(pd.Series(values, questions["question_id"]), BERT_SCORE.name)

    return score(study, written, measure)


def effort(study: Study, written: Answers) -> pd.DataFrame:
    """What writing took: question_id, n_prompt_tokens, seconds, is_cut; a missing answer has no row."""
    cut, records = written.filled.cut, written.filled.records.items()
    rows = [(question, one["n_prompt_tokens"], one["seconds"], question in cut) for question, one in records]
    frame = pd.DataFrame(rows, columns=["question_id", "n_prompt_tokens", "seconds", "is_cut"])
    return frame.astype({"n_prompt_tokens": int, "seconds": float, "is_cut": bool})  # also where nothing was written


def context_params(study: Study, wanted: Context) -> dict:
    """What the scores of a context's answers depend on beside the answers: its name, its run and the gold."""
    run = study.run_entry(wanted.method, wanted.condition).digest if wanted.method != NONE else ""
    return {"context": wanted.name, "run": run, "gold": study.dataset.fingerprint}


def stored_frame(
    study: Study, stage: str, wanted: Context, make: Callable[[Study, Answers], pd.DataFrame]
) -> pd.DataFrame:
    """A frame without text that ``make`` derives from a context's answers: stored, and published with the results.

    It is not stored while answers are missing, as a later attempt may write them.
    """
    stage, params = f"{stage}/{wanted.name}", context_params(study, wanted)
    params |= {role: weights_hash(study.profile[role].weights) for role in ("generator", "embedder")}
    params |= {name: study.digest(name) for name in ("questions", "chunks")} | study.settings_of(("answers",))
    if study.store.find(stage, params) is None and (written := answers(study, wanted)).filled.missing:
        return make(study, written)
    return study.store.frame(stage, params, lambda: make(study, written), public=True)


def scores(study: Study, wanted: Sequence[Context]) -> pd.DataFrame:
    """The metrics of the answers of several contexts (METRIC_COLUMNS); a StudyError where questions lack answers."""
    study.need_answers("scoring what a model writes")
    stages = {"right": partial(score, measure=right_metrics), "metrics": score, "bert-score": bert_scores}
    parts = [stored_frame(study, f"answers/{stage}", one, make) for stage, make in stages.items() for one in wanted]
    return pd.concat(parts, ignore_index=True)


def answer_rows(study: Study, scored: pd.DataFrame, wanted: Sequence[Context], prompt: str = "plain") -> pd.DataFrame:
    """Scores of several contexts as ANSWER_COLUMNS: by the context's name, the prompt's and the generator's."""
    names = pd.DataFrame([(one.name, *one.run) for one in wanted], columns=["context", "method", "condition"])
    table = scored.merge(names, on=["method", "condition"])
    return table.assign(prompt=prompt, generator=study.profile.generator.weights)[ANSWER_COLUMNS]


def efforts(study: Study, wanted: Sequence[Context]) -> pd.DataFrame:
    """What writing the answers of several contexts took: context, and the columns of :func:`effort`."""
    parts = [stored_frame(study, "answers/effort", one, effort).assign(context=one.name) for one in wanted]
    return pd.concat(parts, ignore_index=True)
