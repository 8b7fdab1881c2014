"""Recall by kind of question and filing, with n and intervals that a small group cannot fool.

A group is small when it has fewer than MIN_QUESTIONS questions or MIN_COMPANIES companies: it is shown, marked, and
never ranked. A bootstrap over few companies is too narrow (over one it has no width), so a small group's interval
also spans Wilson's score interval over its questions, which is conservative for any values from 0 to 1.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.filings.identity import years_in
from lib.filings.names import names_company
from lib.methods import METHODS
from lib.metrics.frame import Metrics
from lib.schema import IN_WORDS, Condition, NeedsFilings, or_without_filings
from lib.stats import DIFFERENCE, Interval, Resampling, wilson
from lib.study import Study

MIN_QUESTIONS = 10

MIN_COMPANIES = 5

RECALLS = ("doc_recall", "page_recall")

MARK = "°"  # of a small group, in print

COLUMNS = ["group", "entry", "metric", "mean", "low", "high", "n", "n_companies", "is_small"]

NAMED = ("company and year", "company only", "year only", "neither")


class Seen(NamedTuple):
    """A run that a breakdown looks at, and its name in the published figures."""

    name: str
    method: str
    condition: Condition = "standard"

    @property
    def title(self) -> str:
        """The method's title, and the condition where the filing or the pages are given."""
        title = METHODS[self.method].title
        return title if self.condition == "standard" else f"{title}, {IN_WORDS[self.condition]}"

    @property
    def run(self) -> tuple[str, Condition]:
        """The run that it looks at."""
        return self.method, self.condition


def named(study: Study) -> pd.DataFrame:
    """Whether each question names its company and a year: question_id, named (one of NAMED); stored."""
    params = {"questions": study.digest("questions")}
    return study.store.frame("analysis/named", params, lambda: _named(study), 2, public=True)


def _named(study: Study) -> pd.DataFrame:
    asked = study.questions
    if "question" not in asked:
        raise NeedsFilings("what a question names needs its text, which is not on this machine")
    has_company = np.array([*map(names_company, asked["question"], asked["company"])], bool)
    has_year = asked["question"].map(years_in).to_numpy(bool)
    label = np.select([has_company & has_year, has_company, has_year], NAMED[:3], NAMED[3])
    return pd.DataFrame({"question_id": asked["question_id"], "named": label})


def labels_of(study: Study) -> pd.DataFrame:
    """The ``type`` and the ``form`` of each question and, where it is known, what it ``names``, by question_id."""
    labels = study.questions.set_index("question_id")[["question_type", "doc_type"]].set_axis(["type", "form"], axis=1)
    return or_without_filings(lambda: labels.assign(names=named(study).set_index("question_id")["named"]), labels)


def group_interval(draws: Resampling, values: pd.Series) -> tuple[Interval, bool]:
    """The mean of a group's values (from 0 to 1) with its interval, NaN of an empty one, and whether it is small."""
    if values.empty:
        return Interval(np.nan, np.nan, np.nan, 0, 0), True
    found = draws.interval(values)
    if found.n >= MIN_QUESTIONS and found.n_clusters >= MIN_COMPANIES:
        return found, False
    low, high = wilson(found.mean, found.n)
    return found._replace(low=min(low, found.low), high=max(high, found.high)), True


def by_group(
    study: Study, metrics: Metrics, label: pd.Series, seen: Iterable[Seen], k: int, wanted: Sequence[str] = RECALLS
) -> pd.DataFrame:
    """The means of metrics at k by group (``label`` of each question) and run of ``seen``: COLUMNS."""
    draws, rows = Resampling.of(study), []
    for group, one, metric in product(label.value_counts().index, seen, wanted):  # the largest group first
        found, is_small = group_interval(draws, metrics[one.run, metric, k].reindex(label.index[label == group]))
        rows.append((group, one.name, metric, *found, is_small))
    return pd.DataFrame(rows, columns=COLUMNS)


def by_label(study: Study, metrics: Metrics, labels: pd.DataFrame, seen: Sequence[Seen], k: int) -> pd.DataFrame:
    """:func:`by_group` by each column of labels (of :func:`labels_of`), which is named in ``by``."""
    parts = {by: by_group(study, metrics, labels[by], seen, k) for by in labels}
    return pd.concat(parts, names=["by"]).reset_index("by")


def kinds_of_questions(study: Study) -> pd.DataFrame:
    """The groups of each question, indexed by question_id: ``type``, ``form`` of its filing, what it ``names``, and
    its number of ``gold pages``; a group's name begins with its kind, ``form: 10-K``."""
    labels, asked = labels_of(study), study.questions.set_index("question_id")
    labels["gold pages"] = asked["gold_pages"].map(len).gt(1).map({True: "2 or more", False: "1"})
    return labels.apply(lambda kind: kind.name + ": " + kind.astype(str))


def group_gains(
    draws: Resampling, groups: pd.DataFrame, values: pd.Series, reference: pd.Series, labels: pd.DataFrame
) -> pd.DataFrame:
    """Values less their reference within each group that is not small.

    Args:
        groups: the reference's rows of :func:`by_group`, of one metric.
        labels: the groups that each question is in, questions × kinds of groups; Holm's correction is over the groups
            of a kind.

    Returns:
        The groups, their mean named by the metric, with DIFFERENCE, p_holm and verdict, NaN of a small
        group.
    """
    large, parts = {*groups.loc[~groups["is_small"], "group"]}, []
    for kind in labels:
        ids_of = {group: ids for group, ids in labels.groupby(kind).groups.items() if group in large}
        references = {group: reference[ids] for group, ids in ids_of.items()}
        parts.append(draws.compare(references, dict.fromkeys(ids_of, values)))
    found = pd.concat(parts)[[*DIFFERENCE, "p_holm", "verdict"]].rename_axis("group")
    metric = next(iter(groups["metric"]), "mean")
    level = groups.rename(columns={"mean": metric, "low": f"{metric}_low", "high": f"{metric}_high"})
    return level.merge(found.reset_index(), "left", "group")
