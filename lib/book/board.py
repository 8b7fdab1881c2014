"""The leaderboard's data: every system on every question set over the filings, with ranks, families and costs."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
from docutils.nodes import make_id

from lib.analysis.measured import TIMES, known_table
from lib.book.manifest import read_summary
from lib.book.notebooks import read_json
from lib.book.submissions import submissions
from lib.diagnose.kept import Outside, kept_runs
from lib.evaluation import read_metrics, summarise
from lib.method import OWN
from lib.methods import METHODS
from lib.models.weights import lock, weights_of
from lib.published import MANIFEST, METRICS_FILE, RESULTS, Published
from lib.show.tables import reported_runs
from lib.stats import Resampling
from lib.study import Study
from lib.typed import read_csv

K = 5
#: Measures of a set, with their depth, whose intervals are on the board.
SHOWN = {"page_recall": K, "doc_recall": K, "page_recall_pooled": K, "mrr": 10, "ndcg": 10}
#: Title, the row that it is a variant of (or itself), what it needs (with semicolons), a link, and where it is from.
ABOUT = ["title", "family", "needs", "link", "by"]
COSTS = ["question_s", "tokens_written", "tokens_read", "pairs_scored", "index_s"]


class Results(NamedTuple):
    """What is known of one question set over the filings."""

    name: str
    questions: pd.DataFrame
    summary: pd.DataFrame  # SUMMARY_COLUMNS
    metrics: pd.DataFrame  # METRIC_COLUMNS
    manifest: dict
    outside: dict[str, Outside]  # by name; their rows are in summary and metrics


def others(study: Study) -> dict[str, Published]:
    """What is published of other question sets over the same filings, by name."""
    found = {}
    for path in sorted(RESULTS.glob(f"*/{study.profile.name}/{MANIFEST}")):
        published = Published(path.parent)
        given = published.manifest
        if given.get("collection", given["dataset"]) == study.dataset.collection:
            found[given["dataset"]] = published
    found.pop(study.dataset.name, None)
    return found


def sets_of(study: Study) -> list[Results]:
    """The study's own results, then those of :func:`others`, each with its runs from outside."""
    metrics, manifest = read_metrics(study.outputs / METRICS_FILE), read_json(study.outputs / MANIFEST)
    found = [Results(study.dataset.name, study.questions, read_summary(study), metrics, manifest, {})]
    for name, one in others(study).items():
        summary = read_csv(one.file("summary.csv"), k="Int64")
        found.append(Results(name, one.dataset().questions, summary, one.metrics, one.manifest, {}))
    return [with_outside(study, one) for one in found]


def with_outside(study: Study, one: Results) -> Results:
    """The results of a set, those of its runs from outside among them."""
    company, settings = one.questions.set_index("question_id")["company"], study.profile.significance
    draws, systems = Resampling(company, settings.n_draws, settings.seed), outside_of(study, one.name)
    summaries, parts = [one.summary], [one.metrics]
    for system in systems.values():
        is_shown = system.metrics["metric"].isin([*SHOWN]) & system.metrics["k"].isin([*SHOWN.values()])
        parts.append(system.metrics[is_shown])
        summaries.append(summarise(parts[-1], draws))
    return one._replace(summary=pd.concat(summaries), metrics=pd.concat(parts), outside=systems)


def outside_of(study: Study, question_set: str) -> dict[str, Outside]:
    """The runs from outside over a question set by name: submissions, and for the study's own those diagnosed here."""
    own = kept_runs(study) if question_set == study.dataset.name else []
    return {one.name: one for one in (*own, *submissions(question_set))}


def about(method: str, outside: dict[str, Outside]) -> tuple[str, str, str, str, str]:
    """The columns ABOUT of a row of the method table or a run from outside."""
    if one := outside.get(method):
        return one.title, one.name, one.needs, one.link, one.by
    row, page = METHODS[method], "methods" if METHODS[method].family in OWN else "siblings"
    link = f"{page}.html#{make_id(f'method-{method}')}"
    return row.title, family(method), "; ".join(row.needs), link, ""


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
    for one in sets_of(study):
        known = one.summary[one.summary["method"].isin({*METHODS, *one.outside})]
        of = {key: part.set_index("method") for key, part in known.groupby(["condition", "metric", "k"])}
        rows = of["standard", "page_recall", K].sort_values("mean", ascending=False, kind="stable")
        part = pd.DataFrame({"set": one.name, "method": rows.index}, rows.index)
        part["rank"] = ranks(*(rows[name].tolist() for name in ("mean", "low", "high")))
        part[ABOUT] = [about(name, one.outside) for name in rows.index]
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
        if condition == "standard" and (record := known.get((f"runs/{place}", run["key"]))):
            found[method] = record["wall_s"], record["peak_mib"]
    return pd.DataFrame.from_dict(found, "index", columns=["run_s", "peak_mib"], dtype=float)
