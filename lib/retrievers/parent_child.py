"""Parent-child retrieval: small children are searched, their parents are returned.

A child is a short span of a chunk, the chunk is its parent, and a parent scores as its best child (small-to-big
retrieval; Yang, 2023). Children are embedded apart from the shared index's windows.
"""

import numpy as np

from lib.data.chunks import load_tokenizer, split_chunks
from lib.models.index import encode_queries, encode_texts
from lib.models.weights import fetch
from lib.retrievers.dense import best_window_scores


def children(study):
    """The children of every chunk: ``chunk`` (row of the parent) and ``text``, in order; the same at every call."""
    settings = study.profile.parent_child

    def split():
        tokenizer = load_tokenizer(fetch(study.profile.embedder.weights))
        return split_chunks(study.chunks, tokenizer, settings.size, settings.overlap)

    return study.memo("children", split)


def score(study, candidates: np.ndarray) -> np.ndarray:
    """Cosine between the question and each chunk's best child, shape (n_questions, n_chunks)."""
    table = children(study)
    vectors = np.asarray(encode_texts(study, "embeddings/children", table["text"].tolist()))
    queries = encode_queries(study, study.questions["question"].tolist())
    return best_window_scores(queries, vectors, table["chunk"].to_numpy(), candidates.shape[1])
