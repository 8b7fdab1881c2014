"""What runs from outside find and lose, beside the study's rows: measured by the study's own functions, and stored."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from lib.analysis.breakdowns import Seen, by_group
from lib.analysis.failures import pages_missed, typology
from lib.data.locate import financebench_root
from lib.diagnose import page
from lib.diagnose.advice import actions
from lib.diagnose.beside import Judged, archive_of, checked_condition, judged
from lib.diagnose.run_file import OutsideRun, read_run
from lib.diagnose.stored import store_run
from lib.evaluation import chunk_texts, summarise
from lib.methods import METHODS
from lib.metrics.frame import Metrics
from lib.metrics.losses import losses_of
from lib.published import Published
from lib.retrievers.places import texts_of_pages
from lib.schema import IN_WORDS, StudyError
from lib.stats import DIFFERENCE, Resampling, columns_of
from lib.studies import open_study
from lib.study import Study

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
GROUPS = ("question_type", "doc_type")
NO_TEXT = "The filings are not here: BLEU, ROUGE-L and kinds of failures that depend on text are left out."
GIVEN = "Every passage is of the filing that its question is about"
PAIRED = ["n", "mean", "reference_mean", *DIFFERENCE, "p", "p_holm", "verdict"]


@dataclass(frozen=True)
class Diagnosis:
    """Runs from outside on one question set. Recalls and shares are from 0 to 1, means over the questions that the run
    answers; ``_low`` and ``_high`` are ends of 95 % intervals (companies resampled); ``method`` is a run's name or a
    row of the study, over the same questions and under the run's condition.

    Attributes:
        study: what it was measured on; k: how many passages of a question are read.
        runs: names of the runs; judged: each with its questions, condition and rows beside it.
        notes: how each run was read, by name, a sentence each.
        metrics: of the runs at every depth: method, condition, metric, k, mean, low, high, n (questions), n_companies,
            over (``answered`` questions, or ``all`` of the set, where an unanswered one scores 0).
        decomposition: run, method, and with their ends ``found``, ``page`` (page not retrieved) and ``document``
            (filing not retrieved), which add to 1; of each run and the rows beside it.
        failures: method, kind of missed gold page, step that lost it, says (the rule), n (missed pages), examples
            (question ids).
        by_type: run, by (question_type, doc_type), group, method, metric, mean, low, high, n, n_companies, is_small.
        paired: run, method (what it is compared with), the columns of :data:`lib.stats.COMPARED` without the interval
            of the run's mean, family: ``beside``, or ``others``, within which p is corrected. Runs of one condition are
            compared over the questions that both answer.
        alone: run, question_id, outcome: ``found``, a gold page of the question is found by the run and by none of
            the rows beside it, or ``missed``, by the run alone; n_rows: how many rows of the study find one, of_rows.
        actions: see :func:`lib.diagnose.advice.actions`.
    """

    study: Study
    k: int
    runs: tuple[str, ...]
    judged: tuple[Judged, ...]
    notes: dict[str, list[str]]
    metrics: pd.DataFrame
    decomposition: pd.DataFrame
    failures: pd.DataFrame
    by_type: pd.DataFrame
    paired: pd.DataFrame
    alone: pd.DataFrame
    actions: pd.DataFrame

    def to_html(self) -> str:
        """A page of its own, complete without other files."""
        return page.html_of(self)

    def to_text(self, width: int = 100) -> str:
        """The same for a terminal of so many columns."""
        return page.text_of(self, width)


def diagnose(
    runs: Mapping[str, Path | pd.DataFrame],
    dataset: str = "",
    questions: str = "",
    profile: str = "default",
    pages_from: int | None = None,
    k: int = 5,
    condition: str = "",
) -> Diagnosis:
    """Measure runs by name, and store them for the leaderboard and the explorer, see :mod:`lib.diagnose.stored`.

    Without filings what is published of the set is used. Rows of the study that were not measured are left out.

    Args:
        runs: name to a file or a frame, see :func:`lib.diagnose.run_file.read_run`; so is ``pages_from``.
        dataset, questions, profile: see :func:`lib.studies.open_study`.
        k: how many passages of a question are read; one of the profile's depths.
        condition: ``standard`` or ``oracle-document``, that the runs were retrieved under; empty to see it from them.

    Raises:
        StudyError: a run, a name or the set cannot be used.
    """
    if dataset == "financebench" and not financebench_root() and Published.of(dataset, profile):
        dataset = ""  # as it is published, rather than downloaded
    messages: list[str] = []
    study = open_study(dataset, profile, chapter="diagnose", questions=questions, say=messages.append, k=k)
    return diagnosis_of(study, runs, pages_from, k, messages if study.has_text else [NO_TEXT], condition)


def diagnosis_of(
    study: Study,
    runs: Mapping[str, Path | pd.DataFrame],
    pages_from: int | None = None,
    k: int = 5,
    notes: Sequence[str] = (),
    condition: str = "",
) -> Diagnosis:
    """:func:`diagnose` on a study that is open; ``notes`` are added to those of every run."""
    for name in runs:
        if name in METHODS or not NAME.fullmatch(name):
            why = "is a row of the study" if name in METHODS else "cannot be a file's name"
            raise StudyError(f"a run is named {name!r}, which {why}; use other letters, digits, '_', '-' and '.'")
    if not runs:
        raise StudyError("no run is given; give one or more by name")
    condition, draws, archive = checked_condition(condition), Resampling.of(study), archive_of(study)
    found, notes_of = [], {}
    for name, source in runs.items():
        depth = max(study.profile.metrics.ks)
        outside = read_run(source, study.questions, study.filings, pages_from, depth, archive)
        notes_of[name] = [*outside.notes, *notes]
        found.append(judged(study, name, outside, _texts(study, outside, notes_of[name]), condition, k))
        if found[-1].condition != "standard":
            notes_of[name].insert(1, _given(condition))
    for one in found:  # once all of them could be read
        store_run(study, one)
    parts = {
        "metrics": [_summarised(one, draws) for one in found],
        "decomposition": [_decomposition(one, draws, k) for one in found],
        "failures": [_failures(study, one, k) for one in found],
        "by_type": [_by_type(study, one, k) for one in found],
        "paired": [_paired(one, found, draws, k) for one in found],
        "alone": [_alone(one, k) for one in found],
        "actions": [actions(study, one, draws, k) for one in found],
    }
    tables = {part: _under_each_other(frames) for part, frames in parts.items()}
    return Diagnosis(study=study, k=k, runs=tuple(runs), judged=tuple(found), notes=notes_of, **tables)


def _given(condition: str) -> str:
    rows = f"it is compared with rows of the study under the condition {IN_WORDS['oracle-document']!r}"
    otherwise = "if all filings were searched, add --condition standard (CONDITION=standard)"
    return f"As the setting says, {rows}." if condition else f"{GIVEN}: {rows}; {otherwise}."


def _under_each_other(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([one for one in frames if len(one)] or frames[:1], ignore_index=True)


def _texts(study: Study, outside: OutsideRun, notes: list[str]) -> Mapping[str, str] | None:
    """The texts of a run's passages by chunk_id: its own, or those of the study's chunks where it names these; else
    None."""
    if "evidence" in study.dataset.lacks or not study.has_text:
        return None
    if outside.texts:
        return outside.texts
    texts = chunk_texts(study)
    if outside.run["chunk_id"].isin(texts).all():
        notes.append("Every docno is the id of a chunk of this study, whose text is compared with the evidence.")
        return texts
    notes.append("Not all first passages have a text, so none is compared with the evidence (BLEU, ROUGE-L).")
    return None


def _summarised(one: Judged, draws: Resampling) -> pd.DataFrame:
    """Means of a run over the questions that it answers, and over all where these are more."""
    answered = one.whole[one.whole["question_id"].isin(one.questions["question_id"])]
    parts = [summarise(answered, draws).assign(over="answered")]
    parts += [] if one.is_whole else [summarise(one.whole, draws).assign(over="all")]
    return pd.concat(parts, ignore_index=True).assign(condition=one.condition)


def _decomposition(one: Judged, draws: Resampling, k: int) -> pd.DataFrame:
    rows = []
    for name in (one.name, *one.beside):
        parts = losses_of(one.metrics, name, k)
        cells = [columns_of(part, draws.interval(values)) for part, values in parts.items()]
        rows.append({"run": one.name, "method": name} | cells[0] | cells[1] | cells[2])
    return pd.DataFrame(rows)


def _failures(study: Study, one: Judged, k: int) -> pd.DataFrame:
    texts = texts_of_pages(study) if study.has_text else {}
    missed = pages_missed(one.run, one.questions, study.filings, k, texts)
    examples = missed.groupby("kind")["question_id"].agg(lambda ids: list(dict.fromkeys(ids)))
    kinds = typology({"n": missed}).assign(method=one.name)
    kinds["examples"] = [examples.get(kind, []) for kind in kinds["kind"]]
    return kinds[["method", "kind", "step", "says", "n", "examples"]]


def _by_type(study: Study, one: Judged, k: int) -> pd.DataFrame:
    labels, seen = one.questions.set_index("question_id"), [Seen(name, name) for name in (one.name, *one.beside)]
    groups = [by_group(study, one.metrics, labels[by], seen, k).assign(by=by) for by in GROUPS]
    return pd.concat(groups, ignore_index=True).rename(columns={"entry": "method"}).assign(run=one.name)


def _paired(one: Judged, found: Sequence[Judged], draws: Resampling, k: int) -> pd.DataFrame:
    """The run compared with each other run and row, see :class:`Diagnosis`."""
    own = one.metrics[one.name, "page_recall", k]
    runs = {
        other.name: other.metrics[other.name, "page_recall", k]
        for other in found
        if other is not one and other.condition == one.condition
    }
    runs = {name: values[values.index.isin(own.index)] for name, values in runs.items()}
    rows = {row: one.metrics[row, "page_recall", k] for row in one.rows}
    first = {name: values for name, values in runs.items() if len(values)} | {row: rows.pop(row) for row in one.beside}
    parts = []
    for family, values in (("beside", first), ("others", rows)):
        if values:
            reference = {name: of.reindex(own.index[own.index.isin(of.index)]) for name, of in values.items()}
            table = draws.compare(reference, {name: own.reindex(of.index) for name, of in reference.items()})
            parts.append(table[PAIRED].reset_index().assign(run=one.name, family=family))
    columns = ["run", "method", *PAIRED, "family"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def _alone(one: Judged, k: int) -> pd.DataFrame:
    """The questions that the run alone finds or misses, compared with the rows beside it; none without such."""
    metrics: Metrics = one.metrics
    is_found = metrics[one.name, "page_hit", k] > 0
    is_found_by = pd.DataFrame({row: metrics[row, "page_hit", k] > 0 for row in one.rows}, is_found.index)
    others = is_found_by[[*one.beside]]
    table = pd.DataFrame({"run": one.name, "outcome": "", "n_rows": is_found_by.sum(axis=1), "of_rows": len(one.rows)})
    if one.beside:
        table.loc[is_found & ~others.any(axis=1), "outcome"] = "found"
        table.loc[~is_found & others.all(axis=1), "outcome"] = "missed"
    table = table[table["outcome"] != ""].rename_axis("question_id").reset_index()
    return table.sort_values(["outcome", "n_rows"], kind="stable", ignore_index=True)
