"""Answers judged without gold, as RAGAS does (Es et al., EACL 2024): does an answer fit the question that was asked?

A language model writes the question that an answer would belong to; the answer's relevance is the cosine between that
question and the one asked. The paper averages over several such questions; here it is one, and a small model writes it.
"""

import numpy as np
import pandas as pd

from lib.answers.answers import Answers
from lib.models.index import encode_queries
from lib.models.prompts import Prompt, Sampling
from lib.models.written import Filled, Item
from lib.retrievers.rewritten import one_line
from lib.study import Study

SYSTEM = "You write questions."
TEMPLATE = "Write the question that has this answer, and nothing else.\n\nAnswer: {answer}"


def questions_from(study: Study, written: Answers) -> Filled:
    """The question that the model writes from each answer, stored or written now; items are question ids."""
    settings = study.profile.sibling_texts
    sampling = Sampling(settings.answer_question.max_tokens, seed=settings.seed)
    items = [
        Item(
            question_id,
            question_id,
            Prompt(TEMPLATE.format(answer=" ".join(answer.split())), SYSTEM),
            sampling,
        )
        for question_id, answer in written.texts.items()
    ]
    return study.generation_log().fill("answer_question", items, study.make_generator)


def answer_relevance(study: Study, written: Answers) -> pd.Series:
    """The cosine between each question and the one written from its answer; 0 without an answer or without a question.

    Returns:
        By question id, in the study's order; every question of the study that was asked for an answer.
    """
    texts = questions_from(study, written).texts
    asked = [*written.texts, *written.filled.missing]
    rows = study.questions[study.questions["question_id"].isin(asked)]
    original = encode_queries(study, rows["question"].tolist())
    again = encode_queries(
        study, [one_line(texts.get(question_id, "")) for question_id in rows["question_id"]]
    )
    values = np.einsum("ij,ij->i", original, again)
    has_text = rows["question_id"].isin(texts).to_numpy()
    return pd.Series(np.where(has_text, values, 0.0), index=rows["question_id"], name="answer_relevance")
