"""What a language model writes for a question before it is searched: rewrites, key terms, expansions.

``multi_query``: the question and its rewrites are each searched densely and fused (Akarsu et al., 2026).
``keyword_query`` and ``lm_expansion``: the question with its key terms, or with related terms, behind it is searched
densely (Kim et al., 2025), and as here by dense and BM25, fused. Their key terms are also freed of redundant words by
LLMLingua, which is not installed here. The corrective rewrite follows Yan et al. (2024), see
:mod:`lib.retrievers.judged`. What was not written is not made up: fewer lists are fused, or the question stands alone.
Prompts are short and hold no example: a model of half a billion parameters copies it.
"""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.models.index import encode_queries
from lib.retrievers.bm25 import index, text_scores
from lib.retrievers.dense import score_vectors
from lib.retrievers.fusion import fused_scores, ranked_list
from lib.retrievers.prompts import asked, write
from lib.study import Study

_NUMBER = re.compile(r"^\W*(?:(?:query|question|paraphrase)\s*)?\d+\s*[.):]\W*", re.IGNORECASE)
_LEAD = re.compile(r"^(?:question|query|key terms|accounting terms)\s*:\s*", re.IGNORECASE)


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


def question_and_text(study: Study, kind: str) -> list[tuple[str, str]]:
    """Each question, and the text of a kind that was written for it; empty where there is none."""
    texts = write(study, kind, fields := asked(study)).texts
    return [(given["question"], texts.get(question_id, "")) for question_id, given in fields.items()]


def queries(study: Study) -> list[list[str]]:
    """Each question and its different rewrites; a copy of the question or of an earlier rewrite is left out."""
    n = study.profile.sibling_texts.rewrites.n
    pairs = question_and_text(study, "rewrites")
    return [different([question, *numbered(text, n)]) for question, text in pairs]


def score_multi_query(study: Study, candidates: np.ndarray) -> np.ndarray:
    """The fused score of the dense lists of the question and its rewrites, shape (n_questions, n_chunks)."""
    texts, lists = queries(study), []
    for number in range(max(map(len, texts), default=0)):
        is_there = np.array([number < len(row) for row in texts])
        given = [row[number] if number < len(row) else row[0] for row in texts]
        lists.append(dense_run(study, given, candidates & is_there[:, None]))
    return fused_scores(study, lists)


def lengthened(study: Study, kind: str) -> list[str]:
    """Each question with the written text of a kind (``keywords`` or ``expansion``) behind it."""
    return [f"{question} {terms(text)}".strip() for question, text in question_and_text(study, kind)]


def score_lengthened(study: Study, candidates: np.ndarray, *, kind: str) -> np.ndarray:
    """Hybrid scores of the lengthened questions, shape (n_questions, n_chunks)."""
    return hybrid_scores(study, lengthened(study, kind), candidates)


def score_lengthened_dense(study: Study, candidates: np.ndarray, *, kind: str) -> np.ndarray:
    """Dense scores of the lengthened questions, shape (n_questions, n_chunks)."""
    return score_vectors(study, encode_queries(study, lengthened(study, kind)))
