"""What a reader can change in a retrieval pipeline, and what each change gives here: one thing differs in each pair.

The changes are those of ``actions.yaml``. A change that was tried in several forms is represented by the form with the
largest gain, which flatters it; p-values are corrected for all forms of all changes (Holm). A change *pays* where the
interval of its best form's gain is above zero; one whose corrected p is not below 0.05 may yet be luck.
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import yaml

from lib.analysis.frontier import TIMES, known_table
from lib.analysis.ladder import LADDER
from lib.evaluation import read_metrics
from lib.methods import METHODS
from lib.metrics.frame import Metrics
from lib.published import METRICS_FILE
from lib.stats import Resampling, corrected
from lib.study import Study

ACTIONS: list[dict] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
#: Of a change: ``form`` and ``base`` are the titles of the rows with it and without it, ``forms`` how many were tried;
#: page recall of both, the difference with its interval, and seconds per question (NaN where they were not measured).
COLUMNS = ["do", "needs", "form", "base", "forms", "reference_mean", "mean", "low", "high"]
COLUMNS += [
    "difference",
    "difference_low",
    "difference_high",
    "p_holm",
    "base_s",
    "form_s",
    "n",
    "pays",
    "is_sure",
]


def _pairs(action: dict, metrics: Metrics, k: int) -> Iterator[tuple[str, str, pd.Series, pd.Series]]:
    """Names of the forms and bases of a change that were measured, with their page recall by question."""
    for form, base in action.get("rows", {}).items():
        if form in METHODS and base in METHODS:
            values = (metrics[name, "page_recall", k] for name in (form, base))
            yield form, base, *values
    for form, base in action.get("rungs", {}).items():
        names = f"rung_page_recall/{form}", f"rung_page_recall/{base}"
        yield *names, *(metrics["ahead", name, k] for name in names)


def actions(study: Study, k: int = 5) -> pd.DataFrame:
    """COLUMNS of every change that was measured here, those that pay first, by their gain."""
    metrics, draws = Metrics(read_metrics(study.outputs / METRICS_FILE)), Resampling.of(study)
    times, is_measured = known_table(study, TIMES), (metrics.frame["k"] == k).any()
    seconds = {} if times is None else times.set_index("method")["question_s"].to_dict()
    rows = []
    for number, action in enumerate(ACTIONS):
        for form, base, values, without in _pairs(action, metrics, k) if is_measured else ():
            if len(values) and len(without):
                mean, apart = draws.interval(values), draws.difference(values, without)
                found = {"p": draws.p(values, without), "reference_mean": without.mean(), "mean": mean.mean}
                found |= {"low": mean.low, "high": mean.high, "difference": apart.mean, "n": apart.n}
                found |= {"difference_low": apart.low, "difference_high": apart.high, "number": number}
                found |= {"base_s": seconds.get(base), "form_s": seconds.get(form)}
                rows.append(action | {"form": _title(form), "base": _title(base)} | found)
    if not rows:
        return pd.DataFrame(columns=COLUMNS)
    found = corrected(pd.DataFrame(rows))
    found["forms"] = found.groupby("number")["form"].transform("size")
    best = found.sort_values("difference", ascending=False, kind="stable").drop_duplicates("number")
    best["pays"] = best["difference_low"] > 0
    best["is_sure"] = best["pays"] & best["distinguishable"]
    return best.sort_values(["is_sure", "pays"], ascending=False, kind="stable")[COLUMNS].reset_index(
        drop=True
    )


def _title(name: str) -> str:
    rungs = {f"rung_page_recall/{rung.name}": rung.title.removeprefix("+ ") for rung in LADDER}
    return METHODS[name].title if name in METHODS else f"Ladder: {rungs[name]}"
