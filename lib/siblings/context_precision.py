"""Context precision as RAGAS defines it: are the useful chunks before the useless ones?

For the first ``k`` chunks with verdicts ``v`` (1 for RELEVANT): ``sum_j(precision@j * v_j) / sum_j(v_j)``, and 0 where
no chunk is useful. The verdicts are the small judge's, see :mod:`lib.siblings.judge`.
"""

from collections.abc import Sequence

import pandas as pd

from lib.siblings.judge import first_ranks, judgements


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
    top = first_ranks(run, k).sort_values(["question_id", "rank"])
    judged = judgements(study, top)
    is_useful = judged["label"] == "RELEVANT"
    values = is_useful.groupby(judged["question_id"]).agg(lambda part: precision_of(part.tolist()))
    return values.reindex(study.questions["question_id"], fill_value=0.0).rename("context_precision")
