"""Cross-encoder reranking (Nogueira & Cho, 2019): the first chunks of another method, read again with the question.

A chunk that is longer than the cross-encoder's window is several windows, and scores as its best one.
"""

import hashlib

import numpy as np
from tqdm.auto import tqdm

from lib.data.chunks import load_tokenizer
from lib.keyed import KeyedScores
from lib.models.cross_encoder import load_cross_encoder, passages_of
from lib.models.weights import fetch, weights_hash

BATCH = 64


def pool_scores(study, pool, head_tokens: int | None = None) -> np.ndarray:
    """The cross-encoder's score of every chunk of a pool.

    Args:
        study: gives the questions, chunks, settings and the store, where each pair's score is kept.
        pool: a run.
        head_tokens: read only the first window of each chunk, of at most this many tokens with the question.

    Returns:
        Shape (len(pool),).
    """
    settings = study.profile.rerank
    texts = study.chunks.set_index("chunk_id")["text"]
    questions = study.questions.set_index("question_id")["question"]
    pairs = [(questions[row.question_id], texts[row.chunk_id]) for row in pool.itertuples()]
    keys = [hashlib.sha1(f"{question}\x1f{text}".encode()).hexdigest() for question, text in pairs]
    window = head_tokens or settings.window
    kind = f"{window}-head" if head_tokens else f"{window}"
    path = study.store.root / "rerank" / f"{weights_hash(settings.weights)}-{kind}.sqlite"

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

    def progress(batches):
        return tqdm(batches, desc="rerank", unit="batch", mininterval=5)

    rows = KeyedScores(path).fill(dict(zip(keys, pairs, strict=True)), compute, BATCH, progress)
    return np.array([rows[key][0] for key in keys])


def rescored(study, candidates: np.ndarray, first_stage: str) -> np.ndarray:
    """The matrix of cross-encoder scores of the first ``n`` chunks of another method; ``-inf`` elsewhere."""
    pool = study.rank_method(first_stage, candidates, study.profile.rerank.n)
    values = pool_scores(study, pool)
    scores = np.full(candidates.shape, -np.inf, np.float32)
    rows = study.questions.reset_index().set_index("question_id")["index"]
    columns = study.chunks.reset_index().set_index("chunk_id")["index"]
    scores[rows[pool["question_id"]].to_numpy(), columns[pool["chunk_id"]].to_numpy()] = values
    return scores


def score(study, candidates: np.ndarray) -> np.ndarray:
    """``dense``'s first chunks, rescored, shape (n_questions, n_chunks)."""
    return rescored(study, candidates, "dense")


def score_multi_hyde(study, candidates: np.ndarray) -> np.ndarray:
    """``multi_hyde``'s first chunks, rescored, shape (n_questions, n_chunks)."""
    return rescored(study, candidates, "multi_hyde")
