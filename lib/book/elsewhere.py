"""Measured elsewhere: runs that others published over the study's questions (``data/elsewhere``), each beside the
study's rows on exactly the questions that it answers; and answering systems that people labelled. FinanceBench's book
alone has them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import yaml

from lib.analysis.calibration import ALL, systems
from lib.diagnose.beside import judged, metrics_of
from lib.diagnose.run_file import read_run
from lib.files import ROOT
from lib.metrics.frame import Metrics
from lib.schema import Condition, K, or_without_filings
from lib.stats import Resampling, columns_of, wilson
from lib.study import Study

FOLDER = ROOT / "data" / "elsewhere"
MEASURES = ("doc_recall", "page_recall")
#: What a labelled system was given, as its name says it and in words, in the order of the table.
GIVEN = {
    "closedBook": "no filing",
    "sharedStore": "a search over all filings",
    "singleStore": "a search in the gold filing",
    "inContext": "the whole gold filing",
    "inContext_reverse": "the whole gold filing, prompt reversed",
    "oracle": "the gold pages",
    "oracle_reverse": "the gold pages, prompt reversed",
}
MODELS = {"claude-2": "Claude 2", "gpt-4": "GPT-4", "gpt-4-1106-preview": "GPT-4-1106-preview", "llama2": "Llama 2"}
LABELS = ("right", "wrong", "refused")


class PublishedRun(NamedTuple):
    """A run of ``data/elsewhere/runs.yaml``, whose settings are words."""

    name: str  # of its file
    title: str
    repository: str  # its address
    source: str  # the file there that the run is from, at ``commit``
    commit: str
    authors: str
    licence: str
    licence_file: str  # in FOLDER
    condition: Condition
    questions: str  # those that it answers
    encoder: str
    reranker: str
    chunks: str
    passages: str  # how many it returns
    index: str  # the filings that it searches
    pages: str  # how it counts them
    note: str

    @property
    def file(self) -> Path:
        """The run, as :func:`lib.diagnose.run_file.read_run` takes it."""
        return FOLDER / f"{self.name}.jsonl.gz"


def published_runs(study: Study) -> list[PublishedRun]:
    """The runs over the study's questions, in the file's order; none unless these are all of the set's."""
    about = yaml.safe_load((FOLDER / "runs.yaml").read_text(encoding="utf-8"))
    is_of_study = (study.dataset.name, len(study.questions)) == (about["question_set"], about["n_questions"])
    return [PublishedRun(**one) for one in about["runs"]] if is_of_study else []


def files_of(study: Study) -> list[Path]:
    """What a study's book offers to download: the runs, and the licences' notices."""
    runs = published_runs(study)
    return [*(one.file for one in runs), *(FOLDER / name for name in sorted({one.licence_file for one in runs}))]


def measured_elsewhere(study: Study) -> pd.DataFrame:
    """The runs, and the study's rows beside them as :func:`lib.diagnose.beside.judged` has them: dense search, the best
    standard method, matched dense search and Ahead, where they were measured under the run's condition.

    Returns:
        group (runs over the same questions under one condition, from 1), condition, method (a run's name or a row of
        the study), is_run, is_best (the best standard method), n (questions that the group's runs answer), n_companies,
        each of MEASURES at K over these with ``_low`` and ``_high``, and so with ``_all`` over all questions, where an
        unanswered one counts 0.
    """
    draws, of_runs, beside = Resampling.of(study), {}, {}
    for one in published_runs(study):
        run = judged(study, one.name, read_run(one.file, study.questions, study.filings), None, one.condition, K)
        group = run.condition, *run.questions["question_id"]
        of_runs.setdefault(group, []).append((one.name, Metrics(run.whole.assign(condition="standard"))))
        beside[group] = run.beside
    rows = []
    for place, (group, runs) in enumerate(of_runs.items(), 1):
        condition, *answered = group
        metrics = Metrics(metrics_of(study, condition).assign(condition="standard"))
        for name, of in [*runs, *((name, metrics) for name in dict.fromkeys(("dense", *beside[group])))]:
            about = {"group": place, "condition": condition, "method": name, "is_run": of is not metrics}
            about["is_best"] = name == beside[group][0]
            rows.append(about | _means(draws, {measure: of[name, measure, K] for measure in MEASURES}, answered))
    return pd.DataFrame(rows)


def _means(draws: Resampling, values: Mapping[str, pd.Series], answered: Sequence[str]) -> dict[str, float]:
    """n, n_companies and the means of :func:`measured_elsewhere` of values by question_id."""
    found = {}
    for name, of in values.items():
        mean = draws.interval(of.reindex(answered))
        found |= {"n": mean.n, "n_companies": mean.n_clusters} | columns_of(name, mean)
        found |= columns_of(f"{name}_all", draws.interval(of))
    return found


def labelled_systems(study: Study) -> pd.DataFrame:
    """The systems whose answers people labelled, by what they were given: given, system, n (questions), and each of
    LABELS, shares of all answers, with ``_low`` and ``_high`` (Wilson); without rows where no labels are known."""
    table, rows = or_without_filings(lambda: systems(study), pd.DataFrame(columns=["kind"])), []
    for one in table[table["kind"] == ALL].itertuples():
        model, _, given = one.system.partition("_")
        row = {"given": given, "system": MODELS.get(model, model), "n": one.n}
        for name, share in zip(LABELS, (one.people, 1 - one.people - one.declined, one.declined), strict=True):
            share = round(share * one.n) / one.n  # of whole answers
            row |= columns_of(name, (share, *wilson(share, one.n)))
        rows.append(row)
    if not rows:
        return pd.DataFrame(columns=["given", "system", "n", *LABELS])
    place = {given: place for place, given in enumerate(GIVEN)}
    rows.sort(key=lambda row: (place.get(row["given"], len(GIVEN)), -row["right"]))
    found = pd.DataFrame(rows)
    return found.assign(given=[GIVEN.get(given, given) for given in found["given"]])
