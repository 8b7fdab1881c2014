"""Cross-encoder reranking (Nogueira & Cho, 2019): the first chunks of another method, read again with the question.

A chunk that is longer than the cross-encoder's window is several windows, and scores as its best one. Where Akarsu et
al. (2026) rerank whole documents to several depths, only the first HEAD_TOKENS tokens of question and chunk are read.
"""

import numpy as np
import pandas as pd

from lib import runs
from lib.data.chunks import load_tokenizer
from lib.method import Search
from lib.models.cross_encoder import VERSION, load_cross_encoder, passages_of
from lib.models.weights import fetch, weights_hash

BATCH = 64
HEAD_TOKENS = 256


def pool_scores(study: Search, pool: pd.DataFrame, head_tokens: int | None = None) -> np.ndarray:
    """The cross-encoder's score of every row of a run, shape (len(pool),); kept pair by pair.

    ``head_tokens``: read only the first window of each chunk, of at most this many tokens with the question.
    """
    settings = study.profile.rerank
    window = head_tokens or settings.window
    space = {"model": weights_hash(settings.weights), "version": VERSION}
    space |= {"window": window, "is_head": head_tokens is not None}
    texts = study.chunks.set_index("chunk_id")["text"].loc[pool["chunk_id"]]
    questions = study.questions.set_index("question_id")["question"].loc[pool["question_id"]]
    pairs = list(zip(questions, texts, strict=True))

    def compute(pairs: list[tuple[str, str]]) -> np.ndarray:
        weights, memo = fetch(settings.weights), study.over("").memo
        model = memo(("cross_encoder", window), lambda: load_cross_encoder(weights, window))
        tokenizer = memo("cross_encoder_tokenizer", lambda: load_tokenizer(weights))
        passages = [passages_of(*pair, tokenizer, window)[: 1 if head_tokens else None] for pair in pairs]
        flat = [(pair[0], text) for pair, part in zip(pairs, passages, strict=True) for text in part]
        starts = np.cumsum([0, *map(len, passages[:-1])])
        return np.maximum.reduceat(np.asarray(model.scores(flat), float), starts)

    return study.cache.rows(space, pairs, compute, BATCH, np.float64, "rerank").reshape(-1)


def score(
    study: Search,
    candidates: np.ndarray,
    *,
    first_stage: str = "dense",
    n: int | None = None,
    head_tokens: int | None = None,
) -> np.ndarray:
    """The first ``n`` chunks of another method rescored, shape (n_questions, n_chunks); ``-inf`` for what was not read.

    ``n`` is the profile's if it is not given; ``head_tokens``: see :func:`pool_scores`.
    """
    pool = study.rank_method(first_stage, candidates, study.profile.rerank.n if n is None else n)
    return runs.to_matrix(pool, study.questions, study.chunks, pool_scores(study, pool, head_tokens))
