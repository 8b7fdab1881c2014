"""Answers by context: means, what a context contains of the evidence, whether better retrieval helps, and what is lost.

Numbers over the pages of every standard run are read by rules (:mod:`lib.answers.calculation`), so that no language
model stands between pages and answers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from rouge_score.tokenize import tokenize

from lib.analysis import question_sets
from lib.analysis.breakdowns import group_interval
from lib.analysis.statistic import correlation_of
from lib.answers.answers import (
    ANSWER_METRICS,
    Answers,
    answer_rows,
    asked,
    context_params,
    efforts,
    score,
    scores,
    stored_frame,
)
from lib.answers.calculation import VERSION, calculated, right_by_way
from lib.answers.prompt_context import (
    BEST_BASELINE,
    NONE,
    ORACLES,
    Context,
    chunks_retrieved,
    context,
    pages_read,
    segments_read,
)
from lib.evaluation import METRIC_COLUMNS, evaluate_runs, merge_answers, merge_metrics
from lib.method_sets import best_standard
from lib.metrics.answers import NUMERIC_QUESTION_TYPES, numeric_match_strict
from lib.metrics.frame import Metrics, long_frame
from lib.metrics.right import right_metrics
from lib.models.written import Filled
from lib.retrievers.places import texts_of_pages
from lib.schema import CONDITIONS, or_without_filings
from lib.stats import DIFFERENCE, Resampling, percentiles
from lib.study import Study

RIGHT = "right"

#: How numbers are answered, as tables name the prompts that stand for it.
WAY_TITLES = {"plain": "written", "calculation": "calculated"}

HELD_TITLES = {"gold_pages": "Gold pages", "evidence_words": "Evidence words", "answer_number": "Answer's number"}

OUTCOMES = (RIGHT, "filing missed", "page missed", "page there, read wrong", "page there, computed wrong")

CHAIN = ["context", "prompt", "question_id", "question_type", "outcome"]

#: The ranker whose pages question sets are compared by: it has no list that was made for one of them.
RANKER = "ahead_general"

#: The ways to cut filings that Yepes et al. compare by their answers.
CHUNKINGS_READ = ("fixed_128", "fixed_256", "fixed_512", "element_keywords", "element_summary", "element_prefix")

GAINS = ["metric", "context", "n", *DIFFERENCE, "p_holm", "verdict"]


def summarise_answers(
    study: Study, metrics: Metrics, contexts: Sequence[Context], wanted: Sequence[str] = ANSWER_METRICS
) -> pd.DataFrame:
    """Means with intervals (Wilson's where all score alike): context, metric, mean, low, high, n, n_companies."""
    draws, rows = Resampling.of(study), []
    for one in contexts:
        for metric in wanted:
            found, _ = group_interval(draws, metrics[one.run, metric, None])
            rows.append((one.name, metric, *found))
    return pd.DataFrame(rows, columns=["context", "metric", "mean", "low", "high", "n", "n_companies"])


def answer_all(study: Study, contexts: Sequence[Context]) -> pd.DataFrame:
    """``answer_right`` by context and question: METRIC_COLUMNS, and ``prompt``, ``plain`` or one of WAYS.

    What is missing is written, calculated and scored. All scores go into the outputs' metrics and answers.
    """
    evaluate_runs(study, [one.run for one in contexts if one.condition != CONDITIONS[0]])  # are published with these
    scored = scores(study, contexts)
    merge_metrics(study, scored)
    merge_answers(study, answer_rows(study, scored, contexts))
    parts = [scored[scored["metric"] == "answer_right"].assign(prompt="plain"), right_by_way(study, contexts)]
    for name, part in parts[1].groupby("prompt"):
        merge_answers(study, answer_rows(study, part, contexts, name))
    return pd.concat(parts, ignore_index=True)


def right_values(by_way: pd.DataFrame, contexts: Sequence[Context]) -> pd.DataFrame:
    """Whether calculated answers are right, of questions with a bare number as answer: questions × contexts with
    pages."""
    metrics, given = Metrics(by_way[by_way["prompt"] == "calculation"]), _answered_by("calculation", contexts)
    return pd.DataFrame({one.name: metrics[one.run, "answer_right", None] for one in given})


def right_levels(study: Study, by_way: pd.DataFrame, contexts: Sequence[Context]) -> pd.DataFrame:
    """Shares of right numbers with intervals: the columns of :func:`summarise_answers`, the question ``set``, the
    ``way`` of WAY_TITLES, and the context's ``title``; calculated ones are of the contexts with pages."""
    parts = []
    for prompt, way in WAY_TITLES.items():
        metrics, given = Metrics(by_way[by_way["prompt"] == prompt]), _answered_by(prompt, contexts)
        found = summarise_answers(study, metrics, given, ["answer_right"])
        parts.append(found.assign(set=study.dataset.name, way=way, title=[one.title for one in given]))
    return pd.concat(parts, ignore_index=True)


def right_gains(study: Study, by_way: pd.DataFrame, contexts: Sequence[Context]) -> pd.DataFrame:
    """Each context less the best baseline's, by way (p corrected within it): GAINS, ``way``, the share ``right`` of
    the context with its ends."""
    levels, parts = right_levels(study, by_way, contexts).set_index(["way", "context"]), []
    levels = levels[["mean", "low", "high"]].set_axis(["right", "right_low", "right_high"], axis=1)
    for prompt, way in WAY_TITLES.items():
        metrics = Metrics(by_way[by_way["prompt"] == prompt])
        found = compared(study, metrics, _answered_by(prompt, contexts), ["answer_right"])
        parts.append(found.assign(way=way).join(levels.loc[way], on="context"))
    return pd.concat(parts, ignore_index=True)


def _answered_by(prompt: str, contexts: Sequence[Context]) -> list[Context]:
    return [one for one in contexts if prompt == "plain" or one.method != NONE]


def on_sets(study: Study, sets: Mapping[str, Study], k: int) -> pd.DataFrame:
    """:func:`calculated_on` of question sets over the same filings by name, with ``set`` and the context's ``title``;
    no rows unless several have answers and a run of RANKER."""
    known = {name: one for name, one in sets.items() if "answer" not in one.dataset.lacks}
    known = known if len(known) > 1 else {}
    metrics = {}
    for name, one in known.items():
        runs = [run for run in question_sets.runs_of(one, one is study) if run[1] == CONDITIONS[0]]
        metrics[name] = evaluate_runs(one, runs)
    if not known or not all(RANKER in one for one in metrics.values()):
        return pd.DataFrame(columns=["context", "set", "title", "difference", "verdict"])
    parts = [calculated_on(one, metrics[name], k).assign(set=name) for name, one in known.items()]
    found = pd.concat(parts, ignore_index=True)
    titles = [context(row.context, row.method or "dense").title for row in found.itertuples()]
    return found.assign(title=titles)


def calculated_on(study: Study, metrics: Metrics, k: int) -> pd.DataFrame:
    """Numbers that calculation alone gets right from the pages of the best baseline at k, of RANKER, and from gold:
    context, method, mean, low, high, n, and the paired difference from the best baseline (DIFFERENCE, p_holm,
    verdict)."""
    best = best_standard(metrics.means("page_recall", k))
    wanted = [context(name, best) for name in (BEST_BASELINE, RANKER, ORACLES[1])]
    scored = Metrics(right_by_way(study, wanted, ["calculation-only"]))
    gains = compared(study, scored, wanted, ["answer_right"])[["context", *DIFFERENCE, "p_holm", "verdict"]]
    means = summarise_answers(study, scored, wanted, ["answer_right"])
    means["method"] = [one.method if one.name != ORACLES[1] else "" for one in wanted]
    return means.merge(gains, on="context", how="left").fillna({"verdict": "–"})


def compared(study: Study, metrics: Metrics, contexts: Sequence[Context], wanted: Sequence[str]) -> pd.DataFrame:
    """Every context against the best baseline's, by metric: GAINS, p corrected within a metric."""
    parts = []
    for metric in wanted:
        values = {c.name: metrics[c.run, metric, None] for c in contexts}
        if len(reference := values.pop(BEST_BASELINE)):  # else there is no question of the kind that it measures
            found = Resampling.of(study).compare(reference, values)
            parts.append(found.rename_axis("context").reset_index().assign(metric=metric))
    return pd.concat(parts, ignore_index=True)[GAINS] if parts else pd.DataFrame(columns=GAINS)


def word_share(evidence: str, text: str) -> float:
    """The share of the evidence's words that a text contains, each word as often as it occurs."""
    wanted, there = Counter(tokenize(evidence, stemmer=None)), Counter(tokenize(text, stemmer=None))
    return (wanted & there).total() / max(wanted.total(), 1)


def held_by_context(study: Study, contexts: Sequence[Context]) -> pd.DataFrame:
    """What each context with pages contains (``retrieved``) and what of it the model reads (``read``), a row per
    context: the means of :func:`held`, ``Prompt tokens``, the number of ``Answers cut``, and the title as
    ``Context``."""

    def make(study: Study, written: Answers) -> pd.DataFrame:
        read = {"retrieved": chunks_retrieved, "read": segments_read}
        parts = {name: held(asked(study), chunks(study, written.context)) for name, chunks in read.items()}
        return pd.concat(parts, names=["part"]).reset_index("part")

    rows, searched = {}, [one for one in contexts if one.method != NONE]
    for one in searched:
        parts = stored_frame(study, "answers/held", one, make).groupby("part")
        means = {part: of_part[[*HELD_TITLES]].mean() for part, of_part in parts}
        rows[one.name] = {
            f"{title} {part}": means[part][what]
            for what, title in HELD_TITLES.items()
            for part in ("read", "retrieved")
        }
    found = pd.DataFrame(rows).T.rename_axis("context")
    spent = efforts(study, contexts).groupby("context")
    found["Prompt tokens"] = spent["n_prompt_tokens"].mean().round().astype(int)
    found["Answers cut"] = spent["is_cut"].sum()
    return found.assign(Context=[one.title for one in searched]).reset_index()


def held(questions: pd.DataFrame, parts: pd.DataFrame) -> pd.DataFrame:
    """What texts (``parts``: question_id, doc_name, page, text) contain of each question's evidence: the shares
    gold_pages and evidence_words, the latter in text of gold pages, and whether its answer_number occurs (NaN of other
    answers)."""
    of_question, rows = dict(list(parts.groupby("question_id"))), []
    for question in questions.itertuples():
        part = of_question.get(question.question_id, parts.iloc[:0])
        is_gold = (part["doc_name"] == question.doc_name) & part["page"].isin(question.gold_pages)
        found = part.loc[is_gold, "page"].nunique() / len(question.gold_pages)
        words = word_share(question.evidence, "\n".join(part.loc[is_gold, "text"]))
        is_stated, text = np.nan, "\n".join(part["text"])
        if question.question_type in NUMERIC_QUESTION_TYPES:
            is_stated = float(numeric_match_strict(text, question.answer, question.question))
        rows.append((question.question_id, found, words, is_stated))
    return pd.DataFrame(rows, columns=["question_id", "gold_pages", "evidence_words", "answer_number"])


def outcomes(study: Study, wanted: Context, values: pd.Series) -> pd.DataFrame:
    """One of OUTCOMES, the first that holds, for each question with a number as answer; ``values`` is answer_right. A
    number that stands on a gold page has to be read, any other to be computed."""
    read, text = pages_read(study, wanted), texts_of_pages(study)
    there, rows = {name: part for name, part in read.groupby("question_id")}, []
    for question in study.questions[study.questions["question_id"].isin(values.index)].itertuples():
        part = there.get(question.question_id, read.iloc[:0])
        of_filing = part[part["doc_name"] == question.doc_name]
        gold = "\n".join(text[question.doc_name, page] for page in question.gold_pages)
        holds = (
            values[question.question_id] > 0,
            of_filing.empty,
            not of_filing["page"].isin(question.gold_pages).any(),
            numeric_match_strict(gold, question.answer, question.question),
            True,
        )
        rows.append((question.question_id, question.question_type, OUTCOMES[holds.index(True)]))
    return pd.DataFrame(rows, columns=["question_id", "question_type", "outcome"])


def chain(study: Study, metrics: pd.DataFrame, contexts: Sequence[Context]) -> pd.DataFrame:
    """CHAIN: where numbers are lost, a row per context with a run, prompt and question; ``metrics`` has ``prompt``."""
    parts, by_prompt = [], {name: Metrics(part) for name, part in metrics.groupby("prompt", sort=False)}
    for (name, one), prompt in product({c.name: c for c in contexts}.items(), by_prompt):
        values = by_prompt[prompt][one.run, "answer_right", None]
        params = context_params(study, one) | {part: study.digest(part) for part in ("chunks", "questions")}
        params |= {"right": values.to_dict(), "n_chunks": study.profile.answers.n_chunks}
        found = study.store.frame("analysis/chain", params, partial(outcomes, study, one, values), public=True)
        parts.append(found.assign(context=name, prompt=prompt))
    return pd.concat(parts, ignore_index=True)[CHAIN] if parts else pd.DataFrame(columns=CHAIN)


def right_by_run(study: Study, methods: Sequence[str]) -> pd.DataFrame:
    """Whether the number read from each standard run's first pages is right, of questions whose answer is a bare
    number: question_id, and a column a method; stored."""
    study.need_answers("scoring what is calculated")

    def of(method: str) -> pd.Series:
        found = calculated(study, Context(method, method)).query("text != ''")
        texts = dict(zip(found["question_id"], found["text"], strict=True))
        scored = score(study, Answers(Context(method, method), texts, Filled()), right_metrics)
        return scored.set_index("question_id")["value"].rename(method)

    params = {name: study.run_entry(name).digest for name in methods}
    params = {"runs": params, "questions": study.digest("questions"), "settings": study.settings_of(("answers",))}

    def make() -> pd.DataFrame:
        return pd.concat(map(of, methods), axis=1).reset_index()

    return study.store.frame("answers/right-by-run", params, make, VERSION, public=True)


def declined_by_run(study: Study, methods: Sequence[str]) -> pd.DataFrame:
    """Whether no number is read from each standard run's first pages, of all questions: question_id, and a column a
    method; stored."""

    def make() -> pd.DataFrame:
        texts = {name: calculated(study, Context(name, name)).set_index("question_id")["text"] for name in methods}
        return pd.DataFrame({name: one.eq("").astype(float) for name, one in texts.items()}).reset_index()

    params = {"runs": {name: study.run_entry(name).digest for name in methods}, "questions": study.digest("questions")}
    params["settings"] = study.settings_of(("answers",))
    return study.store.frame("answers/declined-by-run", params, make, VERSION, public=True)


def numbers_read(study: Study, methods: Sequence[str]) -> pd.DataFrame:
    """What rules read from pages, of questions whose answer is a bare number, as METRIC_COLUMNS: ``right`` of each
    standard run, of the gold filing and of the gold pages, and ``declined`` of CHUNKINGS_READ, where that is known."""
    right = right_by_run(study, methods).set_index("question_id")
    parts = [long_frame(right[name], RIGHT, None).assign(method=name, condition=CONDITIONS[0]) for name in right]
    given = right_by_way(study, [context(name) for name in ORACLES], ["calculation-only"])
    parts.append(given.assign(metric=RIGHT)[METRIC_COLUMNS])
    read = [name for name in CHUNKINGS_READ if name in right]
    if read and (declined := or_without_filings(lambda: declined_by_run(study, read))) is not None:
        declined = declined.set_index("question_id").loc[right.index]
        parts += [
            long_frame(declined[name], "declined", None).assign(method=name, condition=CONDITIONS[0]) for name in read
        ]
    return pd.concat(parts, ignore_index=True)[METRIC_COLUMNS]


def explained(right: pd.DataFrame, of_runs: Mapping[str, pd.DataFrame], draws: Resampling) -> pd.DataFrame:
    """How far what runs found explains their right numbers, of frames of questions × runs.

    Returns:
        A row per measure of ``of_runs``, ``title``: Pearson's ``r`` over the runs of its means with the means of
        ``right``, ``r2`` with its interval over companies (low, high), and the numbers of runs and of questions.
    """
    rows = []
    for what, found in of_runs.items() if len(right) else ():
        both = pd.concat([right, found], axis=1, keys=["right", "found"])
        r = float(correlation_of(both.mean().to_numpy()[None])[0])
        low, high = percentiles(correlation_of(draws.means(both)) ** 2)
        rows.append((what, r, r**2, low, high, right.shape[1], len(right)))
    return pd.DataFrame(rows, columns=["title", "r", "r2", "low", "high", "n_runs", "n"])


def failures_read(right: pd.DataFrame) -> pd.DataFrame:
    """The calculated numbers that are wrong with a gold page in their context, as one reader read them: context,
    question_id and ``reason``. Those that are right by now, by :func:`right_values`, are left out."""
    read = pd.read_csv(Path(__file__).with_name("failures_read.csv"))
    wrong = right.eq(0).rename_axis(index="question_id", columns="context").stack()
    return read[pd.MultiIndex.from_frame(read[["question_id", "context"]]).isin(wrong[wrong].index)]


def by_every_measure(study: Study, contexts: Sequence[Context]) -> pd.DataFrame:
    """:func:`summarise_answers` of answers as written (``prompt`` is plain), and ``answer_right`` of those for which a
    program calculates (calculation); no rows where they would be written now and the filings are not here."""
    searched = [one for one in contexts if one.method != NONE]

    def make() -> pd.DataFrame:
        written = summarise_answers(study, Metrics(scores(study, contexts)), contexts)
        calculated = Metrics(right_by_way(study, searched, ["calculation"]))
        calculated = summarise_answers(study, calculated, searched, ["answer_right"])
        return pd.concat([written.assign(prompt="plain"), calculated.assign(prompt="calculation")])

    columns = ["context", "metric", "mean", "low", "high", "n", "n_companies", "prompt"]
    return or_without_filings(make, pd.DataFrame(columns=columns))
