"""Dense retrieval with the question reformulated: expanded, or replaced by passages that a language model wrote.

Query expansion (Carpineto & Romano, 2012), HyDE (Gao et al., ACL 2023) and Multi-HyDE (George et al., 2025) differ from
``dense`` only in the vector that is searched for.
"""

import numpy as np

from lib.models.index import encode_queries, encode_texts
from lib.retrievers.dense import score_vectors
from lib.retrievers.expansion import expand
from lib.retrievers.hyde import mean_embedding, passages


def written_passages(study) -> list[list[str]]:
    """The passages written for each question; a question whose passages are missing stands for itself.

    What is missing is told by the log, question by question, and counted in the manifest's log of stages.
    """
    settings = study.profile.hyde

    def write() -> list[list[str]]:
        found = passages(
            study.generation_log(),
            study.questions,
            study.make_generator,
            settings.n_passages,
            settings.temperature,
            settings.max_tokens,
            settings.seed,
        )
        written = [[text for text in texts if text is not None] for texts in found.texts]
        return [
            texts or [question] for texts, question in zip(written, study.questions["question"], strict=True)
        ]

    return study.memo("hyde", write)


def _passage_vectors(study, texts: list[str]) -> np.ndarray:
    """Passages are embedded as documents: they stand for what they hope to find."""
    return np.asarray(encode_texts(study, "embeddings/passages", texts, role="document"))


def expanded_questions(study) -> list[str]:
    """The questions with acronyms and fiscal years spelt out."""
    return [expand(question) for question in study.questions["question"]]


def score_expansion(study, candidates: np.ndarray) -> np.ndarray:
    """``dense`` with the expanded questions, shape (n_questions, n_chunks)."""
    return score_vectors(study, encode_queries(study, expanded_questions(study)))


def score_hyde(study, candidates: np.ndarray) -> np.ndarray:
    """``dense`` with the first passage in place of the question, shape (n_questions, n_chunks)."""
    return score_vectors(study, _passage_vectors(study, [texts[0] for texts in written_passages(study)]))


def score_multi_hyde(study, candidates: np.ndarray) -> np.ndarray:
    """``dense`` with the mean of all passages in place of the question, shape (n_questions, n_chunks)."""
    written = written_passages(study)
    vectors = _passage_vectors(study, [text for texts in written for text in texts])
    ends = np.cumsum([len(texts) for texts in written])
    return score_vectors(study, np.stack([mean_embedding(part) for part in np.split(vectors, ends[:-1])]))
