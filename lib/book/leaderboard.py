"""The leaderboard: every system on every question set over the filings, with ranks, families, costs and run files.

The table of its page is plain HTML, whole without a script; ``book/_static/leaderboard.js`` folds, filters and sorts,
and compares two rows by their recall of each question.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd
from docutils.nodes import make_id

from lib.analysis import budget, reading
from lib.analysis.measured import TIMES, known_table
from lib.book import elsewhere
from lib.book.page_templates import filled
from lib.data.locate import UNSEEN
from lib.diagnose.stored import StoredRun, stored_runs
from lib.evaluation import read_metrics, read_summary, rows_at, summarise
from lib.files import MANIFEST, read_json
from lib.method import AHEAD, GENERAL, MATCHED, ORDERED, OWN, Method
from lib.method_sets import in_comparisons
from lib.methods import METHODS, NEEDS
from lib.models.weights import lock, weights_of
from lib.other_sets import published_beside, with_other_sets
from lib.published import METRICS_FILE
from lib.schema import K
from lib.show import charts
from lib.show.display import number, seconds
from lib.show.markup import as_csv
from lib.show.tables import reported_runs
from lib.stats import Resampling, means
from lib.study import Study

RUNS = "runs/standard"  # the folder of runs of the book's own set, in ``_static``
ELSEWHERE = "elsewhere"  # the folder of runs that others published, in ``_static``
OPENED = {"standard": "Filings searched", "oracle-document": "Filing given"}
GROUPS = {
    "more": "other measures",
    "types": "by question type",
    "forms": "by form",
    "costs": "all costs",
    "reported": "as papers report",
}
ALT_OF_COSTS = "Dots on a log axis of seconds, a dot per method, and a rising line of those that no faster one equals."
DESIGNED_ON = "financebench"  # the set that designers had seen, see :func:`is_designed_here`


def whole(value: float) -> str:
    """A number without a fraction."""
    return f"{value:,.0f}"


class Column(NamedTuple):
    """A column of the page."""

    name: str  # of :func:`board`
    head: str
    group: str = ""  # of GROUPS; none where it is shown from the start
    form: Callable[[float], str] = number  # shares have two digits, and a bar
    k: int | None = None  # the depth of a measure, in chunks
    has_interval: bool = False
    of: str = ""  # the question set; none where it is of all


#: Of the book's own set, of another, and of all.
OF_A_SET = (
    Column("rank", "Rank", form=whole),
    Column("page_recall", "Page recall", k=K, has_interval=True),
    Column("page_recall_pooled", "Page recall, pooled", k=K, has_interval=True),
    Column("page_recall_20", "Page recall at 20 chunks", k=20, has_interval=True),
    Column("page_recall_tokens", f"Page recall in {reading.TESTED_AT:,} tokens", has_interval=True),
    Column("doc_recall", "Filing found", "more", k=K, has_interval=True),
    Column("given", "Page recall, filing given", "more"),
    Column("mrr", "MRR of pages", "more", k=10, has_interval=True),
    Column("ndcg", "nDCG of pages", "more", k=10, has_interval=True),
    Column("reported", "Page recall, reported", "reported"),
    Column("run_s", "Seconds, all questions", "costs", whole),
)
OF_ALL = (
    Column("question_s", "Seconds per question", form=seconds),
    Column("peak_mib", "Memory, MiB", form=whole),
    Column("needs", "Needs", form=str),
    Column("parameters", "Parameters, millions", "costs", whole),
    Column("tokens_written", "Tokens written", "costs", seconds),
    Column("tokens_read", "Tokens read", "costs", seconds),
    Column("pairs_scored", "Pairs scored", "costs", seconds),
    Column("index_s", "Seconds to index", "costs", seconds),
)
DEPTHS = {column.name: column.k for column in OF_A_SET if column.k}
METRIC_OF = {"page_recall_20": "page_recall"}  # of a column that does not have its metric's name
COSTS = [column.name for column in OF_ALL if column.form is seconds]


def sets_of(study: Study, outside: Sequence[pd.DataFrame]) -> Iterator[tuple]:
    """Name, questions, summary, metrics and manifest of the study's own set, with the metrics of runs from ``outside``,
    and then of :func:`lib.other_sets.published_beside`."""
    wanted = [METRIC_OF.get(name, name) for name in DEPTHS]
    outside = [one[one["metric"].isin(wanted) & one["k"].isin([*DEPTHS.values()])] for one in outside]
    draws = Resampling.of(study)
    summary = pd.concat([read_summary(study.outputs), *(summarise(one, draws) for one in outside)])
    metrics = pd.concat([read_metrics(study.outputs / METRICS_FILE), *outside])
    yield study.dataset.name, study.questions, summary, metrics, read_json(study.outputs / MANIFEST)
    for name, one in published_beside(study).items():
        yield name, one.dataset().questions, read_summary(one.root), one.metrics, one.manifest


def board(study: Study) -> pd.DataFrame:
    """A row per question set and method under the standard condition, the best of a set first.

    Returns:
        set, method, rank (of :func:`ranks`, by page recall), the columns of :func:`about`; for each of DEPTHS and
        ``page_recall_tokens`` its mean, ``_low`` and ``_high``; ``given`` (page recall with the filing given),
        ``reported`` (by the paper), n, page recall of each kind (``types: NAME (n)``, ``forms: NAME (n)``), COSTS,
        ``run_s`` and ``peak_mib`` (all questions at once); NaN where it was not measured.
    """
    outside, parts = {one.name: one for one in stored_runs(study) if one.condition == "standard"}, []
    names, tokens = {*in_comparisons(), *outside}, within_tokens(study)
    times = known_table(study, TIMES, ["method", *COSTS]).set_index("method")[COSTS]
    for name, questions, summary, metrics, manifest in sets_of(study, [one.metrics for one in outside.values()]):
        summary = summary[summary["method"].isin(names)]
        values = {key: part.set_index("method") for key, part in summary.groupby(["condition", "metric", "k"])}
        rows = values["standard", "page_recall", K].sort_values("mean", ascending=False, kind="stable")
        part = pd.DataFrame({"set": name, "method": rows.index}, rows.index)
        part["rank"] = ranks(*(rows[end].tolist() for end in ("mean", "low", "high")))
        part = part.join(pd.DataFrame([about(study, method, outside) for method in rows.index], rows.index))
        levels = {name: values.get(("standard", METRIC_OF.get(name, name), k)) for name, k in DEPTHS.items()}
        for column, of_metric in (levels | {"page_recall_tokens": tokens.get(name)}).items():
            of_metric = (rows.iloc[:0] if of_metric is None else of_metric).reindex(rows.index)
            part[[column, f"{column}_low", f"{column}_high"]] = of_metric[["mean", "low", "high"]].astype(float)
        given, reported = values.get(("oracle-document", "page_recall", K), rows.iloc[:0]), reported_runs(name)
        part["given"], part["n"] = given["mean"].reindex(rows.index), rows["n"]
        part["reported"] = [reported.get((method, "standard"), {}).get("page_recall") for method in rows.index]
        of_times = times if name == study.dataset.name else times.iloc[:0]
        more = kinds(questions, metrics), of_times, stages(manifest)
        part = pd.concat([part, *(table.reindex(rows.index) for table in more)], axis=1)
        parts.append(part.astype({"reported": float}))
    return pd.concat(parts, ignore_index=True)


def within_tokens(study: Study) -> dict[str, pd.DataFrame]:
    """Page recall within ``reading.TESTED_AT`` tokens by question set: mean, low and high by method, of those rows that
    are known; of other sets whose filings are here, of the rows that the first page shows alone."""
    found = {}
    studies = with_other_sets(study) if published_beside(study) else {study.dataset.name: study}
    for name, one in studies.items():
        wanted = budget.ROWS if one.has_text and one is not study else reading.COUNTED
        recall = reading.within(reading.values(one, wanted), "page_recall")
        found[name] = means(recall, Resampling.of(one))
    return found


def about(study: Study, method: str, outside: Mapping[str, StoredRun] = MappingProxyType({})) -> dict[str, object]:
    """Title, family, what it needs (with semicolons), link, where it is from, millions of parameters, and the question
    set that its designers had seen, of a row of the method table or a run from ``outside``."""
    if method not in METHODS:
        n_answered, n = outside[method].n_answered, len(study.questions)
        by = "diagnosed here" + (f", {n_answered} of {n} questions answered" if n_answered < n else "")
        found = {"title": method, "family": "Diagnosed here", "needs": "", "link": "", "by": by, "designed_on": ""}
        return found | {"parameters": float("nan")}
    row = METHODS[method]
    link = f"{'methods' if row.family in OWN else 'siblings'}.html#{make_id(f'method-{method}')}"
    found = {"title": row.title, "family": row.purpose, "needs": "; ".join(row.needs), "link": link, "by": ""}
    found["designed_on"] = DESIGNED_ON if is_designed_here(row) else ""
    return found | {"parameters": parameters(study, method)}


def is_designed_here(row: Method) -> bool:
    """Whether whoever designed a row had seen FinanceBench's questions: Ahead, the metadata match and page scorers with
    another order. Rows of papers and their settings are not, nor are standard ones."""
    return row.purpose == AHEAD or row.family in (MATCHED, ORDERED, GENERAL)


def ranks(means: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> list[int]:
    """Ranks of rows from the best on: a row shares the rank of the best row of a rank whose mean its interval contains,
    else it opens the rank of its own place."""
    found, best = [], 0
    for place, (low, high) in enumerate(zip(lows, highs, strict=True)):
        best = best if low <= means[best] <= high else place
        found.append(best + 1)
    return found


def parameters(study: Study, method: str) -> float:
    """Millions of parameters of the models that a row reads with, NaN where they are unknown."""
    return sum(lock().get(name, {}).get("parameters", float("nan")) for name in _models(study, method)) / 1e6


def _models(study: Study, method: str) -> set[str]:
    row = METHODS[method]
    own = weights_of({section: study.profile.get(section) for section in row.settings})
    return {*own.values()}.union(*(_models(study, used) for used in row.uses))


def kinds(questions: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """Page recall of each question type and form by method, the kind with most questions first."""
    table = rows_at(metrics, "page_recall", K).astype({"question_id": object, "method": object})
    questions, parts = questions.set_index("question_id"), []
    for group, column in (("types", "question_type"), ("forms", "doc_type")):
        part = table.groupby(["method", table["question_id"].map(questions[column])])["value"].mean().unstack()
        sizes = questions[column].value_counts()
        parts.append(part[[*sizes.index]].set_axis([f"{group}: {kind} (n = {n})" for kind, n in sizes.items()], axis=1))
    return pd.concat(parts, axis=1)


def stages(manifest: dict) -> pd.DataFrame:
    """Seconds in which all questions were ranked, and the highest memory of the process until then, by method."""
    records, rows = {(one["stage"], one["key"]): one for one in manifest["stages"]}, {}
    for place, run in manifest["runs"].items():
        condition, method = place.split("/")
        if condition == "standard" and (record := records.get((f"runs/{place}", run["key"]))):
            rows[method] = record["wall_s"], record["peak_mib"]
    return pd.DataFrame.from_dict(rows, "index", columns=["run_s", "peak_mib"], dtype=float)


def columns_of(found: pd.DataFrame) -> list[Column]:
    """The columns of the page after rank and method: those that are shown from the start, of the first set, costs, page
    recall of the other sets and what is left of them; then those of GROUPS."""
    first, *others = [part.dropna(axis=1, how="all") for _, part in found.groupby("set", sort=False)]
    columns = [one._replace(of=first["set"].iloc[0]) for one in OF_A_SET[1:] if one.name in first]
    of_all = [one for one in OF_ALL if found[one.name].notna().any()]
    of_others = [one._replace(of=part["set"].iloc[0]) for part in others for one in OF_A_SET if one.name in part]
    heads = [one for one in of_others if one.name == "page_recall"]
    more = [one._replace(group="more") if one.name == "rank" else one for one in of_others if one not in heads]
    columns += [*of_all[:2], *heads, *of_all[2:], *more]
    for part in (first, *others):
        named = [(name, *name.split(": ", 1)) for name in part if ": " in name]
        columns += [Column(name, head, group, of=part["set"].iloc[0]) for name, group, head in named]
    return sorted(columns, key=lambda column: bool(column.group))


class Cell(NamedTuple):
    """A cell of the page."""

    text: str
    value: float | str | None = None  # that it sorts by; None where that is the text
    bar: str = ""  # of a share: its style, with the value and the ends of its interval
    interval: str = ""


GIVEN = Cell("given", "")  # in place of a share of filings found


def cell(column: Column, row: dict) -> Cell:
    """The cell of a row of :func:`board` in a column of the page; a dash where there is no value."""
    value = row.get(column.name)
    if column.form is str:
        return Cell(value or "–")
    if value is None or pd.isna(value):
        return Cell("–", "")
    if column.has_interval:
        low, high = row[f"{column.name}_low"], row[f"{column.name}_high"]
        return Cell(number(value), value, f"--v:{value:.0%};--l:{low:.0%};--h:{high:.0%}", f"[{low:.2f}, {high:.2f}]")
    return Cell(column.form(value), value, f"--v:{value:.0%}" if column.form is number else "")


def leaderboard_page(study: Study) -> str:
    """The page as MyST, with the table in HTML; its data are ``tables/leaderboard.csv``."""
    found, own, rows = board(study), study.dataset.name, []
    study.write("tables/leaderboard.csv", as_csv(found))
    columns = columns_of(found)
    for name, part in found.groupby("method", sort=False):
        by_set, shared = {one["set"]: one for one in part.to_dict("records")}, part.iloc[0].to_dict()
        file = f"../_static/{RUNS}/{name}.trec.gz"
        runs = [(of, command(study, name, of), file if of == own else "") for of in by_set]
        cells = [cell(one, by_set.get(one.of, {}) if one.of else shared) for one in columns]
        rows.append(shared | {"rank": by_set.get(own, {}).get("rank", "–"), "runs": runs, "cells": cells})
    sets = [*found.groupby("set", sort=False)["n"].first().items()]
    groups = {name: title for name, title in GROUPS.items() if any(one.group == name for one in columns)}
    about_all = {"groups": groups, "needs": NEEDS, "k": K, "own": own, "n_families": found["family"].nunique()}
    about_all |= {"designed_on": DESIGNED_ON if any(name == DESIGNED_ON for name, _ in sets) else ""}
    about_all |= {"named": lambda name: charts.SETS.get(name, name), "elsewhere": elsewhere_section(study)}
    about_all |= {"chart": cost_chart(found[found["set"] == own])}
    about_all |= {"tokens": reading.TESTED_AT, "unseen": UNSEEN if any(name == UNSEEN for name, _ in sets) else ""}
    return filled("leaderboard", rows=rows, columns=columns, sets=sets, **about_all)


def cost_chart(found: pd.DataFrame) -> str:
    """Page recall against seconds per question of one set's rows as HTML; empty where fewer than two were timed."""
    timed = found.dropna(subset=["question_s", "page_recall"])
    if len(timed) < 2:
        return ""
    return charts.embedded(charts.recall_against_cost(timed), "costs", ALT_OF_COSTS)


