"""A small language model judges the first chunks of a run, and retrieval follows its judgement.

The three labels are those of corrective RAG (Yan et al., 2024). One judgement of a (question, chunk) pair serves every
method and metric that asks for it. A chunk of 1024 tokens is too expensive to read 1500 times on two cores, so it is
judged by its child (see :mod:`lib.retrievers.dense`) that is nearest to the question: what a dense retriever found in
it. The prompt is one of three that were tried on a few pairs of the study's own questions, none of them labelled by
hand: with the other two this model called nearly every passage RELEVANT, those off the gold pages too.

A selection agent (Kim et al., 2025) drops the useless chunks; here they go behind the others, so that a run keeps its
depth. Corrective RAG, as Akarsu et al. (2026) build it, follows a poor first round by another: where none of the first
five chunks is RELEVANT, the model rewrites the question, hybrid retrieval is repeated, and the round with more RELEVANT
chunks wins (then with more AMBIGUOUS ones; the first round where both are equal). Both rounds are judged for the
question as it was asked.
"""

import re

import numpy as np
import pandas as pd

from lib import runs
from lib.chunkings.sizes import child_vectors, children
from lib.data.chunks import load_tokenizer
from lib.files import digest_of
from lib.models.prompts import Prompt, Sampling
from lib.models.weights import fetch, weights_hash
from lib.models.written import Item
from lib.retrievers.dense import question_vectors
from lib.retrievers.rewritten import hybrid_scores, one_line, questions_of, write
from lib.study import Study

FIRST_STAGE = "hybrid_rrf"
UNREADABLE = "UNREADABLE"
ORDER = {"RELEVANT": 0, "AMBIGUOUS": 1, UNREADABLE: 1, "IRRELEVANT": 2}
SYSTEM = "Answer with one word."
TEMPLATE = (
    "Question: {question}\n\nPassage: {passage}\n\n"
    "Is the passage IRRELEVANT, AMBIGUOUS or RELEVANT to the question?"
)
_LABEL = re.compile(r"\b(RELEV|AMBIG|IRREL)")  # a label may be cut at the most tokens it may have


def label_of(text: str | None) -> str:
    """The first label in the judge's text; UNREADABLE where there is none."""
    found = _LABEL.search((text or "").upper())
    return next(label for label in ORDER if label.startswith(found[1])) if found else UNREADABLE


def first_ranks(run: pd.DataFrame, n: int) -> pd.DataFrame:
    """The first ``n`` ranks of a run."""
    return run[run["rank"] <= n].reset_index(drop=True)


