"""What of a publication follows without any text: from runs and gold pages metrics, from these losses and means."""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from lib.evaluation import ANSWER_COLUMNS, METRIC_COLUMNS, SUMMARY_COLUMNS, read_metrics, read_summary, summarise
from lib.metrics.losses import losses
from lib.metrics.pooled import answering_pages, pooled_metrics
from lib.metrics.retrieval import is_gold, retrieval_metrics
from lib.published import ANSWERS_FILE, OF_RUN, Published
from lib.schema import CONDITIONS
from lib.stats import Resampling

EXACT = 1e-9
LAST_DIGIT = 5.1e-7  # half of the last digit that summary.csv has
AT_ONCE = 20  # runs that are measured at the same time
KEYS = METRIC_COLUMNS[:5]
NAMED_BY_YEAR = ("financebench", "demo")  # collections whose filings' names have the fiscal year
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def follows(published: Published) -> Iterator[str]:
    """All of a publication that differs from what follows, a line a fault; metrics where the runs have their shape."""
    questions = published.questions
    ids, has_pages = questions["question_id"], questions["gold_pages"].map(bool)
    if not has_pages.all() or ids.duplicated().any():
        yield from (f"{name} is listed twice" for name in ids[ids.duplicated()])
        yield from (f"{name} has no gold page" for name in ids[~has_pages])
        return
    yield from of_filings(published)
    wrong = list(of_shape(published))
    yield from wrong or of_metrics(published)
    yield from of_answers(published)
    yield from of_summary(published)


def of_filings(published: Published) -> Iterator[str]:
    """Companies, types and gold pages of the questions, and years, that are not those of the filings."""
    questions, filings = published.questions, published.filings
    about = filings.set_index("doc_name").reindex(questions["doc_name"])
    for name in ("company", "doc_type"):
        for row in questions[questions[name].to_numpy() != about[name].to_numpy()].to_dict("records"):
            yield f"{name} of {row['question_id']}, {row[name]!r}, is not that of {row['doc_name']}"
    for row, n_pages in zip(questions.itertuples(), about["n_pages"], strict=True):
        if not max(row.gold_pages) < n_pages:
            yield f"the gold pages {row.gold_pages} of {row.question_id} are not pages of {row.doc_name}"
    if published.manifest.get("collection") in NAMED_BY_YEAR:
        for name, year in zip(filings["doc_name"], filings["doc_period"], strict=True):
            if (stated := YEAR.findall(re.sub(r"Q\d", "", name))) and str(year) not in stated:
                yield f"the year of {name}, {year}, is not that of its name"


def of_shape(published: Published) -> Iterator[str]:
    """Rows of runs that no search over these filings and questions gives."""
    questions, table, asked = published.questions, published.runs.table, [*OF_RUN, "question_id"]
    chunks = published.runs.chunks.iloc[table["chunk_id"].cat.codes]
    table = table.assign(doc_name=chunks["doc_name"].to_numpy(), page=chunks["page"].to_numpy())
    of, condition, score = table.groupby(asked, observed=True, sort=False), table["condition"], table["score"]
    own = table["question_id"].astype(object).map(questions.set_index("question_id")["doc_name"])
    n_pages = table["doc_name"].map(published.filings.set_index("doc_name")["n_pages"])
    wrong = {
        "a question that is not asked": own.isna(),
        "a chunk that is on no page of filings.csv": ~(table["page"] < n_pages),
        "ranks that are not 1, 2, 3 and so on": table["rank"] != of.cumcount() + 1,
        "a score that rises": (of["score"].diff() > 0) | ~np.isfinite(score),
        "a chunk twice": table.duplicated([*asked, "chunk_id"]),
        "a chunk of another filing": (condition != CONDITIONS[0]) & (table["doc_name"] != own),
        "a chunk of another page": (condition == CONDITIONS[2]) & ~is_gold(table, questions).to_numpy(),
    }
    for what, rows in wrong.items():
        for row in table[rows].drop_duplicates(OF_RUN).itertuples():
            yield f"{row.condition}/{row.method} has {what}: {row.question_id}, rank {row.rank}, {row.chunk_id}"


