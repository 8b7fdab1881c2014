"""What the first page states beside the summary: losses by pooled gold, Ahead on outside sets, answers and encoders."""

from functools import partial

import pandas as pd

from lib.ahead.sets import SETS
from lib.analysis import encoders
from lib.analysis.answered import RANKER, on_sets
from lib.analysis.outside import outside_sets
from lib.analysis.question_sets import of_collection
from lib.evaluation import SUMMARY_FILE, read_metrics
from lib.metrics.frame import Metrics
from lib.published import ANSWERS_FILE, Published
from lib.stats import Resampling, compare, holm, with_p_holm
from lib.studies import open_study
from lib.study import Study
from lib.typed import read_csv

CALCULATED = {"ahead", "best-baseline", "oracle-page"}


def lost_by_pooled_gold(metrics: Metrics, method: str, k: int) -> float | None:
    """The share of a question's gold pages that a run loses inside a filing that it reached, where another page that
    answers in full counts, too; None where no page was judged."""
    if (method, "page_recall_pooled", k) not in metrics:
        return None
    documents, pages = (metrics[method, name, k] for name in ("doc_recall", "page_recall_pooled"))
    reached = documents.clip(lower=(pages == 1).astype(float))  # a page of another filing may answer
    return (reached - pages).clip(lower=0).mean()


def outside_gains(draws: Resampling) -> pd.DataFrame:
    """Ahead less dense search behind the match on each outside set: :func:`lib.stats.compare` and ``set``, p corrected
    with those of its page kinds, as in chapter 7."""
    parts = []
    for name, unseen in outside_sets(draws).items():
        above, below = unseen.pages[["ahead", "ahead"]], unseen.pages[["dense_records", "ahead_general"]]
        above.columns = below.columns = ["match", "kinds"]
        parts.append(compare(above, below, unseen.draws).assign(set=name))
    found = pd.concat(parts)
    return with_p_holm(found, holm(found["p"])).loc[["match"]]


def calculated_shares(study: Study) -> dict[str, float] | None:
    """The share of numbers that calculation gets right, with the generator as fallback, by context, and their number
    ``n``; None unless all of CALCULATED were answered."""
    path = study.outputs / ANSWERS_FILE
    rows = read_metrics(path) if path.is_file() else pd.DataFrame(columns=["prompt", "metric", "generator", "context"])
    is_wanted = (rows["prompt"] == "calculation") & (rows["metric"] == "answer_right")
    rows = rows[is_wanted & (rows["generator"] == study.profile.generator.weights)]
    if not {*rows["context"]} >= CALCULATED:
        return None
    return rows.groupby("context")["value"].mean().to_dict() | {"n": rows["question_id"].nunique()}


def on_second_set(study: Study, k: int) -> pd.Series | None:
    """The row of :func:`lib.analysis.answered.on_sets` of RANKER on another question set over the study's filings; None
    where no other set has answers."""
    collection = study.dataset.collection
    given = {"results": "published" if study.published else "fresh", "say": lambda line: None}
    names = ("", *SETS[collection]) if collection in SETS else ()
    others = [partial(open_study, "", study.profile.name, questions=name, **given) for name in names]
    by_set = on_sets(study, of_collection(study, others), k)
    rows = by_set[(by_set["set"] != study.dataset.name) & (by_set["context"] == RANKER)]
    return rows.iloc[0] if len(rows) else None


def with_better_encoder(study: Study, before: pd.Series, k: int) -> dict[str, tuple[float, float]]:
    """Page recall of dense search, also behind a match, and of Ahead: ``before`` (by method), and as published with the
    better encoder; empty where nothing is, or the profile has that encoder."""
    published = Published.of(study.dataset.name, encoders.BETTER)
    if published is None or study.profile.name == encoders.BETTER:
        return {}
    rows = read_csv(published.file(SUMMARY_FILE), k="Int64")
    is_wanted = (rows["k"] == k) & (rows["condition"] == "standard") & (rows["metric"] == "page_recall")
    after = rows[is_wanted].set_index("method")["mean"]
    names = [name for name in ("dense", "dense_records", "ahead") if name in before and name in after]
    return {name: (before[name], after[name]) for name in names}
