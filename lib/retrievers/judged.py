"""Retrieval that follows a small model's judgement of the first chunks, see :mod:`lib.retrievers.judge`.

A selection agent (Kim et al., 2025) drops the useless chunks; here they go behind the others, so that a run keeps its
depth. Corrective RAG (Yan et al., 2024), as Akarsu et al. (2026) build it, follows a poor first round by another: where
none of the first five chunks is RELEVANT, the model rewrites the question, hybrid retrieval is repeated, and the round
with more RELEVANT chunks wins (then with more AMBIGUOUS ones; the first round where both are equal). Both rounds are
judged for the question as it was asked.
"""

import numpy as np
import pandas as pd

from lib import runs
from lib.files import digest_of
from lib.retrievers.judge import first_ranks, judgements
from lib.retrievers.rewritten import hybrid_scores
from lib.retrievers.texts import one_line, questions_of, write
from lib.study import Study

FIRST_STAGE = "hybrid_rrf"
VERSION = 1  # of the stored second round; raised when hybrid retrieval scores otherwise
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


def score_selected(study: Study, candidates: np.ndarray) -> np.ndarray:
    """Minus the rank after selection, shape (n_questions, n_chunks)."""
    run = study.rank_method(FIRST_STAGE, candidates, study.profile.run.depth)
    return runs.to_matrix(selected(run, first_judged(study, run)), study.questions, study.chunks)


def first_judged(study: Study, run: pd.DataFrame) -> pd.DataFrame:
    """The first ``sibling_texts.judge.top`` ranks of a run with ``label``."""
    return judgements(study, first_ranks(run, study.profile.sibling_texts.judge.top))


def judged_pairs(study: Study) -> pd.DataFrame:
    """The first chunks of the first stage's standard run with ``rank`` and ``label``."""
    return first_judged(study, study.run(FIRST_STAGE, "standard"))


def labels(study: Study) -> list[list[str]]:
    """What the scores depend on beside settings: question, chunk and label of every judged pair."""
    return judged_pairs(study)[["question_id", "chunk_id", "label"]].to_numpy().tolist()


def counts(study: Study, run: pd.DataFrame) -> pd.DataFrame:
    """How many of each question's first chunks are RELEVANT and AMBIGUOUS; by question id, in the study's order."""
    judged = judgements(study, first_ranks(run, study.profile.sibling_texts.crag.top))
    by_label = pd.crosstab(judged["question_id"], judged["label"])
    return by_label.reindex(
        index=study.questions["question_id"], columns=["RELEVANT", "AMBIGUOUS"], fill_value=0
    )


def corrected(study: Study, first: pd.DataFrame, candidates: np.ndarray) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The better round of each question.

    Args:
        study: gives questions, chunks, the log and the settings.
        first: the first round's run.
        candidates: of the second round.

    Returns:
        The run, and one row per question: RELEVANT and AMBIGUOUS chunks of the first round, ``query`` (the rewrite,
        empty where there is no second round), RELEVANT_again and AMBIGUOUS_again, ``is_second`` (whether it won).
    """
    table = counts(study, first)
    asked = questions_of(study)
    poor = {question_id: asked[question_id] for question_id in table.index[table["RELEVANT"] == 0]}
    written = write(study, "correction", poor).texts if poor else {}
    table["query"] = [one_line(written.get(question_id, "")) for question_id in table.index]
    again = second_round(study, table["query"], candidates) if poor else first[:0]
    table = table.join(counts(study, again).add_suffix("_again"))
    is_more = table["RELEVANT_again"] > table["RELEVANT"]
    is_as_many = table["RELEVANT_again"] == table["RELEVANT"]
    table["is_second"] = is_more | (is_as_many & (table["AMBIGUOUS_again"] > table["AMBIGUOUS"]))
    table["is_second"] &= table["query"] != ""
    won = set(table.index[table["is_second"]])
    rounds = [first[~first["question_id"].isin(won)], again[again["question_id"].isin(won)]]
    return pd.concat(rounds, ignore_index=True), table.reset_index(names="question_id")


def second_round(study: Study, queries: pd.Series, candidates: np.ndarray) -> pd.DataFrame:
    """The run of the rewritten questions, stored; nothing for a question whose query is empty."""
    allowed = candidates & (queries != "").to_numpy()[:, None]
    params = {
        "queries": queries.tolist(),
        "chunks": study.digest("chunks"),
        "candidates": digest_of(np.packbits(allowed).tobytes().hex()),
        "settings": study.settings_of(("hybrid_rrf", "embedder", "bm25", "run")),
    }

    def make() -> pd.DataFrame:
        scores = hybrid_scores(study, queries.tolist(), allowed)
        return runs.rank(scores, study.questions, study.chunks, study.profile.run.depth)

    return study.store.frame("siblings/second_round", params, make, VERSION)


def score_corrected(study: Study, candidates: np.ndarray) -> np.ndarray:
    """The better round's hybrid score, shape (n_questions, n_chunks)."""
    first = study.rank_method(FIRST_STAGE, candidates, study.profile.run.depth)
    return runs.to_matrix(corrected(study, first, candidates)[0], study.questions, study.chunks)


def verdicts(study: Study) -> pd.DataFrame:
    """What was judged and decided for each question under the standard condition, see :func:`corrected`."""
    return corrected(study, study.run(FIRST_STAGE, "standard"), study.candidates("standard"))[1]


def verdict_records(study: Study) -> list[dict]:
    """:func:`verdicts`, on which the scores depend beside settings, as records."""
    return verdicts(study).to_dict("records")