def measured(published: Published) -> pd.DataFrame:
    """METRIC_COLUMNS of all runs that follow from their chunks and the gold pages, with what is lost at each step.

    Runs are measured some at once, each question under a name of its own in each.
    """
    questions, ks = published.questions, published.manifest["settings"]["metrics"]["ks"]
    judged = answering_pages(published.manifest["dataset"], questions)
    company_of = published.filings.set_index("doc_name")["company"]
    places, parts = list(published.runs), []
    for start in range(0, len(places), AT_ONCE):
        named = {"\n".join(place): place for place in places[start : start + AT_ONCE]}

        def each(frame_of, named=named) -> pd.DataFrame:
            frames = {name: frame_of(place) for name, place in named.items()}
            return pd.concat(one.assign(question_id=f"{name}\n" + one["question_id"]) for name, one in frames.items())

        run, asked = each(published.runs.__getitem__), each(lambda place: questions)
        parts.append(retrieval_metrics(run, asked, ks))
        if len(judged):
            parts.append(pooled_metrics(run, asked, each(lambda place: judged), company_of, ks))
    table = pd.concat(parts, ignore_index=True)
    table[[*OF_RUN, "question_id"]] = table["question_id"].str.split("\n", expand=True).to_numpy()
    of = ["method", "condition", "question_id", "k"]
    docs, pages = (table[table["metric"] == name].set_index(of)["value"] for name in ("doc_recall", "page_recall"))
    split = losses(docs, pages)
    lost = [split[step].reset_index().assign(metric=f"lost_at_{step}") for step in ("document", "page")]
    return pd.concat([table, *lost], ignore_index=True)[METRIC_COLUMNS]


def of_metrics(published: Published) -> Iterator[str]:
    """Metrics of runs that do not follow, are missing, or are doubled."""
    ids, table = set(published.questions["question_id"]), published.metrics
    table = table.astype(dict.fromkeys(METRIC_COLUMNS[:4], object))
    for what, rows in (
        ("a question that is not asked", ~table["question_id"].isin(ids)),
        ("a row twice", table.duplicated(KEYS)),
    ):
        for row in table[rows].itertuples():
            yield f"{what}: {row.method}, {row.condition}, {row.question_id}, {row.metric}@{row.k}"
    table = table[table["question_id"].isin(ids)].drop_duplicates(KEYS)
    sizes = table.groupby(["method", "condition", "metric", "k"]).size()
    for (method, condition, metric, k), size in sizes[sizes != len(ids)].items():
        yield f"{size} questions in place of {len(ids)}: {method}, {condition}, {metric}@{k}"
    fresh = measured(published)
    fresh = fresh[fresh["metric"].isin(table["metric"].unique())]  # of a new metric nothing is published yet
    in_chunks = table[table["metric"].isin(["evidence_found", "lost_at_chunk"])].assign(metric="page_recall")
    both = table.merge(fresh, on=KEYS, how="right", suffixes=("", "_fresh"))
    summed = in_chunks.groupby(KEYS, as_index=False)["value"].sum().merge(fresh, on=KEYS, suffixes=("", "_fresh"))
    both = pd.concat([both, summed.assign(metric="lost_at_chunk")])
    is_lost = both["metric"].str.startswith("lost_")  # losses are measured for some runs, at one depth
    is_other = ~((both["value"] - both["value_fresh"]).abs() <= EXACT) & ~(is_lost & both["value"].isna())
    for row in both[is_other].itertuples():
        where = f"{row.method}, {row.condition}, {row.question_id}, {row.metric}@{row.k}"
        yield f"{where}: published {row.value:g}, now {row.value_fresh:g}"


