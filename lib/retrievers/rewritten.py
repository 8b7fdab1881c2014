"""What a language model writes for a question before it is searched: rewrites, key terms, expansions.

``multi_query``: the question and its rewrites are each searched densely and fused (Akarsu et al., 2026).
``keyword_query`` and ``lm_expansion``: the question with its key terms, or with related terms, behind it is searched
densely (Kim et al., 2025), and here by dense and BM25, fused. What was not written is left out.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from lib.method import Search
from lib.retrievers.bm25 import index, text_scores
from lib.retrievers.dense import score_texts
from lib.retrievers.fusion import fused
from lib.retrievers.prompts import with_texts

_NUMBER = re.compile(r"^\W*(?:(?:query|question|paraphrase)\s*)?\d+\s*[.):]\W*", re.IGNORECASE)
_LEAD = re.compile(r"^(?:question|query|key terms|accounting terms)\s*:\s*", re.IGNORECASE)


def _bare(text: str) -> str:
    return text.strip().strip("\"'`*").strip()


def numbered(text: str, n: int) -> list[str]:
    """The first ``n`` numbered lines of a text, or its lines where none has a number; without numbers and quotes."""
    lines = [line.strip() for line in text.splitlines()]
    with_number = [line for line in lines if _NUMBER.match(line)]
    return [bare for line in with_number or lines if (bare := _bare(_NUMBER.sub("", line)))][:n]


def different(texts: Iterable[str]) -> list[str]:
    """The texts without those whose words, in any case, stand earlier."""
    first_of: dict[tuple[str, ...], str] = {}
    for text in texts:
        first_of.setdefault(tuple(text.lower().split()), text)
    return list(first_of.values())


def terms(text: str) -> str:
    """The different terms of a list that commas or lines part, with commas between."""
    parts = re.split(r",(?!\d)|\n", _LEAD.sub("", text.strip()))
    return ", ".join(different(filter(None, (_bare(_NUMBER.sub("", part).lstrip("-•* ")) for part in parts))))


def one_line(text: str) -> str:
    """A text's words on one line, without what it begins with before its content (``Query:``) and without quotes."""
    return _bare(_LEAD.sub("", " ".join(text.split()).strip("\"'` ")))


def hybrid_scores(search: Search, texts: Sequence[str], candidates: np.ndarray) -> np.ndarray:
    """As ``hybrid_rrf`` scores, with one text in place of each question, shape (n_questions, n_chunks)."""
    return fused(search, [score_texts(search, texts), text_scores(index(search), texts)], candidates)


def queries(search: Search) -> list[list[str]]:
    """Each question and its different rewrites; a copy of the question or of an earlier rewrite is left out."""
    n, pairs = search.profile.sibling_texts.rewrites.n, with_texts(search, "rewrites")
    return [different([question, *(line for text in texts for line in numbered(text, n))]) for question, texts in pairs]


def score_multi_query(search: Search, candidates: np.ndarray) -> np.ndarray:
    """The fused score of the dense lists of the question and its rewrites, shape (n_questions, n_chunks)."""
    texts, matrices = queries(search), []
    for number in range(max(map(len, texts), default=0)):
        is_there = np.array([number < len(row) for row in texts])
        scores = score_texts(search, [row[number] if number < len(row) else row[0] for row in texts])
        matrices.append(np.where(is_there[:, None], scores, -np.inf))
    return fused(search, matrices, candidates)


def lengthened(search: Search, kind: str) -> list[str]:
    """Each question with the written text of a kind (``keywords`` or ``expansion``) behind it."""
    return [" ".join([question, *map(terms, texts)]).strip() for question, texts in with_texts(search, kind)]


def score_lengthened(search: Search, candidates: np.ndarray, *, kind: str) -> np.ndarray:
    """Hybrid scores of the lengthened questions, shape (n_questions, n_chunks)."""
    return hybrid_scores(search, lengthened(search, kind), candidates)


def score_lengthened_dense(search: Search, candidates: np.ndarray, *, kind: str) -> np.ndarray:
    """Dense scores of the lengthened questions, shape (n_questions, n_chunks)."""
    return score_texts(search, lengthened(search, kind))
