"""Tables of the chapter on generation: answers by context, and what a context contains."""

from collections.abc import Mapping, Sequence

import pandas as pd

from lib.analysis.answered import contexts_held
from lib.answers.answers import ANSWER_METRICS, answers, efforts
from lib.answers.prompt_context import BEST_BASELINE, NONE, Context
from lib.metrics.frame import METRIC_TITLES
from lib.show.display import TESTED, Column, interval, number, printed
from lib.show.tables import metric_cells, reported_figures
from lib.study import Study

TITLES = {metric: METRIC_TITLES[metric] for metric in ANSWER_METRICS}
HELD = {
    "Gold pages": "gold_pages",
    "Evidence words": "evidence_words",
    "Answer's number": "answer_number",
}


def answers_table(
    study: Study, summary: pd.DataFrame, contexts: Sequence[Context], n_missing: Mapping[str, int]
) -> pd.DataFrame:
    """One row per context: every metric with its interval, the reported figures, and answers that are missing.

    What is reported is ROUGE-L and numeric match as the English version of the reproduced study prints them, and the
    numeric match of its French version.
    """
    known, rows = reported_figures(study.dataset.name, "generation"), []
    parts = dict(list(summary.groupby("context")))
    names = ("answer_rouge_l", "numeric_match", "numeric_match_french")
    for context in contexts:
        row = {"Context": context.title} | metric_cells(parts[context.name], ANSWER_METRICS)
        if known:
            name = "best_baseline" if context.name == BEST_BASELINE else context.name
            figures = [
                known[key][known["contexts"].index(name)] for key in names if name in known["contexts"]
            ]
            row["Reported R / N (fr)"] = "{:.2f} / {:.2f} ({:.2f})".format(*figures) if figures else "–"
        rows.append(row | {"Missing": n_missing.get(context.name, 0)})
    return pd.DataFrame(rows)


def context_table(study: Study, contexts: Sequence[Context]) -> pd.DataFrame:
    """What the room for context costs: beside the chunks that were retrieved, the segments that were read.

    Columns, each for what was retrieved and what was read: recall of gold pages; the share of the evidence's words that
    occur in text of the gold pages; whether the answer's number is stated, where the answer is a number.
    """
    searched = [one for one in contexts if one.method != NONE]
    held = contexts_held(study, searched).set_index(["context", "part"])
    tokens = efforts(study, searched).groupby("context")["n_prompt_tokens"].mean()
    rows = []
    for one in searched:
        row = {"Context": one.title}
        for title, name in HELD.items():
            row |= {
                f"{title} {part}": number(held.loc[(one.name, part), name]) for part in ("retrieved", "read")
            }
        rows.append(row | {"Prompt tokens": number(tokens.get(one.name, float("nan")), 0)})
    return pd.DataFrame(rows)


def compared_table(found: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """:func:`lib.analysis.answered.compared` as it is printed."""
    return printed(
        found,
        Column("Metric", "metric", TITLES.get),
        Column("Context", "context", titles.get),
        Column("n", "n"),
        interval("Difference", "difference", "low", "high"),
        *TESTED,
    )


def examples(study: Study, contexts: Sequence[Context], question_ids: Sequence[str]) -> pd.DataFrame:
    """The answers to some questions side by side: one row per context, with the gold answer first.

    Raises:
        NeedsFilings: the questions' text is not here.
    """
    study.need_filings("the text of questions and answers")
    questions = study.questions.set_index("question_id")
    texts, rows = {one.title: answers(study, one).texts for one in contexts}, []
    for question_id in question_ids:
        rows.append(
            (questions.loc[question_id, "question"], "gold answer", questions.loc[question_id, "answer"])
        )
        rows += [("", title, written.get(question_id, "–")) for title, written in texts.items()]
    return pd.DataFrame(rows, columns=["Question", "Context", "Answer"])
