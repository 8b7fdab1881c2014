"""Context precision as RAGAS defines it: are the useful chunks before the useless ones?

For the first ``k`` chunks with verdicts ``v`` (1 for RELEVANT): ``sum_j(precision@j * v_j) / sum_j(v_j)``, and 0 where
no chunk is useful. The verdicts are the small judge's, see :mod:`lib.retrievers.judge`, or the gold pages'.
"""

from collections.abc import Sequence

import pandas as pd

from lib.analysis.hand import is_gold
from lib.retrievers.judge import first_ranks, judgements


def precision_of(verdicts: Sequence[bool]) -> float:
    """The rank-weighted precision of verdicts in order of rank."""
    n_useful, total = 0, 0.0
    for rank, is_useful in enumerate(verdicts, 1):
        if is_useful:
            n_useful += 1
            total += n_useful / rank
    return total / n_useful if n_useful else 0.0


def context_precision(study, run: pd.DataFrame, k: int = 5) -> pd.Series:
    """The context precision of a run's first ``k`` chunks, judged now where they were not; by question id."""
    top = first_ranks(run, k)
    return _by_question(study, top, judgements(study, top)["label"] == "RELEVANT")


def gold_precision(study, run: pd.DataFrame, k: int = 5) -> pd.Series:
    """The same with gold verdicts: a chunk is useful if it is on a gold page; by question id."""
    top = first_ranks(run, k)
    return _by_question(study, top, is_gold(top, study.questions))


def _by_question(study, top: pd.DataFrame, is_useful: pd.Series) -> pd.Series:
    verdicts = top.assign(is_useful=is_useful.to_numpy(bool)).sort_values(["question_id", "rank"])
    values = verdicts.groupby("question_id")["is_useful"].agg(lambda part: precision_of(part.tolist()))
    return values.reindex(study.questions["question_id"], fill_value=0.0).rename("context_precision")
