"""Tables of the chapter on generation: answers by context, and what a context holds."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lib.contexts import BEST_BASELINE, NONE, Context
from lib.generation import Answers
from lib.metrics.answers import NUMERIC_QUESTION_TYPES, numeric_match_strict
from lib.metrics.overlap import tokenize_rouge
from lib.metrics.significance import clustered_bootstrap
from lib.report.display import number, with_interval
from lib.report.tables import published_study, title, values_of

TITLES = {
    "answer_rouge_l": "ROUGE-L",
    "token_f1": "Token F1",
    "numeric_match": "Numeric match",
    "numeric_match_strict": "Strict match",
    "refusal": "Declined",
}
PUBLISHED_AS = {BEST_BASELINE: "best_baseline"}


def context_title(context: Context) -> str:
    """What a reader sees for a context."""
    if context.name == NONE:
        return "no context"
    return context.name if context.name == context.method else f"{context.name} ({title(context.method)})"


def summarise_answers(study, metrics: pd.DataFrame, contexts: Sequence[Context]) -> pd.DataFrame:
    """Means with intervals: context, metric, mean, low, high, n, n_companies."""
    settings, rows = study.profile.significance, []
    companies = study.questions.set_index("question_id")["company"]
    for context in contexts:
        for metric in TITLES:
            values = values_of(metrics, context.method, context.condition, metric, None)
            found = clustered_bootstrap(values, companies[values.index], settings.n_draws, settings.seed)
            rows.append((context.name, metric, *found))
    columns = ["context", "metric", "mean", "low", "high", "n", "n_companies"]
    return pd.DataFrame(rows, columns=columns)


def answers_table(
    summary: pd.DataFrame, contexts: Sequence[Context], n_missing: Mapping[str, int]
) -> pd.DataFrame:
    """One row a context: every metric with its interval, the published figures, and answers that are missing.

    ``Published`` is ROUGE-L and numeric match as the English version of the study prints them, and the numeric match
    of its French version.
    """
    known, rows = published_study()["generation"], []
    place = {name: number_ for number_, name in enumerate(known["contexts"])}
    for context in contexts:
        part = summary[summary["context"] == context.name].set_index("metric")
        row = {"Context": context_title(context)}
        row |= {TITLES[m]: with_interval(*part.loc[m, ["mean", "low", "high"]]) for m in TITLES}
        at = place.get(PUBLISHED_AS.get(context.name, context.name))
        names = ("answer_rouge_l", "numeric_match", "numeric_match_french")
        row["Published R / N (fr)"] = (
            "–" if at is None else "{:.2f} / {:.2f} ({:.2f})".format(*(known[n][at] for n in names))
        )
        row["Missing"] = n_missing.get(context.name, 0)
        rows.append(row)
    return pd.DataFrame(rows)


def held(question: pd.Series, text: str) -> tuple[float, float]:
    """What a text holds of a question's evidence: the share of its words, and whether the answer's number is there."""
    evidence, words = (
        pd.Series(tokenize_rouge(part), dtype=str).value_counts() for part in (question["evidence"], text)
    )
    shared = np.minimum(evidence, words.reindex(evidence.index, fill_value=0)).sum()
    return shared / max(evidence.sum(), 1), float(
        numeric_match_strict(text, question["answer"], question["question"])
    )


def context_table(study, written: Sequence[Answers]) -> pd.DataFrame:
    """What the room for context costs: beside the chunks that were retrieved, the segments that were read.

    Evidence words are counted over all questions, the answer's number over those whose answer is a number.
    """
    questions = study.questions.set_index("question_id", drop=False)
    texts = study.memo("chunk_texts", lambda: study.chunks.set_index("chunk_id")["text"].to_dict())
    is_numeric = questions["question_type"].isin(NUMERIC_QUESTION_TYPES).to_numpy()
    rows = []
    for one in written:
        run = study.run(one.context.method, one.context.condition)
        top = run[run["rank"] <= study.profile.answers.n_chunks]
        whole = top["chunk_id"].map(texts).groupby(top["question_id"]).agg("\n".join)
        row = {"Context": context_title(one.context)}
        for name, given in (("retrieved", whole), ("read", pd.Series(one.given))):
            pairs = [held(questions.loc[q], given.get(q, "")) for q in questions.index]
            words, numbers = np.array(pairs).T
            row[f"Evidence words {name}"] = number(words.mean())
            row[f"Answer's number {name}"] = number(
                numbers[is_numeric].mean() if is_numeric.any() else np.nan
            )
        tokens = [record["n_prompt_tokens"] for record in one.filled.records.values()]
        rows.append(row | {"Prompt tokens": f"{np.mean(tokens):.0f}" if tokens else "–"})
    return pd.DataFrame(rows)


def examples(
    study, written: Mapping[str, Answers], question_ids: Sequence[str], titles: Mapping[str, str]
) -> pd.DataFrame:
    """The answers of some questions side by side: one row a context, with the gold answer first."""
    questions, rows = study.questions.set_index("question_id"), []
    for question_id in question_ids:
        rows.append(
            {
                "Question": questions.loc[question_id, "question"],
                "Context": "gold answer",
                "Answer": questions.loc[question_id, "answer"],
            }
        )
        for name, one in written.items():
            rows.append({"Question": "", "Context": titles[name], "Answer": one.texts.get(question_id, "–")})
    return pd.DataFrame(rows)
