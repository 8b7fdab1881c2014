"""What a language model writes for a question before it is searched: rewrites, key terms, expansions.

``multi_query``: the question and its rewrites are each searched densely and fused (Akarsu et al., 2026).
``keyword_query`` and ``lm_expansion``: the question with its key terms, or with related terms, behind it is searched
densely (Kim et al., 2025), and as here by dense and BM25, fused. Their key terms are also freed of redundant words by
LLMLingua, which is not installed here. The corrective rewrite follows Yan et al. (2024), see
:mod:`lib.retrievers.judged`. What was not written is not made up: fewer lists are fused, or the question stands alone.
Prompts are short and hold no example: a model of half a billion parameters copies it.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lib.models.index import encode_queries
from lib.models.prompts import Prompt, Sampling
from lib.models.written import Filled, Item
from lib.retrievers.bm25 import index, text_scores
from lib.retrievers.dense import score_vectors
from lib.retrievers.fusion import fused_scores, ranked_list
from lib.retrievers.prompts import TEMPLATES
from lib.study import Study

SYSTEM = "You write search queries."
_NUMBER = re.compile(r"^\W*(?:(?:query|question|paraphrase)\s*)?\d+\s*[.):]\W*", re.IGNORECASE)
_LEAD = re.compile(r"^(?:question|query|key terms|accounting terms)\s*:\s*", re.IGNORECASE)


def questions_of(study: Study) -> dict[str, str]:
    """Question id to question, in the study's order."""
    return dict(zip(study.questions["question_id"], study.questions["question"], strict=True))


def write(study: Study, kind: str, asked: Mapping[str, str] | None = None) -> Filled:
    """One text of a kind of TEMPLATES for each question, from the log or written now, by question id.

    Args:
        asked: question id to question; by default every question of the study.
    """
    settings, seed = study.profile.sibling_texts[kind], study.profile.sibling_texts.seed
    sampling = Sampling(settings["max_tokens"], settings.get("temperature", 0.0), seed=seed)
    items = []
    for question_id, question in (questions_of(study) if asked is None else asked).items():
        user = TEMPLATES[kind].format(question=question, n=settings.get("n"))
        items.append(Item(question_id, question_id, Prompt(user, SYSTEM), sampling))
    return study.generation_log().fill(kind, items, study.make_generator)


def numbered(text: str, n: int) -> list[str]:
    """The first ``n`` numbered lines of a text, or its lines where none has a number; without numbers and quotes."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    with_number = [line for line in lines if _NUMBER.match(line)]
    bare = [_bare(_NUMBER.sub("", line)) for line in with_number or lines]
    return [line for line in bare if line][:n]


def different(texts: list[str]) -> list[str]:
    """The texts without those whose words, in any case, stand earlier."""
    first_of: dict[tuple[str, ...], str] = {}
    for text in texts:
        first_of.setdefault(tuple(text.lower().split()), text)
    return list(first_of.values())


def terms(text: str) -> str:
    """The different terms of a list that commas or lines part, with commas between."""
    parts = re.split(r",(?!\d)|\n", _LEAD.sub("", text.strip()))
    bare = [_bare(_NUMBER.sub("", part).lstrip("-•* ")) for part in parts]
    return ", ".join(different([part for part in bare if part]))


def one_line(text: str) -> str:
    """A text's words on one line, without what it begins with before its content (``Query:``) and without quotes."""
    return _bare(_LEAD.sub("", " ".join(text.split()).strip("\"'` ")))


def _bare(text: str) -> str:
    return text.strip().strip("\"'`*").strip()


def dense_run(study: Study, texts: Sequence[str], candidates: np.ndarray) -> pd.DataFrame:
    """The first ``hybrid_rrf.depth`` candidates by cosine with each text; one text per question."""
    return ranked_list(study, score_vectors(study, encode_queries(study, list(texts))), candidates)


def hybrid_scores(study: Study, texts: Sequence[str], candidates: np.ndarray) -> np.ndarray:
    """As ``hybrid_rrf`` scores, with one text in place of each question, shape (n_questions, n_chunks)."""
    sparse = ranked_list(study, text_scores(index(study), texts), candidates)
    return fused_scores(study, [dense_run(study, texts, candidates), sparse])


def queries(study: Study) -> list[list[str]]:
    """Each question and its different rewrites; a copy of the question or of an earlier rewrite is left out."""
    written, n = write(study, "rewrites").texts, study.profile.sibling_texts.rewrites.n
    return [
        different([question, *numbered(written.get(question_id, ""), n)])
        for question_id, question in questions_of(study).items()
    ]


def score_multi_query(study: Study, candidates: np.ndarray) -> np.ndarray:
    """The fused score of the dense lists of the question and its rewrites, shape (n_questions, n_chunks)."""
    texts, lists = queries(study), []
    for number in range(max(map(len, texts), default=0)):
        is_there = np.array([number < len(row) for row in texts])
        asked = [row[number] if number < len(row) else row[0] for row in texts]
        lists.append(dense_run(study, asked, candidates & is_there[:, None]))
    return fused_scores(study, lists)


def lengthened(study: Study, kind: str) -> list[str]:
    """Each question with the written text of a kind (``keywords`` or ``expansion``) behind it."""
    written = write(study, kind).texts
    return [
        f"{question} {terms(written.get(question_id, ''))}".strip()
        for question_id, question in questions_of(study).items()
    ]


def score_lengthened(study: Study, candidates: np.ndarray, *, kind: str) -> np.ndarray:
    """Hybrid scores of the lengthened questions, shape (n_questions, n_chunks)."""
    return hybrid_scores(study, lengthened(study, kind), candidates)


def score_lengthened_dense(study: Study, candidates: np.ndarray, *, kind: str) -> np.ndarray:
    """Dense scores of the lengthened questions, shape (n_questions, n_chunks)."""
    return score_vectors(study, encode_queries(study, lengthened(study, kind)))
