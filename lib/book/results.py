"""What outside checks rely on: metrics of all measured runs and their summary; with filings also what was searched, and
the same runs and metrics for other programs."""

import io
from collections.abc import Sequence

import pandas as pd

from lib.evaluation import evaluate, merge_metrics, write_summary
from lib.exports import exported_metrics, exported_run
from lib.frames import read_table
from lib.method_sets import measured
from lib.published import ANSWERS_FILE, METRICS_FILE
from lib.schema import Condition
from lib.study import Study


def write_results(study: Study, some: Sequence[tuple[str, Condition]] | None = None) -> None:
    """Write ``metrics.parquet`` and ``summary.csv`` of all that the profile measures, in place of what was, or add
    ``some`` runs; with filings also questions, pages and chunks."""
    metrics = pd.concat([evaluate(study, *run) for run in some or measured(study.profile)], ignore_index=True)
    write_summary(study, merge_metrics(study, metrics, is_whole=some is None))
    if "answer" in study.dataset.lacks:
        (study.outputs / ANSWERS_FILE).unlink(missing_ok=True)  # written when there were some
    if study.has_text:
        study.generation_log().list_all()
        packed = io.BytesIO()
        study.questions.to_parquet(packed, index=False)
        study.write("questions.parquet", packed.getvalue())
        _ = study.pages, study.chunks  # linked into the outputs as they are read


def write_exports(study: Study, some: Sequence[tuple[str, Condition]] | None = None) -> None:
    """Write what only other programs read: ``metrics.csv.gz``, and in TREC's format ``runs/``."""
    for name, condition in some or measured(study.profile):
        study.write(f"runs/{condition}/{name}.trec.gz", exported_run(study.run(name, condition), name))
    study.write("metrics.csv.gz", exported_metrics(read_table(study.outputs / METRICS_FILE)))