def of_answers(published: Published) -> Iterator[str]:
    """Scores of answers twice, of no question, or other ones than the metrics have of their contexts."""
    if ANSWERS_FILE not in published.manifest["files"]:
        return
    table, metrics = read_metrics(published.file(ANSWERS_FILE)), published.metrics
    wrong = {
        "twice": table.duplicated(ANSWER_COLUMNS[:-1]),
        "of a question that is not asked": ~table["question_id"].isin(published.questions["question_id"]),
        "without a value": table["value"].isna(),
    }
    for what, rows in wrong.items():
        for row in table[rows].itertuples():
            yield f"an answer's score {what}: {row.context}, {row.prompt}, {row.question_id}, {row.metric}"
    weights = published.manifest["settings"]["generator"]["weights"]
    plain = table[(table["prompt"] == "plain") & (table["generator"] == weights)]
    metrics = metrics[metrics["metric"].isin(set(plain["metric"]))].astype(dict.fromkeys(METRIC_COLUMNS[:4], object))
    context = metrics["method"].where(metrics["method"].isin(set(plain["context"])), "best-baseline")
    context = context.where(metrics["condition"] == CONDITIONS[0], metrics["condition"])
    on = ["context", "question_id", "metric"]
    both = metrics.assign(context=context).merge(plain, on=on, how="outer", suffixes=("_metrics", "_answers"))
    for row in both[~((both["value_metrics"] - both["value_answers"]).abs() <= EXACT)].itertuples():
        where = f"{row.context}, {row.question_id}, {row.metric}"
        yield f"{where}: the metrics have {row.value_metrics:g}, {ANSWERS_FILE} {row.value_answers:g}"


def of_summary(published: Published) -> Iterator[str]:
    """Runs without metrics, metrics without a run, and rows of the summary that are not those of the metrics."""
    metrics, questions = published.metrics, published.questions
    of_runs = metrics.loc[metrics["metric"] == "page_recall", OF_RUN].drop_duplicates()
    places = set(map("/".join, of_runs.itertuples(index=False))) ^ set(published.manifest["runs"])
    yield from (f"{place} has a run or metrics, not both" for place in sorted(places))
    is_sound = metrics["value"].notna() & metrics["question_id"].isin(questions["question_id"])
    for row in metrics[~is_sound].drop_duplicates(OF_RUN).itertuples():
        yield f"no mean is defined: {row.method}, {row.condition}, {row.question_id}, {row.metric} is {row.value}"
    summary, keys = read_summary(published.root), SUMMARY_COLUMNS[:4]
    settings = published.manifest["settings"]["significance"]
    draws = Resampling(questions.set_index("question_id")["company"], settings["n_draws"], settings["seed"])
    metrics = metrics[is_sound].astype({"question_id": object}).sort_values("question_id", kind="stable")
    fresh = summarise(metrics, draws).astype(dict.fromkeys(keys[:3], object) | {"k": "Int64"})
    both = summary.merge(fresh, on=keys, how="outer", suffixes=("", "_fresh"), indicator=True)
    sides = {"left_only": "summary.csv has a row that no metric gives", "right_only": "summary.csv lacks a row"}
    for row in summary[summary.duplicated(keys)].itertuples():
        yield f"summary.csv has a row twice: {row.condition}/{row.method}, {row.metric}@{row.k}"
    for row in both[both["_merge"] != "both"].itertuples():
        yield f"{sides[row[-1]]}: {row.condition}/{row.method}, {row.metric}@{row.k}"
    for name in SUMMARY_COLUMNS[4:]:
        limit = 0 if name.startswith("n") else LAST_DIGIT
        is_other = ~((both[name] - both[f"{name}_fresh"]).abs() <= limit) & (both["_merge"] == "both")
        for row in both[is_other].to_dict("records"):
            has = f"summary.csv has {name} {row[name]}, the metrics give {row[f'{name}_fresh']:.6f}"
            yield f"{has}: {row['condition']}/{row['method']}, {row['metric']}@{row['k']}"
