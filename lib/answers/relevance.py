"""What is judged without gold: whether an answer fits its question, and 50 passages that were labelled by hand.

Answer relevance as in RAGAS (Es et al., EACL 2024): a language model writes the question that an answer would belong
to, and its cosine with the one asked is the answer's relevance; the paper averages over several.

``hand_labels.csv`` is by one reader, a far larger language model and no financial analyst, who saw the question and the
72 tokens of a chunk that are nearest to it (the judge reads a chunk's beginning) alone. Half of the 50 pairs were drawn
on gold pages. ``useful``: the passage contains something that the answer needs. ``partly``: it is of the right company
and matter, such as the head of the right statement without the figure. ``useless``: the rest.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from lib.answers.answers import Answers
from lib.models.prompts import Prompt, Sampling
from lib.models.vectors import encode_queries
from lib.models.written import Item
from lib.retrievers.rewritten import one_line
from lib.runs import placed
from lib.study import Study

SYSTEM = "You write questions."
TEMPLATE = "Write the question that has this answer, and nothing else.\n\nAnswer: {answer}"


def answer_relevance(study: Study, written: Answers) -> pd.Series:
    """The cosine between each question that was asked and the one written from its answer, by question id, in the
    study's order; 0 without an answer or without a question."""
    settings, items = study.profile.sibling_texts, []
    sampling = Sampling(settings.answer_question.max_tokens, seed=settings.seed)
    for name, answer in written.texts.items():
        items.append(Item(name, name, Prompt(TEMPLATE.format(answer=" ".join(answer.split())), SYSTEM), sampling))
    texts = study.generation_log().fill("answer_question", items, study.make_generator).texts
    asked = study.questions.set_index("question_id")["question"]
    asked = asked[asked.index.isin([*written.texts, *written.filled.missing])]
    original = encode_queries(study, asked.tolist())
    again = encode_queries(study, [one_line(texts.get(question_id, "")) for question_id in asked.index])
    values = np.einsum("ij,ij->i", original, again)
    return pd.Series(np.where(asked.index.isin(texts), values, 0.0), asked.index, name="answer_relevance")


def hand_labels() -> pd.DataFrame:
    """The labels by hand: question_id, chunk_id and label."""
    return pd.read_csv(Path(__file__).with_name("hand_labels.csv"))


def labelled_pairs() -> pd.DataFrame:
    """The labelled pairs as a run names chunks: question_id, chunk_id, doc_name and page."""
    pairs = hand_labels()[["question_id", "chunk_id"]]
    return pairs.join(placed(pairs["chunk_id"])[["doc_name", "page"]])
