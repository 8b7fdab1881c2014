"""A small language model judges whether a passage helps with a question: RELEVANT, AMBIGUOUS or IRRELEVANT.

The three labels are those of corrective RAG (Yan et al., 2024). One judgement of a (question, chunk) pair serves every
method and metric that asks for it. A chunk of 1024 tokens is too expensive to read 1500 times on two cores, so it is
judged by its child (see :mod:`lib.retrievers.parent_child`) that is nearest to the question: what a dense retriever
found in it.

The prompt is one of three that were tried on a few pairs of the study's own questions, none of them labelled by hand:
with the other two this model called nearly every passage RELEVANT, those off the gold pages too.
"""

import re

import numpy as np
import pandas as pd

from lib.chunkings.sizes import child_vectors, children
from lib.data.chunks import load_tokenizer
from lib.files import digest_of
from lib.models.prompts import Prompt, Sampling
from lib.models.weights import fetch, weights_hash
from lib.models.written import Item
from lib.retrievers.dense import question_vectors
from lib.retrievers.texts import questions_of
from lib.study import Study

LABELS = ("RELEVANT", "AMBIGUOUS", "IRRELEVANT")
UNREADABLE = "UNREADABLE"
SYSTEM = "Answer with one word."
TEMPLATE = (
    "Question: {question}\n\nPassage: {passage}\n\n"
    "Is the passage IRRELEVANT, AMBIGUOUS or RELEVANT to the question?"
)
_LABEL = re.compile(r"\b(RELEV|AMBIG|IRREL)")  # a label may be cut at the most tokens it may have


def prompt(question: str, passage: str) -> Prompt:
    """What the judge reads."""
    return Prompt(TEMPLATE.format(passage=passage, question=question), SYSTEM)


def label_of(text: str | None) -> str:
    """The first label in the judge's text; UNREADABLE where there is none."""
    found = _LABEL.search((text or "").upper())
    return next(label for label in LABELS if label.startswith(found[1])) if found else UNREADABLE


def judgements(study: Study, pairs: pd.DataFrame) -> pd.DataFrame:
    """The label of every pair, from the log or judged now.

    Args:
        study: gives questions, chunks, the log and the settings ``sibling_texts.judge`` and ``sibling_texts.seed``.
        pairs: question_id and chunk_id, each pair once, such as the first ranks of a run.

    Returns:
        The pairs with ``label``; UNREADABLE where the judge said something else, or nothing.
    """
    sampling = Sampling(study.profile.sibling_texts.judge.max_tokens, seed=study.profile.sibling_texts.seed)
    asked = questions_of(study)
    items = [
        Item(f"{question_id}/{chunk_id}", question_id, prompt(asked[question_id], passage), sampling)
        for question_id, chunk_id, passage in zip(
            pairs["question_id"], pairs["chunk_id"], passages(study, pairs), strict=True
        )
    ]
    texts = study.generation_log().fill("judge", items, study.make_generator, may_be_cut=True).texts
    return pairs.assign(label=[label_of(texts.get(item.id)) for item in items])


def first_ranks(run: pd.DataFrame, n: int) -> pd.DataFrame:
    """The first ``n`` ranks of a run."""
    return run[run["rank"] <= n].reset_index(drop=True)


def passages(study: Study, pairs: pd.DataFrame) -> list[str]:
    """The passage of every pair, stored.

    Args:
        study: gives questions, chunks, the store and settings: ``sibling_texts.judge.passage_tokens`` of the embedder.
        pairs: question_id and chunk_id, such as a run.

    Returns:
        One passage per row, white space made single.
    """
    settings = study.profile
    params = {
        "questions": study.digest("questions"),
        "chunks": study.digest("chunks"),
        "pairs": digest_of(pairs[["question_id", "chunk_id"]].to_numpy().tolist()),
        "children": dict(settings.parent_child),
        "weights": weights_hash(settings.embedder.weights),
        "tokens": settings.sibling_texts.judge.passage_tokens,
    }

    return study.store.value("siblings/passages", params, lambda: best_children(study, pairs))


def best_children(study: Study, pairs: pd.DataFrame) -> list[str]:
    """The text of each pair's nearest child, at most ``passage_tokens`` tokens of the embedder long."""
    table, n_tokens = children(study), study.profile.sibling_texts.judge.passage_tokens
    vectors, queries = child_vectors(study), question_vectors(study)
    tokenizer = load_tokenizer(fetch(study.profile.embedder.weights))
    first = np.searchsorted(table["chunk"].to_numpy(), np.arange(len(study.chunks) + 1))
    rows = pd.Index(study.questions["question_id"]).get_indexer(pairs["question_id"])
    columns = pd.Index(study.chunks["chunk_id"]).get_indexer(pairs["chunk_id"])
    texts = []
    for row, column in zip(rows, columns, strict=True):
        nearest = first[column] + int(np.argmax(vectors[first[column] : first[column + 1]] @ queries[row]))
        text = " ".join(table["text"].iloc[nearest].split())
        offsets = tokenizer.encode(text, add_special_tokens=False).offsets[:n_tokens]
        texts.append(text[: offsets[-1][1]] if offsets else text)
    return texts
