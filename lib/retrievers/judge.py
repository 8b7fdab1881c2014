"""A small language model judges whether a passage helps with a question: RELEVANT, AMBIGUOUS or IRRELEVANT.

The three labels are those of corrective RAG (Yan et al., 2024). One judgement of a (question, chunk) pair serves every
method and metric that asks for it. The chunk is judged by its best passage, see :mod:`lib.retrievers.passages`.

The prompt is one of three that were tried on a few pairs of the study's own questions, none of them labelled by hand:
with the other two this model called nearly every passage RELEVANT, those off the gold pages too.
"""

import re

import pandas as pd

from lib.models.generator import Prompt, Sampling
from lib.models.written import Item
from lib.retrievers.passages import passages
from lib.retrievers.texts import questions_of

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


def judgements(study, pairs: pd.DataFrame) -> pd.DataFrame:
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
