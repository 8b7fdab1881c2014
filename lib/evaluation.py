"""From runs to metrics: every method under every condition, one row per question, stored and written to the outputs."""

import gzip
import zlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

import pandas as pd

from lib.files import exclusively
from lib.frames import content_digest, read_csv, read_table, table_bytes
from lib.method import memoized
from lib.metrics import METRICS, answers, overlap, pooled, retrieval, right
from lib.metrics.frame import Metrics
from lib.published import ANSWERS_FILE, METRICS_FILE
from lib.schema import CONDITIONS, IN_WORDS, Condition, K, StudyError
from lib.stats import Resampling
from lib.store import Entry
from lib.study import Study

VERSION = 2  # raised with every new or changed metric of runs
SUMMARY, SUMMARY_FILE, SUMMARY_VERSION = "summary", "summary.csv", 4
METRIC_COLUMNS = ["method", "condition", "question_id", "metric", "k", "value"]
ANSWER_COLUMNS = ["context", "prompt", "generator", "question_id", "metric", "value"]
SUMMARY_COLUMNS = ["method", "condition", "metric", "k", "mean", "low", "high", "n", "n_companies"]
TYPES = {"k": "Int64", "value": float}
#: What questions have to have for some metrics.
NEEDS = {"answer": [one.name for one in (*answers.METRICS, *right.METRICS)], "evidence": overlap.NAMES}
POOLED = {metric.name for metric in pooled.METRICS}
MEASURED = set(METRICS) - set(NEEDS["answer"])  # of runs, and stored run by run


def metrics_entry(study: Study, method: str, condition: Condition) -> Entry:
    """The stored entry of a run's metrics."""
    searched, ks = study.with_chunks(study.method(method).chunking), study.profile.metrics.ks
    params = {
        "run": study.run_entry(method, condition).digest,
        "questions": study.digest("questions"),
        "evidence": study.digest("evidence"),
        "chunks": searched.digest("chunks"),
        "ks": list(ks),
    }

    def make() -> pd.DataFrame:
        has_evidence = "evidence" not in study.dataset.lacks
        texts = chunk_texts(searched) if has_evidence and study.has_text else None
        table = _measured(study, study.run(method, condition), texts, method, condition)
        if has_evidence and not study.has_text:  # overlap needs texts: that of the same run was published
            published = study.published.metrics_of(method, condition)
            of_overlap = published[published["metric"].isin(overlap.NAMES)]
            table = in_order(pd.concat([table, of_overlap], ignore_index=True), study.questions)
        return table

    stage = f"metrics/{condition}/{method}"
    return study.store.frame_entry(stage, params, make, VERSION, public=True, digest=content_digest)


@memoized
def chunk_texts(study: Study) -> Mapping[str, str]:
    """The text of each chunk of the table that is searched, by chunk_id."""
    return study.chunks.set_index("chunk_id")["text"].to_dict()


def _measured(
    study: Study, run: pd.DataFrame, texts: Mapping[str, str] | None, method: str, condition: Condition
) -> pd.DataFrame:
    """A run's METRIC_COLUMNS, to ten digits; overlap with the evidence where the texts of its chunks are given."""
    ks = study.profile.metrics.ks
    parts = [retrieval.retrieval_metrics(run, study.questions, ks)]
    if texts is not None:
        label = f"overlap of {method}, {IN_WORDS[condition]}"
        parts.append(overlap.overlap_metrics(run, texts, study.questions, ks, study.cache.rows, label))
    table = pd.concat(parts, ignore_index=True).assign(method=method, condition=condition)[METRIC_COLUMNS].astype(TYPES)
    ten_digits = table["value"].map(lambda value: float(f"{value:.10g}"))
    return in_order(table.assign(value=ten_digits), study.questions)


def evaluate_given(
    study: Study,
    run: pd.DataFrame,
    name: str,
    texts: Mapping[str, str] | None = None,
    condition: Condition = "standard",
) -> pd.DataFrame:
    """The metrics of a run from outside (RUN_COLUMNS) as :func:`evaluate` gives those of the study's; ``texts``, by
    chunk_id, are those of all its chunks that are measured."""
    return _with_pooled(study, _measured(study, run, texts, name, condition), run, name, condition)