def judgements(study: Study, pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs of question_id and chunk_id, each once, with ``label``, from the log or judged now.

    It is UNREADABLE where the judge said something else, or nothing.
    """
    sampling = Sampling(study.profile.sibling_texts.judge.max_tokens, seed=study.profile.sibling_texts.seed)
    asked, items = questions_of(study), []
    read = zip(pairs["question_id"], pairs["chunk_id"], passages(study, pairs), strict=True)
    for question_id, chunk_id, passage in read:
        prompt = Prompt(TEMPLATE.format(passage=passage, question=asked[question_id]), SYSTEM)
        items.append(Item(f"{question_id}/{chunk_id}", question_id, prompt, sampling))
    texts = study.generation_log().fill("judge", items, study.make_generator, may_be_cut=True).texts
    return pairs.assign(label=[label_of(texts.get(item.id)) for item in items])


def passages(study: Study, pairs: pd.DataFrame) -> list[str]:
    """The passage of every pair of question_id and chunk_id, white space made single, stored.

    It is the chunk's child nearest to the question, cut to ``sibling_texts.judge.passage_tokens``.
    """
    n_tokens, weights = study.profile.sibling_texts.judge.passage_tokens, study.profile.embedder.weights
    params = {
        "questions": study.digest("questions"),
        "chunks": study.digest("chunks"),
        "pairs": digest_of(pairs[["question_id", "chunk_id"]].to_numpy().tolist()),
        "children": dict(study.profile.parent_child),
        "weights": weights_hash(weights),
        "tokens": n_tokens,
    }

    def make() -> list[str]:
        table, tokenizer = children(study), load_tokenizer(fetch(weights))
        vectors, queries = child_vectors(study), question_vectors(study)
        first = np.searchsorted(table["chunk"].to_numpy(), np.arange(len(study.chunks) + 1))
        rows = pd.Index(study.questions["question_id"]).get_indexer(pairs["question_id"])
        columns = pd.Index(study.chunks["chunk_id"]).get_indexer(pairs["chunk_id"])
        texts = []
        for row, begin, end in zip(rows, first[columns], first[columns + 1], strict=True):
            nearest = begin + int(np.argmax(vectors[begin:end] @ queries[row]))
            text = " ".join(table["text"].iloc[nearest].split())
            offsets = tokenizer.encode(text, add_special_tokens=False).offsets[:n_tokens]
            texts.append(text[: offsets[-1][1]] if offsets else text)
        return texts

    return study.store.value("siblings/passages", params, make)


def first_judged(study: Study, run: pd.DataFrame) -> pd.DataFrame:
    """The first ``sibling_texts.judge.top`` ranks of a run with ``label``."""
    return judgements(study, first_ranks(run, study.profile.sibling_texts.judge.top))


def judged_pairs(study: Study) -> pd.DataFrame:
    """The first chunks of the first stage's standard run with ``rank`` and ``label``."""
    return first_judged(study, study.run(FIRST_STAGE, "standard"))


def labels(study: Study) -> list[list[str]]:
    """What the scores depend on beside settings: question, chunk and label of every judged pair."""
    return judged_pairs(study)[["question_id", "chunk_id", "label"]].to_numpy().tolist()


def selected(run: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    """The run with its judged ranks ordered by label, and within a label as they were; the rest stays behind them.

    Scores are minus the new ranks.
    """
    keys = ["question_id", "chunk_id"]
    places = judged.set_index(keys)["label"].map(ORDER).reindex(pd.MultiIndex.from_frame(run[keys]))
    ordered = run.assign(
        place=places.fillna(len(ORDER)).to_numpy(), question=pd.factorize(run["question_id"])[0]
    ).sort_values(["question", "place", "rank"], ignore_index=True)
    ranks = ordered.groupby("question").cumcount() + 1
    return ordered.assign(rank=ranks, score=-ranks.astype("float32"))[run.columns.tolist()]


def score_selected(study: Study, candidates: np.ndarray) -> np.ndarray:
    """Minus the rank after selection, shape (n_questions, n_chunks)."""
    run = study.rank_method(FIRST_STAGE, candidates, study.profile.run.depth)
    return runs.to_matrix(selected(run, first_judged(study, run)), study.questions, study.chunks)


def _counts(study: Study, run: pd.DataFrame) -> pd.DataFrame:
    """How many of each question's first chunks are RELEVANT and AMBIGUOUS; by question id, in the study's order."""
    judged = judgements(study, first_ranks(run, study.profile.sibling_texts.crag.top))
    by_label, ids = pd.crosstab(judged["question_id"], judged["label"]), study.questions["question_id"]
    return by_label.reindex(index=ids, columns=["RELEVANT", "AMBIGUOUS"], fill_value=0)


def corrected(study: Study, first: pd.DataFrame, candidates: np.ndarray) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The better round of each question: the run, and one row per question.

    The row has the RELEVANT and AMBIGUOUS chunks of the first round, ``query`` (the rewrite, empty where there is no
    second round), RELEVANT_again and AMBIGUOUS_again, and ``is_second`` (whether the second round won).
    """
    table = _counts(study, first)
    asked = questions_of(study)
    poor = {question_id: asked[question_id] for question_id in table.index[table["RELEVANT"] == 0]}
    written = write(study, "correction", poor).texts if poor else {}
    table["query"] = [one_line(written.get(question_id, "")) for question_id in table.index]
    again = second_round(study, table["query"], candidates) if poor else first[:0]
    table = table.join(_counts(study, again).add_suffix("_again"))
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

    return study.store.frame("siblings/second_round", params, make)


def score_corrected(study: Study, candidates: np.ndarray) -> np.ndarray:
    """The better round's hybrid score, shape (n_questions, n_chunks)."""
    first = study.rank_method(FIRST_STAGE, candidates, study.profile.run.depth)
    return runs.to_matrix(corrected(study, first, candidates)[0], study.questions, study.chunks)


def verdicts(study: Study) -> pd.DataFrame:
    """What was judged and decided for each question under the standard condition, see :func:`corrected`."""
    return corrected(study, study.run(FIRST_STAGE, "standard"), study.candidates("standard"))[1]
