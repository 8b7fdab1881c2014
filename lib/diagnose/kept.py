"""Runs from outside that were diagnosed, kept beside the study's own results for the leaderboard and the explorer."""

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


class Outside(NamedTuple):
    """A run from outside that was diagnosed and kept here."""

    name: str
    metrics: pd.DataFrame  # METRIC_COLUMNS: method is the name, condition ``standard``
    run_file: Path  # for :func:`lib.diagnose.run_file.read_docnos`
    title: str
    by: str = "diagnosed here"


def keep(study: Study, name: str, run: pd.DataFrame, metrics: pd.DataFrame) -> None:
    """Keep a run (RUN_COLUMNS) with its metrics (METRIC_COLUMNS) and the gold pages that they are of, in
    ``outside/<name>`` of the study's home, in place of an earlier one of its name."""
    folder = study.home / OUTSIDE / name
    write_atomically(folder / RUN_FILE, trec_lines(run, name))
    write_atomically(folder / GOLD_FILE, qrels(study.questions))
    write_atomically(folder / METRICS_FILE, table_bytes(metrics[METRIC_COLUMNS]))


def kept_runs(study: Study) -> list[Outside]:
    """The runs that were diagnosed over a study's questions under its profile, by name; one that was over other
    questions or gold pages than the set has now is left out, which is said. A StudyError where a file is damaged."""
    found, gold = [], qrels(study.questions)
    for path in sorted((study.home / OUTSIDE).glob(f"*/{METRICS_FILE}")):
        name, known = path.parent.name, path.with_name(GOLD_FILE)
        if known.is_file() and known.read_bytes() == gold:
            found.append(Outside(name, read_metrics(path), path.with_name(RUN_FILE), name))
        else:
            study.store.say(f"{name} was diagnosed over other questions or gold pages: left out; diagnose it again")
    return found
