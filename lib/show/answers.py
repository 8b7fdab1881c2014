"""Tables and figures of the chapter on generation: answers by context, what a context contains, and what that gives."""

import json
from collections.abc import Mapping, Sequence
from itertools import product

import matplotlib.pyplot as plt
import pandas as pd

from lib.analysis.answered import OUTCOMES, contexts_held
from lib.analysis.breakdowns import MARK, group_interval
from lib.analysis.calibration import ALL, BLEU, COSINE, NUMBER, YES_OR_NO
from lib.analysis.facts import facts
from lib.answers.answers import ANSWER_METRICS, answers, efforts
from lib.answers.calculation import WAYS
from lib.answers.prompt_context import NONE, Context
from lib.metrics import METRIC_TITLES, METRICS
from lib.metrics.frame import Metrics
from lib.show.display import SHOWN_WIDTH, Column, interval, number, printed, wide, with_interval
from lib.show.figures import COLOURS, CONDITION_COLOURS, bars
from lib.show.tables import reported_rows
from lib.stats import Resampling
from lib.study import Study

TITLES = {metric: METRIC_TITLES[metric] for metric in ANSWER_METRICS}
#: Metrics that are beside people's labels alone.
CALIBRATED = METRIC_TITLES | {BLEU: "BLEU", YES_OR_NO: "Yes or no", COSINE: "Cosine (encoder)"}
PROMPT_TITLES = {"plain": "As written"} | {name: way.title for name, way in WAYS.items()}
PARTS = ("retrieved", "read")
#: The two versions of the main study, and their tables of answers.
VERSIONS = {
    "Reported ROUGE-L / numeric match, English (Table 5)": ("kobeissi2026_en", "Table 5"),
    "Reported ROUGE-L / numeric match, French (Table 6)": ("kobeissi2026_fr", "Table 6"),
}
HELD = {"gold_pages": "Gold pages", "evidence_words": "Evidence words", "answer_number": "Answer's number"}


def answers_table(
    study: Study,
    summary: pd.DataFrame,
    contexts: Sequence[Context],
    n_missing: Mapping[str, int],
    agreed: pd.DataFrame,
    calculated: pd.DataFrame,
) -> pd.DataFrame:
    """One row per context: every metric with its interval, what both versions of the main study report (ROUGE-L /
    numeric match), and answers that are missing; below them the right numbers of ``calculated`` answers, a summary
    too; and a last row with each metric's agreement with people (``agreed`` of
    :func:`lib.analysis.calibration.agreement`)."""
    name, reported = study.dataset.name, []
    for head, (source, table) in VERSIONS.items():
        known = reported_rows(name, table, source)
        cells = {row: "{answer_rouge_l:.2f} / {numeric_match:.2f}".format(**known[row]) for row in known}
        cells["best-baseline"] = cells.get("multi_hyde_rerank")
        cell = Column(head, "context", lambda context, cells=cells: cells.get(context, "–"))
        reported += [cell] if known else []
    shown = printed(
        wide(summary, ["context"]).loc[[one.name for one in contexts]].reset_index(),
        Column("Context", "context", {one.name: one.title for one in contexts}.get),
        *(Column(head, metric) for metric, head in TITLES.items()),
        *reported,
        Column("Missing", "context", lambda context: str(n_missing.get(context, 0))),
    )
    titles = {one.name: f"{one.title}, calculated" for one in contexts}
    below = printed(calculated, Column("Context", "context", titles.get), interval(TITLES["answer_right"]))
    shown = pd.concat([shown, below], ignore_index=True).fillna("–")
    kinds = {metric: NUMBER if METRICS[metric].is_numeric else ALL for metric in TITLES}
    last = {TITLES[metric]: kappa(agreed, metric, kind) for metric, kind in kinds.items()}
    row = pd.DataFrame([{"Context": "κ with people"} | last], columns=shown.columns).fillna("–")
    return pd.concat([shown, row], ignore_index=True) if len(agreed) else shown


