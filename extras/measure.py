"""Measuring a question set without a book: ``make measure``."""

import time
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pandas as pd

from lib.ahead.ranker import WITH_KINDS
from lib.analysis.answered import RANKER, calculated_on
from lib.analysis.budget import by_budget
from lib.analysis.encoders import cells
from lib.analysis.ladder import has_sets, mean_recalls
from lib.analysis.question_sets import features
from lib.analysis.scoreboard import board_of
from lib.analysis.unseen import light_recalls
from lib.book.manifest import write_manifest
from lib.book.notebooks import forget_stages
from lib.book.results import write_exports, write_results
from lib.evaluation import evaluate
from lib.method_sets import chosen, in_comparisons, measured
from lib.methods import METHODS
from lib.metrics.frame import Metrics
from lib.other_sets import unseen_beside
from lib.study import Study


def measure(study: Study, names: Sequence[str] | str = "all", say=print) -> Path:
    """Compute runs and metrics method by method, and write the contract's files, as a book does; gives the outputs.

    Args:
        study: opened with the chapter ``measure``.
        names: of methods; ``all`` that the profile measures, which is what may be published.
        say: called with each method's name, page recall under its first condition, number of questions, and seconds.
    """
    wanted = None
    if names != "all":
        wanted = [(name, condition) for name in chosen(names) for condition in METHODS[name].conditions]
    else:
        forget_stages(study, ["measure"])
    found = []
    for name, pairs in groupby(wanted or measured(study.profile), key=itemgetter(0)):
        started = time.perf_counter()
        found += (rows := [evaluate(study, *pair) for pair in pairs])
        recall = rows[0].query("metric == 'page_recall' and k == 5")["value"]
        say(f"{name}: page recall@5 {recall.mean():.2f}, n = {len(recall)}, {time.perf_counter() - started:.0f} s")
    features(study)  # this, the verdicts and calculated answers are what a chapter compares sets by
    if not wanted:
        metrics = pd.concat(found, ignore_index=True)
        metrics = Metrics(metrics[metrics["method"].isin(in_comparisons())])
        board_of(study, metrics)
        if ("page_scorer_light", "standard") in metrics.runs:
            cells(study)
            if study.has_text and (other := unseen_beside(study)) and other.has_text:
                light_recalls(study, other, measure=True)
        if has_sets(study) and study.dataset.name == study.dataset.collection:
            mean_recalls(study, WITH_KINDS)
        if "answer" not in study.dataset.lacks and RANKER in metrics:
            calculated_on(study, metrics, study.profile.answers.n_chunks)
        by_budget({study.dataset.name: study})  # what a first page compares question sets by
    write_results(study, wanted)
    write_manifest(study, wanted)
    write_exports(study, wanted)
    return study.outputs
