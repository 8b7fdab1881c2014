"""A run from outside beside the study's rows: over the questions that it answers, under the condition of the run."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from lib.analysis.strict_folds import strictest_of
from lib.data.pdf import read_labels
from lib.diagnose.places import Archive, financebench_filings
from lib.diagnose.run_file import OutsideRun
from lib.evaluation import METRIC_COLUMNS, evaluate_given, in_order, read_metrics
from lib.method import memoized
from lib.method_sets import baselines, best_standard, in_comparisons
from lib.metrics.frame import Metrics
from lib.metrics.retrieval import marked
from lib.published import METRICS_FILE
from lib.retrievers.places import texts_of_pages
from lib.schema import CONDITIONS, Condition, StudyError
from lib.study import Study

OF_STUDY = ("doc_recall", "page_recall", "page_hit")  # metrics of the study's rows
#: Rows beside a run after the best standard method: the same search with or without a match.
PLAIN: dict[Condition, str] = {"standard": "dense_records", "oracle-document": "dense"}
AHEAD, K_OF_FOLDS = "ahead", 5  # the depth at which recalls of its strictest folds are published
N_GIVEN = 5  # questions whose passages are all of the gold filing, at least, where the filing was given


class Judged(NamedTuple):
    """A run from outside with what it is compared with.

    Attributes:
        condition: that the run was retrieved under: ``oracle-document`` where each question's filing was given.
        questions: those that the run answers (QUESTION_COLUMNS); run: RUN_COLUMNS.
        whole: METRIC_COLUMNS of the run over all questions of the set, 0 where it has no answer.
        metrics: of the run and of the study's rows under the condition, over ``questions``; all by name alone.
        rows: the study's rows that are compared; beside: those that are shown first, the best standard method first.
    """

    name: str
    condition: Condition
    questions: pd.DataFrame
    run: pd.DataFrame
    whole: pd.DataFrame
    metrics: Metrics
    rows: list[str]
    beside: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the run answers every question of the set."""
        return len(self.questions) == self.whole["question_id"].nunique()


def judged(
    study: Study, name: str, outside: OutsideRun, texts: Mapping[str, str] | None, condition: str, k: int
) -> Judged:
    """A run that was read, beside the study's rows; ``condition`` is given, or empty to be seen from its passages."""
    questions = study.questions[study.questions["question_id"].isin(outside.answered)]
    seen = condition_of(outside.run, questions)
    if condition == "oracle-document" and seen != condition:
        of_gold = marked(outside.run, questions, len(outside.run))["is_right"]
        others = f"{(~of_gold).mean():.0%} of its passages are of other filings than the questions'"
        raise StudyError(f"{name}: condition oracle-document is given, and {others}; leave the condition out")
    condition = condition or seen
    whole = evaluate_given(study, outside.run, name, texts)
    metrics = Metrics(_of_questions([whole, metrics_of(study, condition)], questions))
    rows = [row for row in in_comparisons() if (row, "page_recall", k) in metrics]
    best = [best_standard(metrics.means("page_recall", k))] if {*rows} & {*baselines()} else []
    beside = tuple(dict.fromkeys([*best, *(row for row in (PLAIN[condition], AHEAD) if row in rows)]))
    return Judged(name, condition, questions, outside.run, whole, metrics, rows, beside)


def condition_of(run: pd.DataFrame, questions: pd.DataFrame) -> Condition:
    """``oracle-document`` where every passage of every question is of its gold filing, of several filings in all; else
    ``standard``."""
    of_gold = marked(run, questions, len(run))
    is_given = bool(of_gold["is_right"].all()) and of_gold["question_id"].nunique() >= N_GIVEN
    return "oracle-document" if is_given and of_gold["doc_name"].nunique() > 1 else "standard"


def checked_condition(given: str) -> str:
    """A condition that a run can be diagnosed under, or empty; else a StudyError."""
    if given not in ("", *CONDITIONS[:2]):
        raise StudyError(f"condition is {given!r}; give standard or oracle-document, or leave it out")
    return given


@memoized
def metrics_of(study: Study, condition: Condition) -> pd.DataFrame:
    """METRIC_COLUMNS of the study's rows under a condition, as published or as measured here, over all questions."""
    path, parts = study.outputs / METRICS_FILE, [study.published.metrics] if study.published else []
    if path.is_file():
        here = read_metrics(path)
        parts.append(here[~here["method"].isin(parts[0]["method"].cat.categories)] if parts else here)
    parts = [part[part["metric"].isin(OF_STUDY) & (part["condition"] == condition)] for part in parts]
    if not parts:
        return pd.DataFrame(columns=METRIC_COLUMNS)
    rows = pd.concat([part.astype(dict.fromkeys(METRIC_COLUMNS[:4], object)) for part in parts])
    rows = _with_strictest(study, rows[rows["question_id"].isin(study.questions["question_id"])], condition)
    is_complete = rows.groupby(["method", "metric", "k"])["value"].transform("size") == len(study.questions)
    return in_order(rows[is_complete], study.questions)[METRIC_COLUMNS]


def _with_strictest(study: Study, rows: pd.DataFrame, condition: Condition) -> pd.DataFrame:
    """Metrics in which both recalls of Ahead are those of its strictest folds, the mean over draws, where published."""
    is_published = study.store.published is not None  # else folds might have to be trained
    strict = strictest_of(study, [AHEAD], K_OF_FOLDS) if is_published and condition == CONDITIONS[0] else {}
    if AHEAD in strict:
        rows = rows.copy()
        is_ahead = (rows["method"] == AHEAD) & (rows["k"] == K_OF_FOLDS)
        for metric, values in strict[AHEAD].items():
            is_row = is_ahead & (rows["metric"] == metric)
            rows.loc[is_row, "value"] = rows.loc[is_row, "question_id"].map(values).astype(float)
    return rows


def _of_questions(parts: Sequence[pd.DataFrame], questions: pd.DataFrame) -> pd.DataFrame:
    """Metrics of some questions, one part under the other, as if all were of the standard condition."""
    rows = pd.concat([part for part in parts if len(part)], ignore_index=True)
    return rows[rows["question_id"].isin(questions["question_id"])].assign(condition=CONDITIONS[0])


def archive_of(study: Study) -> Archive:
    """What is known of a study's filings, see :class:`lib.diagnose.places.Archive`."""
    is_financebench = study.dataset.collection == "financebench"
    others = financebench_filings() - {*study.filings["doc_name"]} if is_financebench else frozenset()
    apart = study.dataset.apart.questions[["question_id", "question"]] if study.dataset.apart else pd.DataFrame()
    apart = tuple(apart.to_numpy().ravel())
    if not study.has_text:
        return Archive(others=others)
    names = {*study.filings["doc_name"]}

    def labels(doc_name: str) -> list[str]:
        source = study.dataset.source(doc_name) if doc_name in names else None
        return read_labels(source) if source and source.suffix.lower() == ".pdf" else []

    return Archive(lambda: texts_of_pages(study), labels, frozenset(others), apart)
