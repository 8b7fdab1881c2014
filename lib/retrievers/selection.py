"""A selection agent (Kim et al., 2025): a small model judges the first chunks, and useless ones go behind the others.

In the paper the useless chunks are dropped; here they go behind, so that a run keeps its depth.
"""

import numpy as np
import pandas as pd

from lib import runs
from lib.retrievers.judge import first_ranks, judgements

FIRST_STAGE = "hybrid_rrf"
ORDER = {"RELEVANT": 0, "AMBIGUOUS": 1, "UNREADABLE": 1, "IRRELEVANT": 2}


def selected(run: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    """The run with its judged ranks ordered by label, and within a label as they were.

    Args:
        run: ranked chunks.
        judged: its first ranks with ``label``; the rest stays behind them.

    Returns:
        RUN_COLUMNS; scores are minus the new ranks.
    """
    labels = judged.set_index(["question_id", "chunk_id"])["label"].map(ORDER)
    keys = pd.MultiIndex.from_frame(run[["question_id", "chunk_id"]])
    places = labels.reindex(keys).fillna(len(ORDER)).to_numpy()
    ordered = run.assign(place=places, question=pd.factorize(run["question_id"])[0])
    ordered = ordered.sort_values(["question", "place", "rank"], ignore_index=True)
    ranks = ordered.groupby("question").cumcount() + 1
    return ordered.assign(rank=ranks, score=-ranks.astype("float32"))[run.columns.tolist()]


def score(study, candidates: np.ndarray) -> np.ndarray:
    """Minus the rank after selection, shape (n_questions, n_chunks)."""
    run = study.rank_method(FIRST_STAGE, candidates, study.profile.run.depth)
    judged = judgements(study, first_ranks(run, study.profile.sibling_texts.judge.top))
    return runs.to_matrix(selected(run, judged), study.questions, study.chunks)


def judged_pairs(study) -> pd.DataFrame:
    """The first chunks of the first stage's standard run with ``rank`` and ``label``."""
    run = study.run(FIRST_STAGE, "standard")
    return judgements(study, first_ranks(run, study.profile.sibling_texts.judge.top))


def labels(study) -> list[list[str]]:
    """What the scores depend on beside settings: question, chunk and label of every judged pair."""
    return judged_pairs(study)[["question_id", "chunk_id", "label"]].to_numpy().tolist()
