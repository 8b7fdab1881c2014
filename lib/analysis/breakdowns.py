"""Recall by kind of question and filing, with n and intervals that a small group cannot fool.

A group is small when it has fewer than MIN_QUESTIONS questions or MIN_COMPANIES companies: it is shown, marked, and
never ranked. A bootstrap over few companies is too narrow (over one it has no width), so a small group's interval
also spans Wilson's score interval over its questions, which is conservative for any values from 0 to 1.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.method import stored
from lib.methods import METHODS, TRAINED
from lib.metrics.frame import Metrics
from lib.retrievers.identity import years_in
from lib.retrievers.names import names_company
from lib.stats import Interval, Resampling, wilson
from lib.study import Study
from lib.words import IN_WORDS, Condition

MIN_QUESTIONS = 10
MIN_COMPANIES = 5
RECALLS = ("doc_recall", "page_recall")
MARK = "°"  # of a small group, in print
COLUMNS = ["group", "entry", "metric", "mean", "low", "high", "n", "n_companies", "is_small"]
DIFFERENCES = "group n difference low high p_holm distinguishable".split()
THIRDS = ("first third", "middle third", "last third")
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


def seen_runs(best_baseline: str, methods: Sequence[str]) -> list[Seen]:
    """The runs that the breakdowns look at: best baseline, TRAINED where they are, oracle document."""
    seen = [Seen("best_baseline", best_baseline)]
    seen += [Seen(name, name) for name in TRAINED if name in methods]
    oracle = "dense" if "dense" in methods else best_baseline
    return [*seen, Seen("oracle_document", oracle, "oracle-document")]


@stored("analysis/named", on=["questions"], version=2, public=True)
def named(study: Study) -> pd.DataFrame:
    """Whether each question names its company and a year: question_id, named (one of NAMED)."""
    asked = study.questions
    has_company = np.array([*map(names_company, asked["question"], asked["company"])], bool)
    has_year = asked["question"].map(years_in).to_numpy(bool)
    label = np.select([has_company & has_year, has_company, has_year], NAMED[:3], NAMED[3])
    return pd.DataFrame({"question_id": asked["question_id"], "named": label})


def labels(study: Study) -> pd.DataFrame:
    """What each question is sorted by, indexed by question_id.

    Returns:
        question_type, doc_type, company; ``n_gold_pages``: 1, or 2 or more; ``depth``: how far into the filing the
        first gold page lies, in thirds of the questions (ordered; equal depths stay together).
    """
    questions = study.questions.set_index("question_id")
    n_pages = questions["doc_name"].map(study.filings.set_index("doc_name")["n_pages"])
    depth = 100 * questions["gold_pages"].map(min) / n_pages
    third = third_of(depth)
    span = depth.groupby(third).agg(["min", "max"])
    between = {n: f"{THIRDS[n]} ({row['min']:.0f} to {row['max']:.0f} %)" for n, row in span.iterrows()}
    return questions[["question_type", "doc_type", "company"]].assign(
        n_gold_pages=np.where(questions["gold_pages"].map(len) > 1, "2 or more", "1"),
        depth=pd.Categorical(third.map(between), list(between.values()), ordered=True),
    )


def third_of(values: pd.Series) -> pd.Series:
    """In which third, from 0, each value lies; equal values together."""
    return (3 * (values.rank() - 0.5) / len(values)).astype(int)


def group_interval(draws: Resampling, values: pd.Series) -> tuple[Interval, bool]:
    """The mean of a group's values (from 0 to 1) with its interval, NaN of an empty one, and whether it is small."""
    if values.empty:
        return Interval(np.nan, np.nan, np.nan, 0, 0), True
    found = draws.interval(values)
    is_small = found.n < MIN_QUESTIONS or found.n_clusters < MIN_COMPANIES
    if not is_small:
        return found, False
    low, high = wilson(found.mean, found.n)
    return found._replace(low=min(low, found.low), high=max(high, found.high)), is_small


def by_group(
    study: Study, metrics: Metrics, label: pd.Series, seen: Iterable[Seen], k: int, wanted: Sequence[str] = RECALLS
) -> pd.DataFrame:
    """The means of metrics at k by group, and by run of ``seen``: COLUMNS.

    ``label`` is each question's group; ordered categories keep their order, others come the largest first.
    """
    columns = [(one.name, metric, metrics[one.run, metric, k]) for one in seen for metric in wanted]
    draws, rows = Resampling.of(study), []
    for group, members in _groups(label):
        for *names, values in columns:
            found, is_small = group_interval(draws, values.reindex(members))
            rows.append((group, *names, *found, is_small))
    return pd.DataFrame(rows, columns=COLUMNS)


def _groups(label: pd.Series) -> Iterator[tuple[str, pd.Index]]:
    is_ordered = isinstance(label.dtype, pd.CategoricalDtype)
    for group in label.cat.categories if is_ordered else label.value_counts(sort=True).index:
        yield group, label.index[label == group]


def differences(study: Study, metrics: Metrics, label: pd.Series, first: Seen, second: Seen, k: int) -> pd.DataFrame:
    """Page recall by group, ``second`` minus ``first``, p corrected for the number of groups, without small groups:
    DIFFERENCES."""
    draws = Resampling.of(study)
    a, b = (metrics[one.run, "page_recall", k] for one in (first, second))
    large = {
        group: a.reindex(members)
        for group, members in _groups(label)
        if len(members) >= MIN_QUESTIONS and draws.company[members].nunique() >= MIN_COMPANIES
    }
    return draws.compare(large, dict.fromkeys(large, b)).rename_axis("group").reset_index()[DIFFERENCES]
