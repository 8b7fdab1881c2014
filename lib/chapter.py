"""What a chapter stands on: a study with the values of its metrics, their statistics, and what cells show of them."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import pandas as pd
from IPython import get_ipython

from lib import stats
from lib.analysis import encoders, measured
from lib.evaluation import evaluate, summarise
from lib.files import ROOT
from lib.method_sets import baselines, chosen, compared, of_family
from lib.methods import METHODS
from lib.metrics import METRICS
from lib.metrics.frame import Metrics, Run, best
from lib.other_sets import over_same_filings, unseen_study, with_text
from lib.schema import CONDITIONS, Condition, StudyError
from lib.show import output
from lib.show.display import Shown
from lib.stats import Resampling
from lib.studies import open_study
from lib.study import Study


def open_chapter(dataset: str, profile: str, results: str, chapter: str, **given: object) -> "Chapter":
    """The study of a chapter, as :func:`lib.studies.open_study`, which has the arguments and errors, opens it."""
    study = Chapter.of(open_study(dataset, profile, results, chapter, **given))
    print(f"Tables and figures of this chapter: {os.path.relpath(study.outputs, ROOT)}")
    return study


class Chapter(Study):
    """A study as a chapter uses it.

    ``values`` are a frame of questions × methods, indexed by ``question_id``: a reader's own method is one more column.
    """

    @classmethod
    def of(cls, study: Study) -> Self:
        """The same study, for a chapter."""
        chapter = cls.__new__(cls)
        chapter.__dict__.update(study.__dict__)
        return chapter

    def with_text(self) -> Self:
        """This study where its filings are on this machine, else the demo, whose texts may be shown."""
        return self if self.has_text else self.of(with_text(self))

    def with_better_encoder(self) -> Self | None:
        """These questions with the better encoder, as published; None where they are not."""
        pair = encoders.pairs(self).get(self.dataset.name)
        return self.of(pair[1]) if pair else None

    def sets(self, second: str) -> dict[str, Self]:
        """This study, the dataset's own questions and a second set by name, those over the same filings that are here
        or published: :func:`lib.other_sets.over_same_filings`."""
        found = over_same_filings(self, ("", second))
        return {name: self if one is self else self.of(one) for name, one in found.items()}

    def unseen(self) -> Self:
        """The questions about unseen companies under this profile, see :func:`lib.other_sets.unseen_study`."""
        return self.of(unseen_study(self))

    @property
    def draws(self) -> Resampling:
        """Draws of whole companies, for intervals and tests."""
        return self.memo("draws", lambda: Resampling.of(self))

    def compared(self) -> list[str]:
        """All methods that the profile runs over all filings and that are compared with one another."""
        return [name for name, condition in compared(self.profile) if condition == "standard"]

    def own(self, methods: Sequence[str] | None = None) -> list[str]:
        """The methods that are asked for, by default the study's own that the profile runs, trained ones too."""
        return chosen(methods, [name for name in of_family() if name in self.compared()])

    def baselines(self, methods: Sequence[str] | None = None) -> list[str]:
        """The methods that are asked for, by default those that nothing is trained for."""
        return chosen(methods, [name for name in self.compared() if name in baselines()])

    def untrained(self, methods: Sequence[str]) -> list[str]:
        """Those of the methods that nothing is trained for; all of them where each is trained."""
        return [name for name in methods if name in baselines()] or [*methods]

    def variants(self, methods: Sequence[str], family: str = "matched") -> dict[str, str]:
        """The rows of a family that change one thing in one of the methods: name → the method that it changes."""
        rows = {name: METHODS[name].changes for name in of_family(family) if name in self.compared()}
        return {name: changed for name, changed in rows.items() if changed in methods}

    def metrics(self, method: str, condition: Condition = "standard") -> Metrics:
        """All metrics of one run, by question."""
        key = "metrics of", self.run_entry(method, condition).key
        return self.memo(key, lambda: Metrics(evaluate(self, method, condition)))

    def values(
        self, metric: str, methods: Iterable[Run], k: int | None, condition: Condition = "standard"
    ) -> pd.DataFrame:
        """A metric of several methods, or of runs (method, condition): questions × methods; NaN where a metric is not
        measured for these questions.

        A StudyError names a metric or a method that there is not.
        """
        if metric not in METRICS:
            raise StudyError(f"unknown metric {metric!r}; choose from {', '.join(METRICS)}")
        runs = {run: (run, condition) if isinstance(run, str) else run for run in methods}
        found = {name: self.metrics(*run)[run, metric, k] for name, run in runs.items()}
        return pd.DataFrame(found).reindex(self.questions["question_id"])

    def means(self, values: pd.DataFrame) -> pd.DataFrame:
        """Mean of each column of values (questions × methods) with its interval over companies: mean, low, high, n."""
        return stats.means(values, self.draws)

    def compare(self, values: pd.DataFrame, reference: pd.Series | pd.DataFrame) -> pd.DataFrame:
        """Each column of values (questions × methods) less a reference, question by question.

        ``reference`` is one column, which is itself left out, or a frame with a column for each. Returns difference
        with its interval over companies, p, p corrected over the columns (Holm), verdict: :func:`lib.stats.compare`.
        """
        return stats.compare(values, reference, self.draws)

    def nested_choice(self, values: pd.DataFrame) -> float:
        """The mean of the best column that other companies' questions choose, see :func:`lib.stats.nested_choice`."""
        return stats.nested_choice(values[sorted(values)], self.questions["company"])

    def best(self, values: pd.DataFrame) -> str:
        """The column with the highest mean; ties go to the first name."""
        return best(values.mean())

    def gains(
        self, metric: str, pairs: Mapping[str, str], k: int | None, ids: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Each method of ``pairs`` less the one that it is mapped to, as :meth:`compare`, over the questions ``ids``,
        by default all."""
        values = self.values(metric, [*dict.fromkeys([*pairs, *pairs.values()])], k)
        return stats.gains(values if ids is None else values.loc[ids], pairs, self.draws)

    def summary(
        self, metrics: Sequence[str], methods: Sequence[str], k: int, conditions: Sequence[Condition] = CONDITIONS[:1]
    ) -> pd.DataFrame:
        """Means of several metrics with their intervals, a row for each run and metric: SUMMARY_COLUMNS."""
        frames = [self.metrics(name, given).at_depth(k, metrics) for given in conditions for name in methods]
        return summarise(pd.concat(frames, ignore_index=True), self.draws)

    def curve(self, metrics: Sequence[str], methods: Sequence[str]) -> pd.DataFrame:
        """Means over all filings by the number of chunks read: method, metric, k, mean, low and high."""
        frames = [self.metrics(name).frame for name in methods]
        wanted = pd.concat([frame[frame["metric"].isin(metrics)] for frame in frames])
        found = summarise(wanted, self.draws)[["method", "metric", "k", "mean", "low", "high"]]
        return found.sort_values(["method", "metric", "k"], ignore_index=True)

    def times(self, methods: Sequence[str]) -> pd.DataFrame:
        """Seconds and tokens per question of the methods that were timed (lib.analysis.measured.TIME_COLUMNS)."""
        timed = measured.times(self)
        return timed[timed["method"].isin(methods)].set_index("method")

    def levels(self, metrics: Sequence[str], methods: Iterable[str], k: int | None) -> pd.DataFrame:
        """Means of several metrics with their intervals, a row per method: for each metric its name and the same with
        ``_low`` and ``_high``."""
        found = {metric: self.means(self.values(metric, methods, k))[["mean", "low", "high"]] for metric in metrics}
        heads = {metric: [metric, f"{metric}_low", f"{metric}_high"] for metric in metrics}
        return pd.concat([level.set_axis(heads[metric], axis=1) for metric, level in found.items()], axis=1)

    def show(self, thing, name: str, caption: str = "", takeaway: str = "", /, **given: object) -> Shown:
        """A numbered table or figure of a frame or a figure, with its data as CSV: see :func:`lib.show.output.show`.

        ``columns``: what a table prints, by headings; ``data``: what the CSV has; ``empty``: the sentence in place of
        no rows; other arguments: values of the placeholders of caption and takeaway.
        """
        self._check_parameters()
        return output.show(self, thing, name, caption, takeaway, **given)

    def say(self, text: str, /, **values: object) -> Shown:
        """A paragraph with computed values in its placeholders, ``{name}`` or ``{name:format}``."""
        self._check_parameters()
        return output.say(self, text, **values)

    def _check_parameters(self) -> None:
        """Refuse to show with a parameter of the notebook that is not the study's: captions would state the old one."""
        notebook = shell.user_ns if (shell := get_ipython()) else {}
        for name, value in (self.names._asdict() | dict(self.parameters)).items():
            if name in notebook and notebook[name] != value:
                fix = "run the cell that opens the study again, and those behind it"
                raise StudyError(f"{name} is {notebook[name]!r}, but the study was opened with {value!r}: {fix}")
