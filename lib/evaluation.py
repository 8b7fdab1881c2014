"""From runs to metrics: every method under every condition, one row a question, stored and written to the view."""

import io
import uuid
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from lib.code import code_hash
from lib.locks import exclusively
from lib.methods import METHODS
from lib.metrics import overlap, retrieval
from lib.stats import clustered_bootstrap
from lib.store import digest_of
from lib.words import CONDITIONS, Condition

METRIC_COLUMNS = ["method", "condition", "question_id", "metric", "k", "value"]
SUMMARY_COLUMNS = ["method", "condition", "metric", "k", "mean", "low", "high", "n", "n_companies"]


def evaluate(study, method: str, condition: Condition = "standard") -> pd.DataFrame:
    """The retrieval metrics of one run.

    Returns:
        METRIC_COLUMNS; every question of the study is there, with 0 where nothing was retrieved.
    """
    if not study.has_filings or study.has_published_metrics(method, condition):
        return study.published_metrics(method, condition)[METRIC_COLUMNS]
    entry, searched = study.run_entry(method, condition), study.over(METHODS[method].corpus)
    params = {
        "run": entry.digest,
        "questions": study.questions_digest,
        "evidence": digest_of(study.questions["evidence"].tolist()),
        "chunks": searched.chunks_digest,
        "ks": list(study.profile.metrics.ks),
        "code": [code_hash(retrieval), code_hash(overlap)],
    }

    def compute(target: Path) -> None:
        run, questions = study.run(method, condition), study.questions
        texts = searched.memo("chunk_texts", lambda: searched.chunks.set_index("chunk_id")["text"].to_dict())
        scorer = study.memo("pair_scorer", lambda: _load_scorer(study))
        ranked = retrieval.retrieval_metrics(run, questions, study.profile.metrics.ks)
        read = overlap.overlap_metrics(run, texts, questions, study.profile.metrics.ks, scorer)
        pd.concat([ranked, read], ignore_index=True).to_parquet(target / "metrics.parquet", index=False)
        _save_scorer(study, scorer)

    found = study.store.get(f"metrics/{condition}/{method}", params, compute)
    table = pd.read_parquet(found.path / "metrics.parquet")
    return table.assign(method=method, condition=condition)[METRIC_COLUMNS]


def _scorer_file(study) -> Path:
    return study.store.root / "overlap" / "pairs.parquet"


def _load_scorer(study) -> overlap.PairScorer:
    scorer, path = overlap.PairScorer(), _scorer_file(study)
    if path.is_file():
        try:
            scorer.load(path)
        except (ValueError, OSError):
            study.store.say(f"{path} is damaged or from other metrics; it is written anew")
    return scorer


def _save_scorer(study, scorer: overlap.PairScorer) -> None:
    path = _scorer_file(study)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(f".{uuid.uuid4().hex[:8]}.parquet")
    scorer.save(aside)
    aside.replace(path)


def evaluate_all(study, methods: Iterable[str], conditions: Iterable[Condition] = CONDITIONS) -> pd.DataFrame:
    """The metrics of several runs, one under the other."""
    return pd.concat([evaluate(study, m, c) for c in conditions for m in methods], ignore_index=True)


def summarise(metrics: pd.DataFrame, questions: pd.DataFrame, n_draws: int, seed: int) -> pd.DataFrame:
    """The mean of every method, condition, metric and k, with its 95 % interval clustered by company.

    Args:
        metrics: METRIC_COLUMNS.
        questions: gives each question's company.
        n_draws, seed: of the bootstrap.

    Returns:
        SUMMARY_COLUMNS.
    """
    company = questions.set_index("question_id")["company"]
    rows = []
    for names, part in metrics.groupby(METRIC_COLUMNS[:2] + ["metric", "k"], dropna=False, sort=False):
        interval = clustered_bootstrap(
            part["value"], part["question_id"].map(company).to_numpy(), n_draws, seed
        )
        rows.append((*names, *interval))
    return pd.DataFrame(rows, columns=SUMMARY_COLUMNS)


def merge_metrics(study, fresh: pd.DataFrame) -> pd.DataFrame:
    """Add metrics to the view's ``metrics.csv.gz`` and ``summary.csv``: rows of the same method, condition and metric
    are replaced, the others stay.

    Returns:
        All metrics of the view.
    """
    with exclusively(study.view / "metrics.csv.gz", study.store.say):
        return _merged(study, study.view / "metrics.csv.gz", fresh)


def _merged(study, path: Path, fresh: pd.DataFrame) -> pd.DataFrame:
    table = fresh.astype({"k": "Int64", "value": float})
    if path.is_file():
        old = pd.read_csv(path, dtype={"question_id": str, "k": "Int64"})
        names = METRIC_COLUMNS[:2] + ["metric"]
        replaced = pd.MultiIndex.from_frame(old[names]).isin(pd.MultiIndex.from_frame(fresh[names]))
        table = pd.concat([old[~replaced], table], ignore_index=True)
    table = table.sort_values(METRIC_COLUMNS[:5], kind="stable", ignore_index=True)
    packed = io.BytesIO()
    table.to_csv(packed, index=False, float_format="%.10g", compression={"method": "gzip", "mtime": 0})
    study.write("metrics.csv.gz", packed.getvalue())
    return table


def write_summary(study, metrics: pd.DataFrame) -> pd.DataFrame:
    """Write ``summary.csv`` of the view and return it."""
    settings = study.profile.significance
    summary = summarise(metrics, study.questions, settings.n_draws, settings.seed)
    study.write("summary.csv", summary.to_csv(index=False, float_format="%.6f"))
    return summary