def evaluate(study: Study, method: str, condition: Condition = "standard") -> pd.DataFrame:
    """The retrieval metrics of one run: METRIC_COLUMNS, every question with 0 where nothing was retrieved.

    Overlap is measured where questions have evidence texts, recall with further pages that answer where such are known.
    """
    entry = metrics_entry(study, method, condition)
    if entry.origin == "published":
        found = study.published.metrics_of(method, condition)
        found = found[found["metric"].isin(MEASURED)].reset_index(drop=True)
    else:
        found = entry.frame()
    expected = MEASURED - POOLED - set(NEEDS["evidence"] if "evidence" in study.dataset.lacks else ())
    if lacking := sorted(expected - {*found["metric"]}):
        raise StudyError(f"stored metrics of {method} lack {', '.join(lacking)}: raise VERSION in lib/evaluation.py")
    if found["metric"].isin(POOLED).any():
        return found
    return _with_pooled(study, found, study.run(method, condition), method, condition)


def _with_pooled(
    study: Study, found: pd.DataFrame, run: pd.DataFrame, method: str, condition: Condition
) -> pd.DataFrame:
    """A run's metrics with those of pages that answer beside the gold ones, where such are known."""
    if (judged := pooled.answering_pages(study.dataset.name, study.questions)).empty:
        return found
    company_of, ks = study.filings.set_index("doc_name")["company"], study.profile.metrics.ks
    more = pooled.pooled_metrics(run, study.questions, judged, company_of, ks)
    more = more.assign(method=method, condition=condition)
    return in_order(pd.concat([found, more], ignore_index=True), study.questions)


def in_order(table: pd.DataFrame, questions: pd.DataFrame) -> pd.DataFrame:
    """Metrics in the order of the metric table and the depths, then of the questions: the bootstrap depends on it."""
    places = {id_: row for row, id_ in enumerate(questions["question_id"])}
    order = {name: row for row, name in enumerate(METRICS)}
    keys = {"metric": table["metric"].astype(object).map(order), "k": table["k"].astype(float)}
    keys = pd.DataFrame(keys | {"question": table["question_id"].astype(object).map(places)})
    return table.loc[keys.sort_values([*keys], kind="stable").index].reset_index(drop=True)


def read_metrics(path: Path) -> pd.DataFrame:
    """A file of METRIC_COLUMNS (Parquet) or ANSWER_COLUMNS (CSV); a StudyError where it is damaged."""
    try:
        if path.suffix != ".parquet":
            return read_csv(path, **TYPES)
        table = read_table(path)
        return table.astype(dict.fromkeys(table.select_dtypes("category"), object))
    except (gzip.BadGzipFile, zlib.error, EOFError, OSError, ValueError) as error:
        fix = "remove it, and built.json beside it, so that the chapters write it again"
        raise StudyError(f"{path} is damaged ({error}); {fix}") from None


def metrics_csv(table: pd.DataFrame) -> bytes:
    """A metrics frame as CSV, ordered, values with ten digits: equal frames give equal bytes."""
    texts = table.select_dtypes("category").columns  # whose order is that of their categories
    table = table.astype(dict.fromkeys(texts, str))
    ordered = table.sort_values(list(table.columns[:5]), kind="stable")
    return ordered.to_csv(index=False, float_format="%.10g").encode()


def evaluate_runs(study: Study, runs: Iterable[tuple[str, Condition]]) -> Metrics:
    """The metrics of several runs, one under the other."""
    return Metrics(pd.concat([evaluate(study, *run) for run in runs], ignore_index=True))


def evaluate_all(study: Study, methods: Iterable[str], conditions: Iterable[Condition] = CONDITIONS) -> Metrics:
    """The metrics of methods under every one of the conditions."""
    return evaluate_runs(study, ((method, condition) for condition, method in product(conditions, methods)))


