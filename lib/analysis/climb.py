"""The changes of a pipeline in the order in which they pay, each beside the one before it."""

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from lib.analysis.families import corrected, page_recalls
from lib.analysis.measured import times
from lib.evaluation import evaluate_all, in_order
from lib.method_sets import over_all_filings
from lib.metrics.frame import Metrics
from lib.other_sets import unseen_beside
from lib.schema import K
from lib.stats import DIFFERENCE, Resampling, compare, means
from lib.study import Study


class Step(NamedTuple):
    """A change of a pipeline, beside the step before it: what to do, what that needs, and the row that measures it."""

    do: str
    needs: str
    method: str
    k: int = K


CLIMB = (
    Step("Begin: search chunks by embeddings", "an encoder", "dense"),
    Step(
        "Match the company, year and form in the question with the filings' metadata; search what fits first",
        "metadata of the filings",
        "dense_records",
    ),
    Step(
        "Rank their pages by words, identity, row labels and statements together (Ahead)",
        "labelled questions about other companies",
        "ahead_general",
    ),
    Step("Add hand-written kinds of pages to it", "a list of line items for each kind of page", "ahead"),
    Step("Read 20 chunks instead of 5", "four times the tokens per question", "ahead", 20),
)
NO_FOLDS: Mapping[str, pd.DataFrame] = MappingProxyType({})
UNSEEN_COLUMNS = "unseen unseen_low unseen_high unseen_difference unseen_difference_low unseen_difference_high".split()
UNSEEN_COLUMNS += ["unseen_verdict"]


def beside_the_one_before(recall: pd.DataFrame, draws: Resampling) -> pd.DataFrame:
    """The columns of a frame questions × steps: mean, low, high and n of each, and but for the first the difference
    from the step before with its interval (DIFFERENCE), p, p_holm and verdict, as :func:`lib.stats.compare`."""
    gains = compare(recall.iloc[:, 1:], recall.shift(axis=1), draws)
    return means(recall, draws).join(gains[[*DIFFERENCE, "p", "p_holm", "verdict"]])


def climb(
    study: Study,
    rows: pd.DataFrame,
    strict: Mapping[str, pd.DataFrame] = NO_FOLDS,
    deeper: Mapping[int, Mapping[str, pd.DataFrame]] = MappingProxyType({}),
    rungs: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """The steps of CLIMB that were measured, each beside the one before it: do, needs, method, k, page and document
    recall, the difference with its interval, and ``page_recall_pooled`` and ``question_s`` where they are known.

    ``rows`` are METRIC_COLUMNS; ``strict`` both recalls at K by question of trained rows, in place of those of their
    runs, and ``deeper`` the same at other depths; ``rungs`` page recall at K of the steps of Ahead. A step has the p of
    its family (:mod:`lib.analysis.families`); to read more chunks is not tested, as it cannot lose.
    """
    wanted = rows["metric"].str.contains("doc_recall|page_recall")
    metrics = Metrics(in_order(rows[wanted], study.questions))  # p-values depend on the order
    steps = [one for one in CLIMB if (one.method, "page_recall", one.k) in metrics]
    found, draws = pd.DataFrame(steps, columns=Step._fields), Resampling.of(study)
    if len(steps) < 2:
        return found

    def recall_of(step: Step, metric: str) -> pd.Series:
        folds = strict if step.k == K else deeper.get(step.k, {})
        return folds[step.method][metric] if step.method in folds else metrics[step.method, metric, step.k]

    pages, docs = (
        pd.DataFrame({step.do: recall_of(step, metric) for step in steps}) for metric in ("page_recall", "doc_recall")
    )
    levels = beside_the_one_before(pages, draws)[["n", "mean", "low", "high", *DIFFERENCE]]
    levels = levels.set_axis(["n", "page_recall", "page_recall_low", "page_recall_high", *DIFFERENCE], axis=1)
    found = found.join(levels.reset_index(drop=True)).assign(doc_recall=docs.mean().array)
    values = page_recalls(metrics, K)
    values = values if rungs is None else values.join(rungs)
    values = values.assign(**{name: recalls["page_recall"] for name, recalls in strict.items()})
    names = [step.method for step in steps]
    contrasts = [(form, base) for base, form in pairwise(names)]
    tested = [pair for pair, step in zip(contrasts, steps[1:], strict=True) if step.k == K]
    p_holm = corrected(draws, values, tested)
    found["p_holm"] = [float("nan"), *(p_holm.get(pair, float("nan")) for pair in contrasts)]
    if all((one.method, "page_recall_pooled", one.k) in metrics for one in steps):
        found["page_recall_pooled"] = [metrics[one.method, "page_recall_pooled", one.k].mean() for one in steps]
    found["question_s"] = found["method"].map(times(study).set_index("method")["question_s"]).astype(float)
    return found


def climb_unseen(study: Study, steps: pd.DataFrame) -> pd.DataFrame:
    """What the ``method`` and ``k`` of each step find of unseen companies, a row a step (UNSEEN_COLUMNS): page recall,
    the difference from the step before, and the verdict, p corrected over the steps; no columns where that is neither
    published nor can be measured here."""
    other = unseen_beside(study)
    here = {*over_all_filings(other.profile)} if other else set()
    if other is None or not here >= {*steps["method"]}:
        return pd.DataFrame(index=steps.index)
    metrics = evaluate_all(other, dict.fromkeys(steps["method"]), ["standard"])
    recall = pd.DataFrame({row.do: metrics[row.method, "page_recall", row.k] for row in steps.itertuples()})
    found = beside_the_one_before(recall, Resampling.of(other))[["mean", "low", "high", *DIFFERENCE, "verdict"]]
    found = found.set_axis(UNSEEN_COLUMNS, axis=1).reset_index(drop=True)
    return found.assign(unseen_verdict=found["unseen_verdict"].where(steps["k"].eq(K), ""))
