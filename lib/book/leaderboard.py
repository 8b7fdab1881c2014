"""The leaderboard: every system on every question set over the filings, with ranks, families, costs and run files.

The table of its page is plain HTML, whole without a script; ``book/_static/leaderboard.js`` folds, filters and sorts.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pandas as pd
from docutils.nodes import make_id

from lib.analysis.measured import TIMES, known_table
from lib.book.manifest import read_summary
from lib.book.notebooks import read_json
from lib.book.submissions import MOST_MIB, submissions
from lib.book.templates import filled
from lib.diagnose.kept import Outside, kept_runs
from lib.evaluation import read_metrics, summarise
from lib.method import OWN
from lib.method_sets import in_comparisons
from lib.methods import METHODS, NEEDS
from lib.models.weights import lock, weights_of
from lib.published import MANIFEST, METRICS_FILE, RESULTS, Published
from lib.show.display import number, seconds, with_interval
from lib.show.markup import as_csv
from lib.show.tables import reported_runs
from lib.stats import Resampling
from lib.study import Study
from lib.typed import read_csv

K = 5
ZIP = "all-results.zip"
#: Measures of a set, with their depth, whose intervals are on the board.
SHOWN = {"page_recall": K, "doc_recall": K, "page_recall_pooled": K, "mrr": 10, "ndcg": 10}
#: Title, the row that it is a variant of (or itself), what it needs (with semicolons), a link, and where it is from.
ABOUT = ["title", "family", "needs", "link", "by"]
COSTS = ["question_s", "tokens_written", "tokens_read", "pairs_scored", "index_s"]
#: Columns of each question set, and then of all: name, head, and what of GROUPS a reader chooses to see it.
OF_A_SET = (
    ("rank", "Rank", ""),
    ("page_recall", "Page recall", ""),
    ("doc_recall", "Filing found", ""),
    ("reported", "Page recall, reported", ""),
    ("given", "Page recall, filing given", "more"),
    ("page_recall_pooled", "Page recall, pooled", "more"),
    ("mrr", "MRR of pages", "more"),
    ("ndcg", "nDCG of pages", "more"),
    ("run_s", "Seconds, all questions", "costs"),
)
OF_ALL = (
    ("needs", "Needs", ""),
    ("parameters", "Parameters, millions", ""),
    ("peak_mib", "Memory, MiB", ""),
    ("question_s", "Seconds per question", ""),
    ("tokens_written", "Tokens written", "costs"),
    ("tokens_read", "Tokens read", "costs"),
    ("pairs_scored", "Pairs scored", "costs"),
    ("index_s", "Seconds to index", "costs"),
)
GROUPS = {"types": "by question type", "forms": "by form", "more": "other measures", "costs": "all costs"}
WHOLE = ("rank", "run_s", "peak_mib", "parameters")  # numbers without a fraction


class Results(NamedTuple):
    """What is known of one question set over the filings."""

    questions: pd.DataFrame
    summary: pd.DataFrame  # SUMMARY_COLUMNS
    metrics: pd.DataFrame  # METRIC_COLUMNS
    manifest: dict
    outside: dict[str, Outside]  # by name; their rows are in summary and metrics


def others(study: Study) -> dict[str, Published]:
    """What is published of other question sets over the same filings, by name."""
    found = [Published(path.parent) for path in sorted(RESULTS.glob(f"*/{study.profile.name}/{MANIFEST}"))]
    given = {one.manifest["dataset"]: one.manifest for one in found}
    same = {name for name in given if given[name].get("collection", name) == study.dataset.collection}
    return {name: one for name, one in zip(given, found, strict=True) if name in same - {study.dataset.name}}


def sets_of(study: Study) -> Iterator[tuple[str, Results]]:
    """The study's own results, then those of :func:`others`, by name, each with its runs from outside."""
    own = read_metrics(study.outputs / METRICS_FILE), read_json(study.outputs / MANIFEST)
    known = {study.dataset.name: (study.questions, read_summary(study), *own)}
    for name, one in others(study).items():
        summary = read_csv(one.file("summary.csv"), k="Int64")
        known[name] = one.dataset().questions, summary, one.metrics, one.manifest
    for name, (questions, summary, metrics, manifest) in known.items():
        company, settings = questions.set_index("question_id")["company"], study.profile.significance
        draws, outside = Resampling(company, settings.n_draws, settings.seed), outside_of(study, name)
        parts = [one.metrics for one in outside.values()]
        parts = [one[one["metric"].isin([*SHOWN]) & one["k"].isin([*SHOWN.values()])] for one in parts]
        summary = pd.concat([summary, *(summarise(part, draws) for part in parts)])
        yield name, Results(questions, summary, pd.concat([metrics, *parts]), manifest, outside)


