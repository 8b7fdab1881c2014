"""Hypothetical passages: a language model writes what would answer the question, and that is searched instead.

HyDE (Gao, Ma, Lin & Callan, ACL 2023) searches with one passage's embedding; Multi-HyDE (George et al., 2025) with the
mean of several. The same passages serve both: HyDE's is Multi-HyDE's first.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from lib.models.index import encode_texts
from lib.models.prompts import Generator, Prompt, Sampling
from lib.models.written import Filled, GenerationLog, Item
from lib.retrievers.dense import score_vectors

TEMPLATE = """\
Please write a short financial report excerpt (1 paragraph) that precisely answers the question below. \
Do not introduce the text, just write the excerpt.

Question: {question}
Passage:"""


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
) -> tuple[list[list[str | None]], Filled]:
    """Hypothetical passages of questions, from the log or written now.

    Args:
        log: where passages are looked up and kept.
        questions: QUESTION_COLUMNS, of which question_id and question are read.
        make_generator: called only if a passage is missing.
        n_passages: passages per question.
        temperature, max_tokens: of the sampling; the defaults are the published study's.
        seed: passage ``j`` is drawn with ``seed + j``.

    Returns:
        A list per question, in the questions' order, of ``n_passages`` texts, None where one is missing; and the
        records, with the reasons for what is missing.
    """

    def item(question_id: str, question: str, number: int) -> Item:
        sampling = Sampling(max_tokens=max_tokens, temperature=temperature, seed=seed + number)
        return Item(f"{question_id}/{number}", question_id, prompt(question), sampling)

    asked = list(zip(questions["question_id"], questions["question"], strict=True))
    items = [[item(*pair, number) for number in range(n_passages)] for pair in asked]
    filled = log.fill("hyde", [one for row in items for one in row], make_generator)
    return [[filled.texts.get(one.id) for one in row] for row in items], filled


def written_passages(study) -> list[list[str]]:
    """The passages written for each question; a question without any is searched as it is.

    The log reports what is missing question by question, and the manifest's log of stages counts it.
    """

    def write() -> list[list[str]]:
        asked, settings = study.questions, dict(study.profile.hyde)
        found, _ = passages(study.generation_log(), asked, study.make_generator, **settings)
        written = [[text for text in texts if text is not None] for texts in found]
        return [texts or [question] for texts, question in zip(written, asked["question"], strict=True)]

    return study.memo("hyde", write)


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


def _vectors(study, texts: list[str]) -> np.ndarray:
    """Passages are embedded as documents, as they take the place of the passages that are searched for."""
    return np.asarray(encode_texts(study, "embeddings/passages", texts, role="document"))


def score(study, candidates: np.ndarray) -> np.ndarray:
    """HyDE: ``dense`` with the first passage in place of the question, shape (n_questions, n_chunks)."""
    return score_vectors(study, _vectors(study, [texts[0] for texts in written_passages(study)]))


def score_multi(study, candidates: np.ndarray) -> np.ndarray:
    """Multi-HyDE: ``dense`` with the mean of all passages, shape (n_questions, n_chunks)."""
    written = written_passages(study)
    vectors = _vectors(study, [text for texts in written for text in texts])
    ends = np.cumsum([len(texts) for texts in written])
    return score_vectors(study, np.stack([mean_embedding(part) for part in np.split(vectors, ends[:-1])]))
