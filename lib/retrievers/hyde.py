"""Hypothetical passages: a language model writes what would answer the question, and that is searched instead.

HyDE (Gao, Ma, Lin & Callan, ACL 2023) searches with one passage's embedding; Multi-HyDE (George et al., 2025) with the
mean of several. The same passages serve both: HyDE's is Multi-HyDE's first.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.models.generator import Generator, Prompt, Sampling
from lib.models.written import Filled, GenerationLog, Item

TEMPLATE = """\
Please write a short financial report excerpt (1 paragraph) that precisely answers the question below. \
Do not introduce the text, just write the excerpt.

Question: {question}
Passage:"""


@dataclass(frozen=True)
class Passages:
    """What was written for each question.

    Attributes:
        texts: a list a question, in the questions' order, of ``n_passages`` texts; None where there is none.
        filled: the records and, for what is missing, the reasons.
    """

    texts: list[list[str | None]]
    filled: Filled


def prompt(question: str) -> Prompt:
    """The published study's prompt."""
    return Prompt(TEMPLATE.format(question=question))


def passages(
    log: GenerationLog,
    questions: pd.DataFrame,
    make_generator: Callable[[], Generator],
    n_passages: int = 4,
    temperature: float = 0.7,
    max_tokens: int = 200,
    seed: int = 13,
) -> Passages:
    """Hypothetical passages of questions, from the log or written now.

    Args:
        log: where passages are looked up and kept.
        questions: QUESTION_COLUMNS, of which question_id and question are read.
        make_generator: called only if a passage is missing.
        n_passages: passages a question.
        temperature, max_tokens: of the sampling; the defaults are the published study's.
        seed: passage ``j`` is drawn with ``seed + j``.
    """

    def item(question_id: str, question: str, number: int) -> Item:
        sampling = Sampling(max_tokens=max_tokens, temperature=temperature, seed=seed + number)
        return Item(f"{question_id}/{number}", question_id, prompt(question), sampling)

    asked = list(zip(questions["question_id"], questions["question"], strict=True))
    items = [[item(*pair, number) for number in range(n_passages)] for pair in asked]
    filled = log.fill("hyde", [one for row in items for one in row], make_generator)
    texts = filled.texts
    return Passages([[texts.get(one.id) for one in row] for row in items], filled)


def mean_embedding(vectors: np.ndarray) -> np.ndarray:
    """The mean of unit vectors, made a unit vector again: shape (n, d) to (d,).

    Raises:
        ValueError: there are no vectors, or they cancel out.
    """
    if len(vectors) == 0:
        raise ValueError("no vectors to average")
    mean = np.asarray(vectors, np.float64).mean(axis=0)
    length = np.linalg.norm(mean)
    if length < 1e-9:
        raise ValueError(f"{len(vectors)} vectors cancel out; their mean has no direction")
    return (mean / length).astype(np.float32)