def outside_of(study: Study, question_set: str) -> dict[str, Outside]:
    """The runs from outside over a question set by name: submissions, and for the study's own those diagnosed here."""
    own = kept_runs(study) if question_set == study.dataset.name else []
    return {one.name: one for one in (*own, *submissions(question_set))}


def about(method: str, outside: dict[str, Outside]) -> tuple[str, str, str, str, str]:
    """The columns ABOUT of a row of the method table or a run from outside."""
    if one := outside.get(method):
        return one.title, one.name, one.needs, one.link, one.by
    row, page = METHODS[method], "methods" if METHODS[method].family in OWN else "siblings"
    return row.title, family(method), "; ".join(row.needs), f"{page}.html#{make_id(f'method-{method}')}", ""


def ranks(means: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> list[int]:
    """Ranks of rows from the best on: a row shares the rank of the best row of a rank whose mean its interval contains,
    else it opens the rank of its own place."""
    found, best = [], 0
    for place, (low, high) in enumerate(zip(lows, highs, strict=True)):
        best = best if low <= means[best] <= high else place
        found.append(best + 1)
    return found


def family(method: str) -> str:
    """The row that a method is a variant of: what it changes, and what that changes, to the end."""
    changed = METHODS[method].changes
    return family(changed) if changed else method


def parameters(study: Study, method: str) -> float:
    """Millions of parameters of the models that a row reads with, NaN where they are unknown."""
    if method not in METHODS:
        return float("nan")
    return sum(lock().get(name, {}).get("parameters", float("nan")) for name in _models(study, method)) / 1e6


def _models(study: Study, method: str) -> set[str]:
    row = METHODS[method]
    own = weights_of({section: study.profile.get(section) for section in row.settings})
    return {*own.values()}.union(*(_models(study, used) for used in row.uses))


def board(study: Study) -> pd.DataFrame:
    """A row per question set and method under the standard condition, the best of a set first.

    Returns:
        set, method, rank (of :func:`ranks`, by page recall), ABOUT, millions of ``parameters``; for
        each of SHOWN its mean, ``_low`` and ``_high``; ``given`` (page recall with the filing given), ``reported`` (by
        the paper), n, page recall of each kind (``types: NAME (n)``, ``forms: NAME (n)``), COSTS, ``run_s`` and
        ``peak_mib`` (all questions at once); NaN where it was not measured.
    """
    times, parts = known_table(study, TIMES), []
    costs = pd.DataFrame(columns=COSTS) if times is None else times.set_index("method")[COSTS]
    for name, one in sets_of(study):
        known = one.summary[one.summary["method"].isin({*in_comparisons(), *one.outside})]
        of = {key: part.set_index("method") for key, part in known.groupby(["condition", "metric", "k"])}
        rows = of["standard", "page_recall", K].sort_values("mean", ascending=False, kind="stable")
        part = pd.DataFrame({"set": name, "method": rows.index}, rows.index)
        part["rank"] = ranks(*(rows[end].tolist() for end in ("mean", "low", "high")))
        part[ABOUT] = [about(method, one.outside) for method in rows.index]
        part["parameters"] = [parameters(study, method) for method in rows.index]
        for metric, k in SHOWN.items():
            values = of.get(("standard", metric, k), rows.iloc[:0]).reindex(rows.index)
            part[[metric, f"{metric}_low", f"{metric}_high"]] = values[["mean", "low", "high"]]
        given, reported = of.get(("oracle-document", "page_recall", K), rows.iloc[:0]), reported_runs(name)
        part["given"], part["n"] = given["mean"].reindex(rows.index), rows["n"]
        part["reported"] = [reported.get((method, "standard"), {}).get("page_recall") for method in rows.index]
        more = kinds(one), costs if name == study.dataset.name else costs.iloc[:0], stages(one.manifest)
        part = pd.concat([part, *(table.reindex(rows.index) for table in more)], axis=1)
        parts.append(part.astype({"reported": float}))
    return pd.concat(parts, ignore_index=True)


def kinds(one: Results) -> pd.DataFrame:
    """Page recall of each question type and form by method, the kind with most questions first."""
    table, about = one.metrics, one.questions.set_index("question_id")
    table = table[(table["metric"] == "page_recall") & (table["condition"] == "standard") & (table["k"] == K)]
    table, parts = table.astype({"question_id": object, "method": object}), []
    for group, column in (("types", "question_type"), ("forms", "doc_type")):
        part = table.groupby(["method", table["question_id"].map(about[column])])["value"].mean().unstack()
        asked = about[column].value_counts()
        parts.append(part[[*asked.index]].set_axis([f"{group}: {kind} (n = {n})" for kind, n in asked.items()], axis=1))
    return pd.concat(parts, axis=1)


def stages(manifest: dict) -> pd.DataFrame:
    """Seconds in which all questions were ranked, and the highest memory of the process until then, by method."""
    known, start = {(one["stage"], one["key"]): one for one in manifest["stages"]}, "standard/"
    runs = {at: (f"runs/{at}", run["key"]) for at, run in manifest["runs"].items() if at.startswith(start)}
    found = {at.removeprefix(start): known[of] for at, of in runs.items() if of in known}
    rows = {method: (one["wall_s"], one["peak_mib"]) for method, one in found.items()}
    return pd.DataFrame.from_dict(rows, "index", columns=["run_s", "peak_mib"], dtype=float)


class Column(NamedTuple):
    """A column of the page."""

    name: str  # of :func:`board`
    head: str
    group: str = ""  # of GROUPS; none where it is shown from the start
    of: str = ""  # the question set; none where it is of all


class Cell(NamedTuple):
    """A cell of the page."""

    text: str
    value: float | str | None  # that it sorts by; None where that is the text
    bar: str = ""  # of a share: its style, the value and the ends of its interval
    more: str = ""  # its interval


def columns_of(found: pd.DataFrame) -> list[Column]:
    """The columns of the page behind rank and method: those of each question set, then those of all."""
    columns = []
    for name, part in found.groupby("set", sort=False):
        known = part.dropna(axis=1, how="all")
        kinds_of = [(one, one.partition(": ")[2], one.partition(": ")[0]) for one in known if ": " in one]
        wanted = [*(OF_A_SET if columns else OF_A_SET[1:]), *kinds_of]
        columns += [Column(*one, name) for one in wanted if one[0] in known]
    return columns + [Column(*one) for one in OF_ALL if found[one[0]].notna().any()]


def cell(name: str, row: dict) -> Cell:
    """The cell of a row of :func:`board` in a column of the page; a dash where there is no value."""
    value = row.get(name)
    if name == "needs":
        return Cell(value or "–", None)
    if value is None or pd.isna(value):
        return Cell("–", "")
    if name in SHOWN:
        ends = [row[f"{name}_low"], row[f"{name}_high"]]
        text, _, interval = with_interval(value, *ends).partition(" ")
        return Cell(text, value, "--v:{:.0%};--l:{:.0%};--h:{:.0%}".format(value, *ends), interval)
    if name in COSTS or name in WHOLE:
        return Cell(seconds(value) if name in COSTS else f"{value:,.0f}", value)
    return Cell(number(value), value, f"--v:{value:.0%}")


def leaderboard_page(study: Study) -> str:
    """The page as MyST, with the table in HTML; its data are ``tables/leaderboard.csv``."""
    found, own = board(study), study.dataset.name
    study.write("tables/leaderboard.csv", as_csv(found))
    columns, rows = columns_of(found), []
    for name, part in found.groupby("method", sort=False):
        by_set, shared = {one["set"]: one for one in part.to_dict("records")}, part.iloc[0].to_dict()
        runs = [(of, command(study, name, of), f"../_static/{folder_of(of, study)}/{name}.trec.gz") for of in by_set]
        cells = [cell(one.name, by_set.get(one.of, {}) if one.of else shared) for one in columns]
        rows.append(shared | {"rank": by_set.get(own, {}).get("rank", "–"), "runs": runs, "cells": cells})
    given = {"columns": columns, "groups": GROUPS, "needs": NEEDS, "k": K, "zip": ZIP, "set": own, "most_mib": MOST_MIB}
    sets = [*found.groupby("set", sort=False)["n"].first().items()]
    return filled("leaderboard", rows=rows, sets=sets, n_families=found["family"].nunique(), **given)


def folder_of(question_set: str, study: Study) -> str:
    """Where a study's book has the runs of a question set over all filings, in ``_static``."""
    return "runs/standard" if question_set == study.dataset.name else f"sets/{question_set}/runs/standard"


def command(study: Study, method: str, question_set: str) -> str:
    """The command that remakes a row on a question set; none for a run from outside."""
    if method not in METHODS:
        return ""
    if question_set == study.dataset.name:
        return f"make notebook NB=03_baselines PARAMS='-p methods \"[{method}]\"'"
    return f"make measure DATASET={study.dataset.collection} QUESTIONS={question_set} METHODS={method}"
