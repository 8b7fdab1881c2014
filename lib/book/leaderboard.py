"""The leaderboard page: every system on every question set over the filings side by side, with costs and run files.

The table is plain HTML, whole without a script; ``book/_static/leaderboard.js`` folds, filters and chooses columns.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
from docutils.nodes import make_id

from lib.analysis.frontier import TIMES, known_table
from lib.book.downloads import RUNS, ZIP, folder_of, others
from lib.book.manifest import read_summary
from lib.book.notebooks import read_json
from lib.book.templates import filled
from lib.evaluation import read_metrics
from lib.methods import METHODS, NEEDS, OWN
from lib.models.weights import lock, weights_of
from lib.published import MANIFEST, METRICS_FILE
from lib.show.display import number, seconds, with_interval
from lib.show.tables import reported_runs
from lib.study import Study
from lib.typed import read_csv

K = 5
#: Measures of a set, with their depth, whose intervals are on the board.
SHOWN = {"doc_recall": K, "page_recall": K, "page_recall_pooled": K, "mrr": 10, "ndcg": 10}
COSTS = ["question_s", "tokens_written", "tokens_read", "pairs_scored", "index_s"]
#: Columns of each question set, and then of all: name, head, and what a reader chooses to see it.
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
    ("parameters", "Million parameters", ""),
    ("peak_mib", "Memory, MiB", ""),
    ("question_s", "Seconds per question", ""),
    ("tokens_written", "Tokens written", "costs"),
    ("tokens_read", "Tokens read", "costs"),
    ("pairs_scored", "Pairs scored", "costs"),
    ("index_s", "Seconds to index", "costs"),
)
GROUPS = {"types": "by question type", "forms": "by form", "more": "other measures", "costs": "all costs"}


class Results(NamedTuple):
    """What is known of one question set over the filings."""

    name: str
    questions: pd.DataFrame
    summary: pd.DataFrame  # SUMMARY_COLUMNS
    metrics: pd.DataFrame  # METRIC_COLUMNS
    manifest: dict


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


def sets_of(study: Study) -> list[Results]:
    """The study's own results, then those of :func:`others`."""
    metrics, manifest = read_metrics(study.outputs / METRICS_FILE), read_json(study.outputs / MANIFEST)
    found = [Results(study.dataset.name, study.questions, read_summary(study), metrics, manifest)]
    for name, one in others(study).items():
        summary = read_csv(one.file("summary.csv"), k="Int64")
        found.append(Results(name, one.dataset().questions, summary, one.metrics, one.manifest))
    return found


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
    """Millions of parameters of the models that a row reads with, NaN where a model's are unknown."""
    return sum(lock().get(name, {}).get("parameters", float("nan")) for name in _models(study, method)) / 1e6


def _models(study: Study, method: str) -> set[str]:
    row = METHODS[method]
    own = weights_of({section: study.profile.get(section) for section in row.settings})
    return {*own.values()}.union(*(_models(study, used) for used in row.uses))


def board(study: Study) -> pd.DataFrame:
    """A row per question set and method under the standard condition, the best of a set first.

    Returns:
        set, rank (of :func:`ranks`, by page recall), method, family, title, needs (of NEEDS, with semicolons), millions
        of ``parameters``, for each of SHOWN its mean, ``_low`` and ``_high``, ``given`` (page recall with the filing
        given), ``reported`` (page recall by the paper), n, page recall of each kind (``types: NAME``, ``forms: NAME``),
        COSTS, ``run_s`` and ``peak_mib`` (all questions at once); NaN where it was not measured.
    """
    times, parts = known_table(study, TIMES), []
    costs = pd.DataFrame(columns=COSTS) if times is None else times.set_index("method")[COSTS]
    for one in sets_of(study):
        known = one.summary[one.summary["method"].isin(METHODS)]
        of = {key: part.set_index("method") for key, part in known.groupby(["condition", "metric", "k"])}
        rows = of["standard", "page_recall", K].sort_values("mean", ascending=False, kind="stable")
        part = pd.DataFrame({"set": one.name, "method": rows.index}, rows.index)
        part["rank"] = ranks(*(rows[name].tolist() for name in ("mean", "low", "high")))
        part["family"], part["title"] = [*map(family, rows.index)], [METHODS[name].title for name in rows.index]
        part["needs"] = ["; ".join(METHODS[name].needs) for name in rows.index]
        part["parameters"] = [parameters(study, name) for name in rows.index]
        for metric, k in SHOWN.items():
            values = of.get(("standard", metric, k), rows.iloc[:0]).reindex(rows.index)
            part[[metric, f"{metric}_low", f"{metric}_high"]] = values[["mean", "low", "high"]]
        given, reported = of.get(("oracle-document", "page_recall", K), rows.iloc[:0]), reported_runs(one.name)
        part["given"], part["n"] = given["mean"].reindex(rows.index), rows["n"]
        part["reported"] = [reported.get((name, "standard"), {}).get("page_recall") for name in rows.index]
        part = part.join([kinds(one), costs if one.name == study.dataset.name else costs.iloc[:0], stages(one)])
        parts.append(part.astype({"reported": float}))
    return pd.concat(parts, ignore_index=True)


