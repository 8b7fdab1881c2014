"""What runs from outside find and lose, beside the study's rows: measured by the study's own functions, and stored."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from lib.analysis.breakdowns import Seen, by_group
from lib.analysis.climb import CLIMB
from lib.analysis.climb import K as K_OF_STEPS
from lib.analysis.failures import pages_missed, typology
from lib.answers.answers import best_baseline
from lib.data.locate import financebench_root
from lib.diagnose import page
from lib.diagnose.run_file import OutsideRun, read_run
from lib.diagnose.stored import store_run
from lib.evaluation import METRIC_COLUMNS, chunk_texts, evaluate_given, in_order, read_metrics, summarise
from lib.method_sets import baselines, in_comparisons
from lib.methods import METHODS
from lib.metrics.frame import Metrics
from lib.published import METRICS_FILE, Published
from lib.retrievers.tables import texts_of_pages
from lib.schema import StudyError
from lib.stats import Resampling, columns_of
from lib.studies import open_study
from lib.study import Study

BESIDE = ("dense_records", "ahead")  # and the best baseline
OF_STUDY = ("doc_recall", "page_recall", "page_hit")  # metrics of the study's rows
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
GROUPS = ("question_type", "doc_type")
NO_TEXT = "The filings are not here: BLEU, ROUGE-L and kinds of failures that depend on text are left out."
PAIRED = "n mean reference_mean difference low high p p_holm".split()


@dataclass(frozen=True)
class Diagnosis:
    """Runs from outside on one question set. Recalls and shares are from 0 to 1, means over questions; ``_low`` and
    ``_high`` are ends of 95 % intervals (companies resampled); ``method`` is a run's name or a row of the study.

    Attributes:
        study: what it was measured on; k: how many passages of a question are read.
        runs, beside: names of the runs, and of the study's rows they are compared with first.
        notes: how each run was read, by name, a sentence each.
        metrics: of the runs at every depth: method, condition, metric, k, mean, low, high, n (questions), n_companies.
        decomposition: method, and with their ends ``found``, ``page`` (lost on another page of the right filing) and
            ``document`` (lost with the filing), which add to 1; of runs and ``beside``.
        failures: method, kind of missed gold page, step that lost it, says (the rule), n (missed pages), examples
            (question ids).
        by_type: by (question_type, doc_type), group, method, metric, mean, low, high, n, n_companies, is_small.
        paired: run, method (what it is compared with), n, mean (page recall of the run), reference_mean, difference,
            low, high, p (randomisation test), p_holm (Holm's), family: ``beside``, or ``others``, within which p is
            corrected.
        alone: run, question_id, outcome: ``found``, a gold page of the question is found by the run and by none of
            ``beside``, or ``missed``, by the run alone; n_rows: how many rows of the study find one, of_rows.
        actions: run, do, needs, method, k, page_recall of a step of the study, difference (step less run) with its
            ends, of_document and of_page: the share of gold pages that the run loses so and the step finds.
    """

    study: Study
    k: int
    runs: tuple[str, ...]
    beside: tuple[str, ...]
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
    pages_from: int = 0,
    k: int = 5,
) -> Diagnosis:
    """Measure runs by name, and store them for the leaderboard and the explorer, see :mod:`lib.diagnose.stored`.

    Without filings what is published of the set is used. Rows of the study that were not measured are left out.

    Args:
        runs: name to a file or a frame, see :func:`lib.diagnose.run_file.read_run`; so is ``pages_from``.
        dataset, questions, profile: see :func:`lib.studies.open_study`.
        k: how many passages of a question are read; one of the profile's depths.

    Raises:
        StudyError: a run, a name or the set cannot be used.
    """
    if dataset == "financebench" and not financebench_root() and Published.of(dataset, profile):
        dataset = ""  # as it is published, rather than downloaded
    messages: list[str] = []
    study = open_study(dataset, profile, chapter="diagnose", questions=questions, say=messages.append, k=k)
    return diagnosis_of(study, runs, pages_from, k, messages if study.has_text else [NO_TEXT])


def diagnosis_of(
    study: Study, runs: Mapping[str, Path | pd.DataFrame], pages_from: int = 0, k: int = 5, notes: Sequence[str] = ()
) -> Diagnosis:
    """:func:`diagnose` on a study that is open; ``notes`` are added to those of every run."""
    for name in runs:
        if name in METHODS or not NAME.fullmatch(name):
            why = "is a row of the study" if name in METHODS else "cannot be a file's name"
            raise StudyError(f"a run is named {name!r}, which {why}; use other letters, digits, '_', '-' and '.'")
    if not runs:
        raise StudyError("no run is given; give one or more by name")
    draws, page_texts = Resampling.of(study), texts_of_pages(study) if study.has_text else {}
    parts, failures, notes_of = [], [], {}
    for name, source in runs.items():
        outside = read_run(source, study.questions, study.filings, pages_from, max(study.profile.metrics.ks))
        notes_of[name] = [*outside.notes, *notes]
        parts.append(evaluate_given(study, outside.run, name, _texts(study, outside, notes_of[name])))
        store_run(study, name, outside.run, parts[-1])
        missed = pages_missed(outside.run, study.questions, study.filings, k, page_texts)
        examples = missed.groupby("kind")["question_id"].agg(lambda ids: list(dict.fromkeys(ids)))
        kinds = typology({"n": missed}).assign(method=name)
        kinds["examples"] = [examples.get(kind, []) for kind in kinds["kind"]]
        failures.append(kinds[["method", "kind", "step", "says", "n", "examples"]])
    of_runs = pd.concat(parts, ignore_index=True)
    metrics = Metrics(pd.concat([part for part in (of_runs, study_metrics(study)) if len(part)]))
    rows = [name for name in in_comparisons() if (name, "page_recall", k) in metrics]
    best = [best_baseline(metrics, k)] if {*rows} & {*baselines()} else []
    beside = tuple(dict.fromkeys([*best, *(name for name in BESIDE if name in rows)]))
    names, questions = [*runs, *beside], study.questions.set_index("question_id")
    seen = [Seen(name, name) for name in names]
    groups = [by_group(study, metrics, questions[by], seen, k).assign(by=by) for by in GROUPS]
    return Diagnosis(
        study=study, k=k, runs=tuple(runs), beside=beside, notes=notes_of,
        metrics=summarise(of_runs, draws),
        decomposition=pd.DataFrame([_decomposed(draws, metrics, name, k) for name in names]),
        failures=pd.concat(failures, ignore_index=True),
        by_type=pd.concat(groups, ignore_index=True).rename(columns={"entry": "method"}),
        paired=pd.concat([_paired(draws, metrics, name, names, rows, k) for name in runs], ignore_index=True),
        alone=pd.concat([_alone(metrics, name, beside, rows, k) for name in runs], ignore_index=True),
        actions=pd.concat([_actions(draws, metrics, name, k) for name in runs], ignore_index=True),
    )  # fmt: skip


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


def study_metrics(study: Study) -> pd.DataFrame:
    """METRIC_COLUMNS of the study's rows over all filings, as published or as measured here."""
    path, parts = study.outputs / METRICS_FILE, [study.published.metrics] if study.published else []
    if path.is_file():
        here = read_metrics(path)
        parts.append(here[~here["method"].isin(parts[0]["method"].cat.categories)] if parts else here)
    parts = [part[part["metric"].isin(OF_STUDY) & (part["condition"] == "standard")] for part in parts]
    if not parts:
        return pd.DataFrame(columns=METRIC_COLUMNS)
    rows = pd.concat([part.astype(dict.fromkeys(METRIC_COLUMNS[:4], object)) for part in parts])
    rows = rows[rows["question_id"].isin(study.questions["question_id"])]
    is_complete = rows.groupby(["method", "metric", "k"])["value"].transform("size") == len(study.questions)
    return in_order(rows[is_complete], study.questions)[METRIC_COLUMNS]


def _decomposed(draws: Resampling, metrics: Metrics, name: str, k: int) -> dict[str, object]:
    docs, pages = (metrics[name, metric, k] for metric in ("doc_recall", "page_recall"))
    parts = {"found": pages, "page": docs - pages, "document": 1 - docs}
    cells = [columns_of(part, draws.interval(values)) for part, values in parts.items()]
    return {"method": name} | cells[0] | cells[1] | cells[2]


def _paired(draws: Resampling, metrics: Metrics, name: str, names: list[str], rows: list[str], k: int) -> pd.DataFrame:
    """The run compared with each other run and row, see :class:`Diagnosis`."""
    own, first = metrics[name, "page_recall", k], [other for other in names if other != name]
    parts = []
    for family, others in (("beside", first), ("others", [row for row in rows if row not in first])):
        values = {other: metrics[other, "page_recall", k].reindex(own.index) for other in others}
        if values:
            table = draws.compare(values, dict.fromkeys(values, own))[PAIRED].reset_index()
            parts.append(table.assign(run=name, family=family))
    columns = ["run", "method", *PAIRED, "family"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def _alone(metrics: Metrics, name: str, beside: tuple[str, ...], rows: list[str], k: int) -> pd.DataFrame:
    """The questions that the run alone finds or misses, compared with ``beside``; none where that is empty."""
    is_found = metrics[name, "page_hit", k] > 0
    is_found_by = pd.DataFrame({row: metrics[row, "page_hit", k] > 0 for row in rows}, is_found.index)
    others = is_found_by[[*beside]]
    table = pd.DataFrame({"run": name, "outcome": "", "n_rows": is_found_by.sum(axis=1), "of_rows": len(rows)})
    if beside:
        table.loc[is_found & ~others.any(axis=1), "outcome"] = "found"
        table.loc[~is_found & others.all(axis=1), "outcome"] = "missed"
    table = table[table["outcome"] != ""].rename_axis("question_id").reset_index()
    return table.sort_values(["outcome", "n_rows"], kind="stable", ignore_index=True)


def _actions(draws: Resampling, metrics: Metrics, name: str, k: int) -> pd.DataFrame:
    """The steps of the study's pipeline beside the run."""
    rows = []
    docs, pages = (metrics[name, metric, k] for metric in ("doc_recall", "page_recall"))
    for step in CLIMB:
        step = step._replace(k=k) if step.k == K_OF_STEPS else step
        if (step.method, "page_recall", step.k) in metrics and step.k >= k:
            found = metrics[step.method, "page_recall", step.k].reindex(pages.index)
            apart = columns_of("difference", draws.difference(found, pages))
            gained = (found - pages).clip(lower=0)
            shares = {"of_document": ((1 - docs) * gained).mean(), "of_page": (docs * gained).mean()}
            about = {"run": name, "do": step.do, "needs": step.needs, "method": step.method, "k": step.k}
            rows.append(about | {"page_recall": found.mean()} | apart | shares)
    return pd.DataFrame(rows, columns=None if rows else ["run", "difference_low"])
