"""Runs from outside that were diagnosed, stored beside the study's own results for the leaderboard and the explorer."""

import json
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from lib.diagnose.beside import Judged
from lib.evaluation import METRIC_COLUMNS, read_metrics
from lib.files import write_atomically
from lib.frames import table_bytes
from lib.published import METRICS_FILE
from lib.runs import qrels, trec_lines
from lib.schema import Condition
from lib.study import Study

OUTSIDE, RUN_FILE, GOLD_FILE, ABOUT_FILE = "outside", "run.trec", "qrels.txt", "about.json"


class StoredRun(NamedTuple):
    """A run from outside that was diagnosed here."""

    name: str
    metrics: pd.DataFrame  # METRIC_COLUMNS over all questions of the set: method is the name, condition ``standard``
    run_file: Path  # for :func:`lib.diagnose.run_file.read_docnos`
    n_answered: int  # questions that it has an answer to; others score 0
    condition: Condition  # that it was retrieved under


def store_run(study: Study, one: Judged) -> None:
    """Store a run with its metrics over all questions and the gold pages that they are of, in ``outside/<name>`` of the
    study's home, in place of an earlier one of its name."""
    folder = study.home / OUTSIDE / one.name
    write_atomically(folder / RUN_FILE, trec_lines(one.run, one.name))
    write_atomically(folder / GOLD_FILE, qrels(study.questions))
    write_atomically(folder / ABOUT_FILE, json.dumps({"n_answered": len(one.questions), "condition": one.condition}))
    write_atomically(folder / METRICS_FILE, table_bytes(one.whole[METRIC_COLUMNS]))


def stored_runs(study: Study) -> list[StoredRun]:
    """The runs that were diagnosed over a study's questions under its profile, by name; one over other questions or
    gold pages than the set has now is reported and left out."""
    runs, gold = [], qrels(study.questions)
    for path in sorted((study.home / OUTSIDE).glob(f"*/{METRICS_FILE}")):
        gold_file, about_file = path.with_name(GOLD_FILE), path.with_name(ABOUT_FILE)
        if gold_file.is_file() and about_file.is_file() and gold_file.read_bytes() == gold:
            about = json.loads(about_file.read_bytes())
            runs.append(StoredRun(path.parent.name, read_metrics(path), path.with_name(RUN_FILE), **about))
        else:
            wrong = f"{path.parent.name} was diagnosed over other questions or gold pages"
            study.store.say(f"{wrong}: left out; diagnose it again")
    return runs