def kinds(one: Results) -> pd.DataFrame:
    """Page recall of each question type and form by method, the kind with most questions first."""
    table, about = one.metrics, one.questions.set_index("question_id")
    table = table[(table["metric"] == "page_recall") & (table["condition"] == "standard") & (table["k"] == K)]
    table, parts = table.astype({"question_id": object, "method": object}), []
    for group, column in (("types", "question_type"), ("forms", "doc_type")):
        label = table["question_id"].map(about[column])
        part = table.groupby(["method", label])["value"].mean().unstack()
        asked = about[column].value_counts()
        parts.append(part[[*asked.index]].set_axis([f"{group}: {kind} (n = {n})" for kind, n in asked.items()], axis=1))
    return pd.concat(parts, axis=1)


def stages(one: Results) -> pd.DataFrame:
    """Seconds in which all questions were ranked, and the highest memory of the process until then, by method."""
    known = {(record["stage"], record["key"]): record for record in one.manifest["stages"]}
    found = {}
    for place, run in one.manifest["runs"].items():
        condition, _, method = place.partition("/")
        if condition == "standard" and (record := known.get((f"{RUNS}/{place}", run["key"]))):
            found[method] = record["wall_s"], record["peak_mib"]
    return pd.DataFrame.from_dict(found, "index", columns=["run_s", "peak_mib"], dtype=float)


def columns_of(found: pd.DataFrame) -> list[Column]:
    """The columns of the page behind rank and method: those of each question set, then those of all."""
    columns = []
    for place, name in enumerate(dict.fromkeys(found["set"])):
        part = found[found["set"] == name].dropna(axis=1, how="all")
        kinds_of = [(one, one.partition(": ")[2], one.partition(": ")[0]) for one in part if ": " in one]
        wanted = [*(OF_A_SET[1:] if place == 0 else OF_A_SET), *kinds_of]
        columns += [Column(*one, name) for one in wanted if one[0] in part]
    return columns + [Column(*one) for one in OF_ALL if found[one[0]].notna().any()]


def cell(column: Column, row: dict) -> Cell:
    """The cell of a row of :func:`board` in a column of the page; a dash where there is no value."""
    name, value = column.name, row.get(column.name)
    if name == "needs":
        return Cell(value or "–", None)
    if value is None or pd.isna(value):
        return Cell("–", "")
    if name in SHOWN:
        ends = [row[f"{name}_low"], row[f"{name}_high"]]
        bar = "--v:{:.0%};--l:{:.0%};--h:{:.0%}".format(value, *ends)
        return Cell(with_interval(value, *ends), value, bar)
    if name in COSTS:
        return Cell(seconds(value), value)
    if name in ("rank", "run_s", "peak_mib", "parameters"):
        return Cell(f"{value:,.0f}", value)
    return Cell(number(value), value, f"--v:{value:.0%}")


def leaderboard_page(study: Study) -> str:
    """The page as MyST, with the table in HTML; its data are ``tables/leaderboard.csv``."""
    found = board(study)
    study.write("tables/leaderboard.csv", found.to_csv(index=False))
    columns, own, rows = columns_of(found), study.dataset.name, []
    for name, part in found.groupby("method", sort=False):
        by_set, method = {one["set"]: one for one in part.to_dict("records")}, METHODS[name]
        shared = part.iloc[0].to_dict()
        chapter = f"make notebook NB=03_baselines PARAMS='-p methods \"[{name}]\"'"
        other = f"make measure DATASET={study.dataset.collection} QUESTIONS={{}} METHODS={name}"
        page = "methods" if method.family in OWN else "siblings"
        about = {"link": f"{page}.html#{make_id(f'method-{name}')}", "rank": by_set.get(own, {}).get("rank", "–")}
        about["files"] = [
            (
                one,
                chapter if one == own else other.format(one),
                f"../_static/{folder_of(one, own)}standard/{name}.trec.gz",
            )
            for one in by_set
        ]
        cells = [cell(column, by_set.get(column.of, {}) if column.of else shared) for column in columns]
        rows.append(shared | about | {"cells": cells})
    sets = found.groupby("set", sort=False)["n"].first().items()
    given = {"columns": columns, "groups": GROUPS, "sets": [*sets], "needs": NEEDS, "k": K, "zip": ZIP}
    return filled("leaderboard", rows=rows, n_families=found["family"].nunique(), **given)
