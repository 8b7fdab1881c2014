"""The changes of a pipeline in the order in which they pay, each beside the one before it."""

from itertools import pairwise
from typing import NamedTuple

import pandas as pd

from lib.analysis.families import RUNG, corrected
from lib.analysis.ladder import LADDER
from lib.analysis.measured import times
from lib.evaluation import in_order
from lib.metrics.frame import Metrics
from lib.stats import LEVELS, Resampling
from lib.study import Study

K = 5


class Step(NamedTuple):
    """A change of a pipeline, beside the step before it: what to do, what that needs, and the row that measures it."""

    do: str
    needs: str
    method: str
    k: int = K
    rung: str = ""  # of the ladder, whose recall is the mean over the draws of the folds


CLIMB = (
    Step("Begin: search chunks by embeddings", "an encoder", "dense"),
    Step(
        "Match the company, year and form in the question with the filings' metadata; search what fits first",
        "metadata of the filings",
        "dense_records",
    ),
    Step(
        "Rank the pages of these filings by a small adapter on frozen embeddings (the light page scorer)",
        "labelled questions about other companies",
        "page_scorer_light_order_records",
    ),
    Step(
        "In place of the adapter, rank these pages by words, identity, row labels and statements together (Ahead)",
        "the same",
        "ahead_general",
        rung=LADDER[-2].name,
    ),
    Step(
        "Add hand-written kinds of pages to it",
        "a list of line items for each kind of page",
        "ahead",
        rung=LADDER[-1].name,
    ),
    Step("Read 20 chunks instead of 5", "four times the tokens per question", "ahead", 20),
)
STEP_COLUMNS = "n page_recall low high difference difference_low difference_high".split()


def climb(study: Study, rows: pd.DataFrame) -> pd.DataFrame:
    """The steps of CLIMB that were measured, each beside the one before it: do, needs, method, k, page and document
    recall, the difference with its interval, and ``page_recall_pooled`` and ``question_s`` where they are known.

    ``rows`` are METRIC_COLUMNS. A step has the p of its family (:mod:`lib.analysis.families`); to read more chunks is
    not tested, as it cannot lose.
    """
    wanted = rows["metric"].str.contains("doc_recall|page_recall")
    metrics = Metrics(in_order(rows[wanted], study.questions))  # p-values depend on the order
    known = [one for one in CLIMB if (one.method, "page_recall", one.k) in metrics]
    values = [{one.do: recall_of(metrics, one, name) for one in known} for name in ("page_recall", "doc_recall")]
    found = pd.DataFrame(known, columns=Step._fields)
    if len(known) < 2:
        return found
    pages, docs, draws = *values, Resampling.of(study)
    before = dict(zip(pages, [*pages.values()][:1] + [*pages.values()], strict=False))
    gains = draws.compare(before, pages).rename(columns=LEVELS | {"mean": "page_recall"})[STEP_COLUMNS]
    gains.loc[gains.index[0], ["difference", "difference_low", "difference_high"]] = float("nan")
    found = found.join(gains.reset_index(drop=True)).assign(doc_recall=[one.mean() for one in docs.values()])
    names = [RUNG + one.rung if _is_drawn(metrics, one, "page_recall") else one.method for one in known]
    tested = [(of, base) if own.k == K else None for (base, of), own in zip(pairwise(names), known[1:], strict=True)]
    p_holm = corrected(draws, metrics, filter(None, tested), K) if any(tested) else {}
    found["p_holm"] = [float("nan"), *(p_holm.get(pair, float("nan")) for pair in tested)]
    if all((one.method, "page_recall_pooled", one.k) in metrics for one in known):
        found["page_recall_pooled"] = [metrics[one.method, "page_recall_pooled", one.k].mean() for one in known]
    found["question_s"] = found["method"].map(times(study).set_index("method")["question_s"]).astype(float)
    return found.rename(columns={"low": "page_recall_low", "high": "page_recall_high"})


def _is_drawn(metrics: Metrics, one: Step, metric: str) -> bool:
    return ("ahead", f"rung_{metric}/{one.rung}", one.k) in metrics


def recall_of(metrics: Metrics, one: Step, metric: str) -> pd.Series:
    """A step's recall by question: of a rung the mean over the draws of the folds, where they were drawn."""
    drawn = _is_drawn(metrics, one, metric)
    return metrics["ahead", f"rung_{metric}/{one.rung}", one.k] if drawn else metrics[one.method, metric, one.k]
