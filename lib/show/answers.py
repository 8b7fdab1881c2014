"""Tables of the chapter on generation: answers by context, and what a context holds."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lib.analysis.breakdowns import group_interval
from lib.answers.answers import Answers, asked
from lib.answers.prompt_context import BEST_BASELINE, NONE, Context, segments_read
from lib.metrics.answers import NUMERIC_QUESTION_TYPES, numeric_match_strict
from lib.metrics.overlap import tokenize_rouge
from lib.show.display import number, with_interval
from lib.show.tables import published_study, title, values_of
from lib.stats import compare

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
    """Means with intervals (Wilson's where all score alike): context, metric, mean, low, high, n, n_companies."""
    settings, rows = study.profile.significance, []
    companies = study.questions.set_index("question_id")["company"]
    for context in contexts:
        for metric in TITLES:
            values = values_of(metrics, context.method, context.condition, metric, None)
            found, _ = group_interval(values, companies, settings.n_draws, settings.seed, widen_equal=True)
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


def word_share(evidence: str, text: str) -> float:
    """The share of the evidence's words that a text holds, each word as often as it is there."""
    wanted, there = Counter(tokenize_rouge(evidence)), Counter(tokenize_rouge(text))
    return (wanted & there).total() / max(wanted.total(), 1)


def context_table(study, written: Sequence[Answers]) -> pd.DataFrame:
    """What the room for context costs: beside the chunks that were retrieved, the segments that were read.

    Columns, each for what was retrieved and what was read: recall of gold pages; the share of the evidence's words that
    stand in text of the gold pages; whether the answer's number is stated, where the answer is a number.
    """
    study.need_filings("what a context holds")
    texts = study.memo("chunk_texts", lambda: study.chunks.set_index("chunk_id")["text"].to_dict())
    rows = []
    for one in written:
        run = study.run(one.context.method, one.context.condition)
        top = run[run["rank"] <= study.profile.answers.n_chunks]
        both = {
            "retrieved": top.assign(text=top["chunk_id"].map(texts)),
            "read": segments_read(study, one.context),
        }
        means = {name: _held(asked(study), part) for name, part in both.items()}
        row = {"Context": context_title(one.context)}
        for column in means["read"]:
            row |= {f"{column} {name}": number(found[column]) for name, found in means.items()}
        tokens = [record["n_prompt_tokens"] for record in one.filled.records.values()]
        rows.append(row | {"Prompt tokens": f"{np.mean(tokens):.0f}" if tokens else "–"})
    return pd.DataFrame(rows)


def _held(questions: pd.DataFrame, parts: pd.DataFrame) -> dict[str, float]:
    of_question, rows = dict(list(parts.groupby("question_id"))), []
    for question in questions.itertuples():
        part = of_question.get(question.question_id, parts.iloc[:0])
        is_gold = (part["doc_name"] == question.doc_name) & part["page"].isin(question.gold_pages)
        found = part.loc[is_gold, "page"].nunique() / len(question.gold_pages)
        words = word_share(question.evidence, "\n".join(part.loc[is_gold, "text"]))
        is_stated = np.nan
        if question.question_type in NUMERIC_QUESTION_TYPES:
            is_stated = numeric_match_strict("\n".join(part["text"]), question.answer, question.question)
        rows.append((found, words, is_stated))
    means = pd.DataFrame(rows, columns=["Gold pages", "Evidence words", "Answer's number"]).astype(float)
    return means.mean().to_dict()


def compared(
    study, metrics: pd.DataFrame, contexts: Sequence[Context], wanted: Sequence[str]
) -> pd.DataFrame:
    """Every context against the best baseline's, by metric: difference, interval, p corrected within a metric.

    Returns:
        metric, context, n, difference, low, high, p_holm, distinguishable.
    """
    settings = study.profile.significance
    companies = study.questions.set_index("question_id")["company"]
    reference = next(one for one in contexts if one.name == BEST_BASELINE)
    others, parts = [one for one in contexts if one.name != BEST_BASELINE], []
    for metric in wanted:
        base = values_of(metrics, reference.method, reference.condition, metric, None)
        values = {
            one.name: values_of(metrics, one.method, one.condition, metric, None).reindex(base.index)
            for one in others
        }
        found = compare(base, values, companies[base.index], settings.n_draws, settings.seed)
        parts.append(found.rename_axis("context").reset_index().assign(metric=metric))
    columns = ["metric", "context", "n", "difference", "low", "high", "p_holm", "distinguishable"]
    return pd.concat(parts, ignore_index=True)[columns]


def compared_table(found: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """The differences as they are printed."""
    return pd.DataFrame(
        {
            "Metric": found["metric"].map(TITLES),
            "Context": found["context"].map(titles),
            "n": found["n"],
            "Difference": [with_interval(r.difference, r.low, r.high) for r in found.itertuples()],
            "p (Holm)": found["p_holm"].map(lambda p: f"{p:.3f}"),
            "Told apart": found["distinguishable"].map({True: "yes", False: "no"}),
        }
    )


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