def elsewhere_section(study: Study) -> str:
    """What was measured elsewhere as MyST; its data are ``tables/elsewhere.csv`` and ``tables/labelled-systems.csv``.
    Empty for a study without such runs."""
    runs = {one.name: one for one in elsewhere.published_runs(study)}
    if not runs:
        return ""
    found, labelled = elsewhere.measured_elsewhere(study), elsewhere.labelled_systems(study)
    study.write("tables/elsewhere.csv", as_csv(found))
    study.write("tables/labelled-systems.csv", as_csv(labelled))
    of_runs = [Column(name, "", has_interval=True) for name in elsewhere.MEASURES]
    of_runs += [Column(f"{name}_all", "") for name in elsewhere.MEASURES]
    groups = []
    for _, part in found.groupby("group", sort=False):
        first, rows = part.iloc[0], []
        for row in part.to_dict("records"):
            cells = [cell(column, row) for column in of_runs]
            if row["condition"] != "standard":  # every filing is found
                cells = [GIVEN if "doc" in column.name else one for column, one in zip(of_runs, cells, strict=True)]
            more = {"run": runs[row["method"]]} if row["is_run"] else {"run": None} | about(study, row["method"])
            rows.append(more | {"cells": cells, "is_best": row["is_best"]})
        of = f"{first['n']} questions ({runs[first['method']].questions}) about {first['n_companies']} companies"
        groups.append({"title": f"{OPENED[first['condition']]}: {of}", "rows": rows})
    shares = [Column(name, "", has_interval=True) for name in elsewhere.LABELS]
    return filled(
        "elsewhere",
        groups=groups,
        labelled={
            given: [row | {"cells": [cell(column, row) for column in shares]} for row in part.to_dict("records")]
            for given, part in labelled.groupby("given", sort=False)
        },
        n_runs=len(runs),
        n_repositories=len({one.repository for one in runs.values()}),
        n_questions=len(study.questions),
        n_systems=len(labelled),
        n_filings=len(study.filings),
        k=K,
        size=study.profile.chunks.size,
        encoder=lock()[study.profile.embedder.weights],
        folder=f"../_static/{ELSEWHERE}",
    )


def command(study: Study, method: str, question_set: str) -> str:
    """The command that computes a row on a question set; none for a run from outside."""
    if method not in METHODS:
        return ""
    names = study.names
    if question_set == study.dataset.name:
        return f"make notebook NB=03_baselines{names.make_variables()} PARAMS='-p methods \"[{method}]\"'"
    is_unseen = question_set == UNSEEN  # which has filings of its own
    names = names._replace(**{"dataset": UNSEEN, "questions": ""} if is_unseen else {"questions": question_set})
    return f"make measure{names.make_variables(study.dataset.collection)} METHODS={method}"
