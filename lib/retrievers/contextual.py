"""Contextual retrieval: every chunk is searched with a context of its filing before it (Anthropic, 2024).

The chunks that are found stay as they are; only what stands for them in the index has the context before it. Akarsu et
al. (2026) search such an index with vectors (``contextual_dense``) and fuse that with BM25 (``contextual_hybrid``).
"""

import numpy as np
import pandas as pd

from lib import runs
from lib.data.chunks import load_tokenizer, split_chunks
from lib.models.index import SPECIAL_TOKENS, encode_queries, encode_texts
from lib.models.weights import fetch
from lib.retrievers.bm25 import BM25, tokenize
from lib.retrievers.dense import best_window_scores
from lib.retrievers.filing_context import Context, contexts
from lib.retrievers.fusion import fused_scores

MAX_PREFIX = 96  # tokens of a context; the rest of a window is left to the chunk


def header_inputs(study) -> dict[str, str]:
    """What the ``header`` rows depend on beside settings: the headers, by doc_name."""
    return contexts(study, "header")


def written_inputs(study) -> dict[str, str]:
    """What the ``written`` rows depend on beside settings: what was written, by doc_name."""
    return contexts(study, "written")


def prefixed_windows(study, context: Context) -> pd.DataFrame:
    """The windows of every chunk, re-cut so that the context and a window fit the encoder together.

    Returns:
        chunk (row of the chunk) and text (context, newline, window), in order of the chunks.
    """
    settings = study.profile.embedder
    tokenizer = load_tokenizer(fetch(settings.weights))
    prefixes = {doc: _cut(text, tokenizer) for doc, text in contexts(study, context).items()}
    parts = []
    for doc_name, rows in study.chunks.groupby("doc_name", sort=False).groups.items():
        n_prefix = len(tokenizer.encode(prefixes[doc_name], add_special_tokens=False).ids)
        room = settings.window - SPECIAL_TOKENS - n_prefix
        part = split_chunks(study.chunks.loc[rows], tokenizer, room, settings.window_overlap)
        owners = rows.to_numpy()[part["chunk"]]
        parts.append(pd.DataFrame({"chunk": owners, "text": prefixes[doc_name] + "\n" + part["text"]}))
    return pd.concat(parts, ignore_index=True).sort_values("chunk", kind="stable", ignore_index=True)


def _cut(text: str, tokenizer) -> str:
    """The text's first MAX_PREFIX tokens."""
    offsets = tokenizer.encode(text, add_special_tokens=False).offsets
    return text[: offsets[MAX_PREFIX - 1][1]] if len(offsets) > MAX_PREFIX else text


def window_vectors(study, context: Context) -> tuple[np.ndarray, np.ndarray]:
    """For every prefixed window the row of its chunk, and its unit vector (n_windows, dimension)."""

    def load() -> tuple[np.ndarray, np.ndarray]:
        table = prefixed_windows(study, context)
        vectors = encode_texts(study, f"embeddings/contextual-{context}", table["text"].tolist())
        return table["chunk"].to_numpy(), np.asarray(vectors)

    return study.memo(("contextual_vectors", context), load)


def bm25_index(study, context: Context) -> BM25:
    """BM25 over the chunks, each with its filing's context before it, built once a process."""

    def build() -> BM25:
        prefix = study.chunks["doc_name"].map(contexts(study, context))
        settings = study.profile.bm25
        texts = [tokenize(text) for text in prefix + "\n" + study.chunks["text"]]
        return BM25(texts, settings.k1, settings.b)

    return study.memo(("contextual_bm25", context), build)


def score_dense(study, candidates: np.ndarray, *, context: Context) -> np.ndarray:
    """Cosine between the question and each chunk's best prefixed window, shape (n_questions, n_chunks)."""
    owners, vectors = window_vectors(study, context)
    queries = encode_queries(study, study.questions["question"].tolist())
    return best_window_scores(queries, vectors, owners, len(study.chunks))


def score_hybrid(study, candidates: np.ndarray, *, context: Context) -> np.ndarray:
    """RRF of contextual dense and contextual BM25, ranked among the candidates, shape (n_questions, n_chunks)."""
    settings, model = study.profile.hybrid_rrf, bm25_index(study, context)
    sparse = np.stack([model.scores(tokenize(question)) for question in study.questions["question"]])
    matrices = score_dense(study, candidates, context=context), sparse
    lists = [
        runs.rank(np.where(candidates, scores, -np.inf), study.questions, study.chunks, settings.depth)
        for scores in matrices
    ]
    return fused_scores(study, lists, settings.k_rrf)
