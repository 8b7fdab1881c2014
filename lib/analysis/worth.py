"""What a found page is worth: right numbers over the pages of every standard run, against what the runs found.

The reader of tables (:mod:`lib.answers.calculation`) answers the questions with a number from the pages of each run, so
that no language model stands between pages and answers.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.analysis.statistic import correlation_of
from lib.answers.answers import Answers, score
from lib.answers.calculation import VERSION, calculated
from lib.answers.prompt_context import Context
from lib.metrics.frame import Metrics
from lib.metrics.right import right_metrics
from lib.models.written import Filled
from lib.stats import Resampling, percentiles
from lib.study import Study

FOUND = {  # what a run may have found: title → metric of the same questions, at the depth that answers read
    "Document recall": "doc_recall",
    "Page recall": "page_recall",
    "All gold pages present": "all_pages",
    "nDCG@10": "ndcg",
    "Page recall, pooled gold": "page_recall_pooled",
}
CORRELATED = ["title", "r", "r2", "low", "high", "n_runs", "n"]


def right_by_run(study: Study, methods: Sequence[str]) -> pd.DataFrame:
    """Whether the number read from each standard run's first pages is right: question_id, and a column a method.

    Stored; only questions whose answer is a bare number.
    """
    study.need_answers("scoring what is calculated")

    def of(method: str) -> pd.Series:
        found = calculated(study, Context(method, method)).query("text != ''")
        texts = dict(zip(found["question_id"], found["text"], strict=True))
        scored = score(study, Answers(Context(method, method), texts, Filled()), right_metrics)
        return scored.set_index("question_id")["value"].rename(method)

    params = {name: study.run_digest(name) for name in methods}
    params = {"runs": params, "questions": study.digest("questions"), "settings": study.settings_of(("answers",))}
    make = lambda: pd.concat(map(of, methods), axis=1).reset_index()  # noqa: E731
    return study.store.kept("answers/right-by-run", params, make, VERSION, public=True)


def found_by_run(metrics: Metrics, methods: Sequence[str], questions: pd.Index, k: int) -> dict[str, pd.DataFrame]:
    """What each run found in some questions, by title of FOUND: questions × methods; titles that were measured."""
    depth = {"ndcg": 10}
    of = {"all_pages": "page_recall"}
    tables = {}
    for title, metric in FOUND.items():
        values = {name: metrics[name, of.get(metric, metric), depth.get(metric, k)] for name in methods}
        if all(map(len, values.values())):
            table = pd.DataFrame(values).reindex(questions)
            tables[title] = (table == 1).astype(float) if metric == "all_pages" else table
    return tables


def correlated(draws: Resampling, right: pd.DataFrame, found: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """How far what runs found says how many numbers are right, over the runs: CORRELATED.

    r is Pearson's over the means of the runs, r2 its square, with the percentile interval of r2 over draws of companies
    (the same for both means); NaN where all runs are alike, or no answer is a number.
    """
    rows = [(title, *[np.nan] * 4, right.shape[1], 0) for title in found if right.empty]
    for title, table in found.items() if len(right) else ():
        both = pd.concat([right, table.reindex(right.index)], axis=1, keys=["right", "found"])
        r = float(correlation_of(both.mean().to_numpy()[None])[0])
        low, high = percentiles(correlation_of(draws.means(both)) ** 2)
        rows.append((title, r, r**2, low, high, right.shape[1], len(right)))
    return pd.DataFrame(rows, columns=CORRELATED)
