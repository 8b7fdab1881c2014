"""Cross-encoder reranking (Nogueira & Cho, 2019): the first chunks of another method, read again with the question.

A chunk that is longer than the cross-encoder's window is several windows, and scores as its best one. Where Akarsu et
al. (2026) rerank to several depths, only the first HEAD_TOKENS tokens of question and chunk are read: a third of the
time of reading every window, and no worse in chapter 03's measurement.
"""

import numpy as np

from lib import runs
from lib.data.chunks import load_tokenizer
from lib.models.cross_encoder import VERSION, load_cross_encoder, passages_of
from lib.models.weights import fetch, weights_hash
from lib.study import Study

BATCH = 64
HEAD_TOKENS = 256


def pool_scores(study: Study, pool, head_tokens: int | None = None) -> np.ndarray:
    """The cross-encoder's score of every chunk of a pool.

    Args:
        study: gives the questions, chunks, settings and the cache, where each pair's score is kept.
        pool: a run.
        head_tokens: read only the first window of each chunk, of at most this many tokens with the question.

    Returns:
        Shape (len(pool),).
    """
    settings = study.profile.rerank
    texts = study.chunks.set_index("chunk_id")["text"]
    questions = study.questions.set_index("question_id")["question"]
    pairs = [(questions[row.question_id], texts[row.chunk_id]) for row in pool.itertuples()]
    window = head_tokens or settings.window
    model = {"model": weights_hash(settings.weights), "version": VERSION}
    space = model | {"window": window, "is_head": head_tokens is not None}

    def compute(items: list[tuple[str, str]]) -> list[float]:
        weights = fetch(settings.weights)
        model = study.memo(("cross_encoder", window), lambda: load_cross_encoder(weights, window))
        tokenizer = study.memo("cross_encoder_tokenizer", lambda: load_tokenizer(weights))
        passages = [passages_of(question, text, tokenizer, window) for question, text in items]
        passages = [part[:1] for part in passages] if head_tokens else passages
        owners = np.repeat(np.arange(len(items)), [len(part) for part in passages])
        flat = [
            (question, text) for (question, _), part in zip(items, passages, strict=True) for text in part
        ]
        best = np.full(len(items), -np.inf)
        np.maximum.at(best, owners, model.scores(flat))
        return best

    return study.cache.rows(space, pairs, compute, BATCH, np.float64, "rerank").reshape(-1)


def score(
    study: Study,
    candidates: np.ndarray,
    *,
    first_stage: str = "dense",
    n: int | None = None,
    head_tokens: int | None = None,
) -> np.ndarray:
    """The first chunks of another method, rescored.

    Args:
        study: gives questions, chunks and settings.
        candidates: what the first stage may rank, boolean, shape (n_questions, n_chunks).
        first_stage: name of that method.
        n: how many of its chunks are read; the profile's ``rerank.n`` if not given.
        head_tokens: see :func:`pool_scores`.

    Returns:
        Shape (n_questions, n_chunks); ``-inf`` for a chunk that was not read.
    """
    pool = study.rank_method(first_stage, candidates, study.profile.rerank.n if n is None else n)
    pool = pool.assign(score=pool_scores(study, pool, head_tokens))
    return runs.to_matrix(pool, study.questions, study.chunks)