def agreement_table(agreed: pd.DataFrame) -> pd.DataFrame:
    """:func:`lib.analysis.calibration.agreement`: a row for each metric, and kappa by kind of question, with its n."""
    if agreed.empty:
        return pd.DataFrame(columns=["Metric"])
    cell = interval("κ", "kappa", "kappa_low", "kappa_high")
    heads = {kind: f"{kind} (n = {part['n'].iloc[0]:,})" for kind, part in agreed.groupby("kind")}
    shown = wide(agreed.assign(kind=agreed["kind"].map(heads)), ["metric"], cell, "kind").reset_index()
    columns = [heads[kind] for kind in agreed["kind"].unique()]
    return shown.assign(Metric=shown["metric"].map(CALIBRATED))[["Metric", *columns]].fillna("–")


def best_metrics(agreed: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`lib.analysis.calibration.agreement` with the highest kappa of their kind, metrics by title."""
    best = agreed.sort_values("kappa", ascending=False, kind="stable").drop_duplicates("kind").sort_index()
    return best.assign(metric=best["metric"].map(CALIBRATED))


def ways_table(study: Study, by_way: pd.DataFrame, contexts: Sequence[Context]) -> pd.DataFrame:
    """Right numbers with 95 % intervals: a row for each way to answer, a column for each context.

    Args:
        study: gives companies to draw.
        by_way: METRIC_COLUMNS and ``prompt``, with ``answer_right``.
        contexts: the columns.
    """
    draws, rows = Resampling.of(study), {}
    for prompt, part in by_way.groupby("prompt", sort=False):
        metrics = Metrics(part)
        values = (metrics[one.run, "answer_right", None] for one in contexts)
        rows[prompt] = [with_interval(*group_interval(draws, found)[0][:3]) for found in values]
    shown = pd.DataFrame(rows, index=[one.title for one in contexts]).T.rename(index=PROMPT_TITLES)
    return shown.rename_axis("Answers").reset_index()


def chain_table(chain: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """:func:`lib.analysis.answered.chain` as counts: a row for each context, way and type of question."""
    by = ["context", "prompt", "question_type"]
    both = pd.concat([chain, chain.assign(question_type="all")])
    counts = both.groupby([*by, "outcome"], sort=False).size().unstack(fill_value=0)
    shown = counts.reindex(columns=OUTCOMES, fill_value=0).reset_index()
    shown["context"], shown["prompt"] = shown["context"].map(titles), shown["prompt"].map(PROMPT_TITLES)
    heads = {"context": "Context", "prompt": "Answers", "question_type": "Questions"}
    return shown.rename(columns=heads | {name: name.capitalize() for name in OUTCOMES})


def derivation_table(study: Study, found: pd.DataFrame) -> pd.DataFrame:
    """The cells of calculated answers (:func:`lib.answers.calculation.calculated`), and below them the answer."""
    questions, rows = study.questions.set_index("question_id")["question"], []
    for one in found.itertuples():
        for cell in json.loads(one.cells):
            where, shown = f"{cell['doc_name']}, page {cell['page'] + 1}", f"{cell['shown']:,g}"
            rows.append(("", cell["name"], cell["label"], cell["year"], shown, cell["unit"], where))
        rows.append((questions[one.question_id], one.formula, "", "", one.text, "", ""))
    return pd.DataFrame(rows, columns=["Question", "Formula", "Row", "Year", "Value", "Unit", "Page"])


def kappa(agreed: pd.DataFrame, metric: str, kind: str) -> str:
    """A metric's kappa with people on one kind of question; a dash where it is not known."""
    return number(agreed.set_index(["metric", "kind"])["kappa"].get((metric, kind)))


def systems_table(systems: pd.DataFrame, summary: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """The labelled systems, by people and by the measure, and below them our answers, by the measure alone."""
    by = {kind: part.set_index("system") for kind, part in systems.groupby("kind")}
    rows = [
        (f"`{name}`", number(row.people), number(row.measure), number(by[ALL]["people"][name]), str(row.n))
        for name, row in (by[NUMBER].sort_values("people").iterrows() if by else ())
    ]
    ours = summary[summary["metric"] == "answer_right"].set_index("context").loc[[*titles]]
    for name, row in ours.iterrows():
        mean = with_interval(row["mean"], row.low, row.high)
        rows.append((f"this study: {titles[name]}", "–", mean, "–", str(row.n)))
    heads = ["System", "Right by people", "Right by the measure", "Of all questions, by people", "Numbers"]
    return pd.DataFrame(rows, columns=heads)


def context_table(study: Study, contexts: Sequence[Context]) -> pd.DataFrame:
    """What the room for context costs: beside the chunks that were retrieved, the segments that were read.

    See :func:`lib.analysis.answered.contexts_held` for what is measured of both.
    """
    searched = {one.name: one for one in contexts if one.method != NONE}
    held = contexts_held(study, contexts).pivot(index="context", columns="part").loc[list(searched)]
    held.columns = held.columns.map(" ".join)
    tokens = efforts(study, [*searched.values()]).groupby("context")["n_prompt_tokens"].mean()
    return printed(
        held.assign(tokens=tokens).reset_index(),
        Column("Context", "context", lambda name: searched[name].title),
        *(Column(f"{HELD[name]} {part}", f"{name} {part}", number) for name, part in product(HELD, PARTS)),
        Column("Prompt tokens", "tokens", lambda mean: number(mean, 0)),
    )


def answer_bars(summary: pd.DataFrame, titles: Mapping[str, str], metrics: Sequence[str]) -> plt.Figure:
    """A panel per metric, a bar per context (name to title, in order) with its 95 % interval."""
    n_rows = -(-len(metrics) // 2)
    size = (SHOWN_WIDTH, n_rows * (0.36 * len(titles) + 0.9))
    drawn, panels = plt.subplots(n_rows, min(2, len(metrics)), figsize=size, sharey=True, squeeze=False)
    colours = [CONDITION_COLOURS.get(context, COLOURS[5]) for context in titles]
    for axes in panels.flat[len(metrics) :]:
        axes.axis("off")
    for axes, metric in zip(panels.flat, metrics, strict=False):
        part = summary[summary["metric"] == metric].set_index("context").loc[list(titles)]
        bars(axes, {"": part}, [*titles.values()], [colours], 0.62)
        axes.set(xlabel=TITLES[metric], xlim=(0, max(0.1, 1.05 * part["high"].max())))
        axes.locator_params(axis="x", nbins=4)
    drawn.tight_layout()
    return drawn


def split_table(split: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Answers by whether the page was there: one row per context, page there and page missing side by side."""
    cells = [with_interval(r.mean, r.low, r.high) + (MARK if r.is_small else "") for r in split.itertuples()]
    names = split["context"].unique()
    shown = {"Context": [titles.get(name, "all of them") for name in names]}
    for is_there, head in ((True, "page there"), (False, "page missing")):
        part = split.assign(cell=cells)[split["is_there"] == is_there].set_index("context").reindex(names)
        shown[head.capitalize()] = part["cell"].fillna("–").tolist()
        shown[f"n ({head})"] = part["n"].fillna(0).astype(int).tolist()
    return pd.DataFrame(shown)


def conflict() -> dict[str, float]:
    """How far the two versions' tables of answers differ: ``cells``, those that are ``differing``; and by numeric
    match, on ``n`` questions, the ``least`` and the ``most`` by which the French is above the English in a context."""
    (source, id), other = VERSIONS.values()
    tables = [pd.DataFrame(facts(name).table(table)).T for name, table in ((source, id), other)]
    above = (tables[1] - tables[0])["numeric_match"]
    n = next(table["n"]["numeric_match"] for table in facts(source).tables if table["id"] == id)
    found = {"cells": tables[0].size, "differing": int((tables[0] != tables[1]).sum().sum()), "n": n}
    return found | {"least": above.min(), "most": above.max()}


def examples(study: Study, contexts: Sequence[Context], question_ids: Sequence[str]) -> pd.DataFrame:
    """The answers to some questions side by side: one row per context, with the gold answer first.

    Raises:
        NeedsFilings: the questions' text is not here.
    """
    study.need_filings("the text of questions and answers")
    questions = study.questions.set_index("question_id").loc[question_ids]
    texts, rows = {one.title: answers(study, one).texts for one in contexts}, []
    for asked in questions.itertuples():
        rows.append((asked.question, "gold answer", asked.answer))
        rows += [("", title, written.get(asked.Index, "–")) for title, written in texts.items()]
    return pd.DataFrame(rows, columns=["Question", "Context", "Answer"])
