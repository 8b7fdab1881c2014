"""The files of the outputs that outside checks rely on: runs, metrics, their summary, questions, pages, chunks."""

import io

import pandas as pd

from lib.evaluation import evaluate, merge_metrics, read_metrics, write_summary
from lib.methods import measured
from lib.study import Study


def write_results(study: Study) -> None:
    """Write ``runs/``, ``metrics.csv.gz``, ``summary.csv``; with filings also questions, pages and chunks."""
    wanted = measured(study.profile)
    for name, condition in wanted:
        study.run(name, condition)
    metrics = merge_metrics(study, pd.concat([evaluate(study, *pair) for pair in wanted], ignore_index=True))
    write_summary(study, metrics)
    if study.has_text:
        study.generation_log().take_published()
        packed = io.BytesIO()
        study.questions.to_parquet(packed, index=False)
        study.write("questions.parquet", packed.getvalue())
        _ = study.pages, study.chunks  # linked into the outputs as they are read


def read_summary(study: Study) -> pd.DataFrame:
    """The summary of the outputs; see :data:`lib.evaluation.SUMMARY_COLUMNS`."""
    return pd.read_csv(study.outputs / "summary.csv", dtype={"k": "Int64"})


def read_results(study: Study) -> pd.DataFrame:
    """The metrics of the outputs; see :data:`lib.evaluation.METRIC_COLUMNS`."""
    return read_metrics(study.outputs / "metrics.csv.gz")