def summarise(metrics: pd.DataFrame, draws: Resampling) -> pd.DataFrame:
    """The mean of every method, condition, metric and k of METRIC_COLUMNS, with its interval: SUMMARY_COLUMNS."""
    rows, of = [], [*METRIC_COLUMNS[:2], "metric", "k"]
    for names, part in metrics.groupby(of, dropna=False, sort=False, observed=True):
        rows.append((*names, *draws.interval(part.set_index("question_id")["value"])))
    return pd.DataFrame(rows, columns=SUMMARY_COLUMNS)


def summary_at(study: Study, metrics: Metrics, k: int, wanted: Sequence[str]) -> pd.DataFrame:
    """Some metrics at one depth, see :func:`summarise` and :meth:`lib.metrics.frame.Metrics.at_depth`."""
    return summarise(metrics.at_depth(k, wanted), Resampling.of(study))


def merge_metrics(study: Study, fresh: pd.DataFrame, is_whole: bool = False) -> pd.DataFrame:
    """Add metrics to the outputs' ``metrics.parquet``, which is returned: rows of the same method, condition and metric
    are replaced, or of any method and condition where the fresh ones are the whole of their metrics."""
    same = ["metric"] if is_whole else [*METRIC_COLUMNS[:2], "metric"]
    return _merged(study, METRICS_FILE, fresh.astype(TYPES), same)


def merge_answers(study: Study, fresh: pd.DataFrame) -> pd.DataFrame:
    """Add ANSWER_COLUMNS to ``answers.csv.gz``: rows of the same context, prompt, generator and metric are replaced."""
    return _merged(study, ANSWERS_FILE, fresh.astype({"value": float}), [*ANSWER_COLUMNS[:3], "metric"])


def _merged(study: Study, name: str, fresh: pd.DataFrame, same: list[str]) -> pd.DataFrame:
    """All rows of a file of the outputs, once ``fresh`` ones replaced those with the same values in some columns."""
    fresh = fresh.astype(dict.fromkeys(fresh.select_dtypes("category"), object))  # which sort by their text
    path, table = study.outputs / name, fresh
    with exclusively(path, study.store.say):
        if path.is_file():
            old = read_metrics(path)
            lost = [metric for what in study.dataset.lacks for metric in NEEDS[what]]  # the set may have changed
            old = old[old["question_id"].isin(study.questions["question_id"]) & ~old["metric"].isin(lost)]
            replaced = pd.MultiIndex.from_frame(old[same]).isin(pd.MultiIndex.from_frame(fresh[same]))
            table = pd.concat([old[~replaced], table], ignore_index=True)
        table = table.sort_values([*table.columns[:5]], kind="stable", ignore_index=True)
        study.write(name, table_bytes(table) if name == METRICS_FILE else gzip.compress(metrics_csv(table), mtime=0))
    return table


def write_summary(study: Study, metrics: pd.DataFrame) -> pd.DataFrame:
    """Write ``summary.csv`` of the outputs and return it."""
    params = {"metrics": content_digest(metrics), **study.profile.significance}

    def compute(target: Path) -> None:
        found = summarise(metrics, Resampling.of(study))
        found.to_csv(target / SUMMARY_FILE, index=False, float_format="%.6f")

    entry = study.store.files(SUMMARY, params, compute, SUMMARY_VERSION, public=True)
    study.write(SUMMARY_FILE, entry.read(SUMMARY_FILE))
    return read_summary(study.outputs)


def read_summary(folder: Path) -> pd.DataFrame:
    """The means of the outputs or of published results (SUMMARY_COLUMNS), which are in this folder."""
    return read_csv(folder / SUMMARY_FILE, k="Int64")


def rows_at(table: pd.DataFrame, metric: str, k: int) -> pd.DataFrame:
    """The rows of a metric at one depth over all filings, of METRIC_COLUMNS or SUMMARY_COLUMNS."""
    return table[(table["condition"] == "standard") & (table["metric"] == metric) & (table["k"] == k)]


def means_at(summary: pd.DataFrame, metric: str, k: int = K) -> pd.Series:
    """The mean of a metric at one depth over all filings by method, of SUMMARY_COLUMNS."""
    return rows_at(summary, metric, k).set_index("method")["mean"]
