"""Runs from outside that were diagnosed, stored beside the study's own results for the leaderboard and the explorer."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from lib.evaluation import METRIC_COLUMNS, read_metrics
from lib.files import write_atomically
from lib.published import METRICS_FILE
from lib.runs import qrels, trec_lines
from lib.study import Study
from lib.typed import table_bytes

OUTSIDE, RUN_FILE, GOLD_FILE = "outside", "run.trec", "qrels.txt"


class StoredRun(NamedTuple):
    """A run from outside that was diagnosed here."""

    name: str
    metrics: pd.DataFrame  # METRIC_COLUMNS: method is the name, condition ``standard``
    run_file: Path  # for :func:`lib.diagnose.run_file.read_docnos`


def store_run(study: Study, name: str, run: pd.DataFrame, metrics: pd.DataFrame) -> None:
    """Store a run (RUN_COLUMNS) with its metrics (METRIC_COLUMNS) and the gold pages that they are of, in
    ``outside/<name>`` of the study's home, in place of an earlier one of its name."""
    folder = study.home / OUTSIDE / name
    write_atomically(folder / RUN_FILE, trec_lines(run, name))
    write_atomically(folder / GOLD_FILE, qrels(study.questions))
    write_atomically(folder / METRICS_FILE, table_bytes(metrics[METRIC_COLUMNS]))


def stored_runs(study: Study) -> list[StoredRun]:
    """The runs that were diagnosed over a study's questions under its profile, by name; one over other questions or
    gold pages than the set has now is reported and left out."""
    runs, gold = [], qrels(study.questions)
    for path in sorted((study.home / OUTSIDE).glob(f"*/{METRICS_FILE}")):
        gold_file = path.with_name(GOLD_FILE)
        if gold_file.is_file() and gold_file.read_bytes() == gold:
            runs.append(StoredRun(path.parent.name, read_metrics(path), path.with_name(RUN_FILE)))
        else:
            wrong = f"{path.parent.name} was diagnosed over other questions or gold pages"
            study.store.say(f"{wrong}: left out; diagnose it again")
    return runs
