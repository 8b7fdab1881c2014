"""The files of a view that outside checks rely on: runs, metrics, their summary, questions."""

import pandas as pd

from lib.evaluation import evaluate, merge_metrics, write_summary
from lib.methods import METHODS, measured


def write_results(study) -> None:
    """Write ``runs/``, ``metrics.csv.gz``, ``summary.csv`` and ``questions.parquet`` of the view.

    Without filings all of it is copied from what was published.
    """
    if not study.has_filings:
        copy_published(study)
        return
    wanted = measured(study.profile)
    for name, condition in wanted:
        study.run(name, condition)
    metrics = merge_metrics(study, pd.concat([evaluate(study, *pair) for pair in wanted], ignore_index=True))
    write_summary(study, metrics)
    study.show_inputs()


def copy_published(study) -> None:
    """Put the published runs, metrics, summary and generations into the view, by name and unchanged."""
    root = study.published.root
    for name in ("metrics.csv.gz", "summary.csv", "generations.jsonl"):
        if (root / name).is_file():
            study.write(name, (root / name).read_bytes())
    for place in study.published.manifest["runs"]:
        condition, name = place.split("/")
        if name in METHODS:
            study.run(name, condition)


def read_summary(study) -> pd.DataFrame:
    """The summary of the view; see :data:`lib.evaluation.SUMMARY_COLUMNS`."""
    return pd.read_csv(study.view / "summary.csv", dtype={"k": "Int64"})


def read_metrics(study) -> pd.DataFrame:
    """The metrics of the view; see :data:`lib.evaluation.METRIC_COLUMNS`."""
    return pd.read_csv(study.view / "metrics.csv.gz", dtype={"question_id": str, "k": "Int64"})
