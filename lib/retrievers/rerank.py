"""Cross-encoder reranking (Nogueira & Cho, 2019): the first chunks of another method, read again with the question.

A chunk that is longer than the cross-encoder's window is several windows, and scores as its best one. Where Akarsu et
al. (2026) rerank whole documents to several depths, only the first HEAD_TOKENS tokens of question and chunk are read.
"""

import numpy as np
import pandas as pd
from tokenizers import Tokenizer

from lib import runs
from lib.data.chunks import load_tokenizer
from lib.method import Search, memoized
from lib.models.cross_encoder import VERSION, OnnxCrossEncoder, TorchCrossEncoder, load_cross_encoder, passages_of
from lib.models.weights import fetch, weights_hash

BATCH = 64
HEAD_TOKENS = 256


@memoized
def cross_encoder(search: Search, window: int) -> tuple[OnnxCrossEncoder | TorchCrossEncoder, Tokenizer]:
    """The profile's model and its tokenizer."""
    weights = fetch(search.profile.rerank.weights)
    return load_cross_encoder(weights, window), load_tokenizer(weights)


def pool_scores(search: Search, pool: pd.DataFrame, head_tokens: int | None = None) -> np.ndarray:
    """The cross-encoder's score of every row of a run, shape (len(pool),); kept pair by pair.

    ``head_tokens``: read only the first window of each chunk, of at most this many tokens with the question.
    """
    window, is_head = head_tokens or search.profile.rerank.window, head_tokens is not None
    model = weights_hash(search.profile.rerank.weights)
    space = {"model": model, "version": VERSION, "window": window, "is_head": is_head}
    texts = search.chunks.set_index("chunk_id")["text"].loc[pool["chunk_id"]]
    questions = search.questions.set_index("question_id")["question"].loc[pool["question_id"]]
    pairs = list(zip(questions, texts, strict=True))

    def compute(pairs: list[tuple[str, str]]) -> np.ndarray:
        model, tokenizer = cross_encoder(search.with_chunks(""), window)
        passages = [passages_of(*pair, tokenizer, window)[: 1 if is_head else None] for pair in pairs]
        flat = [(pair[0], text) for pair, part in zip(pairs, passages, strict=True) for text in part]
        starts = np.cumsum([0, *map(len, passages[:-1])])
        return np.maximum.reduceat(np.asarray(model.scores(flat), float), starts)

    return search.cache.rows(space, pairs, compute, BATCH, np.float64, "rerank").reshape(-1)


def score(
    search: Search, candidates: np.ndarray, *, first_stage: str = "dense", n: int = 0, head_tokens: int | None = None
) -> np.ndarray:
    """The first ``n`` chunks (by default the profile's) of another method rescored, (n_questions, n_chunks).

    What was not read is ``-inf``; ``head_tokens``: see :func:`pool_scores`.
    """
    pool = search.rank_method(first_stage, candidates, n or search.profile.rerank.n)
    return runs.to_matrix(pool, search.questions, search.chunks, pool_scores(search, pool, head_tokens))
