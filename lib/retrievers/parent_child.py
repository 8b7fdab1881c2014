"""Parent-child retrieval: small children are searched, their parents are returned.

A child is a short span of a chunk, the chunk is its parent, and a parent scores as its best child (small-to-big
retrieval; Yang, 2023). Children are embedded apart from the shared index's windows.
"""

import numpy as np

from lib.chunkings.sizes import child_vectors, children
from lib.retrievers.dense import best_window_scores, question_vectors
from lib.study import Study


def score(study: Study, candidates: np.ndarray) -> np.ndarray:
    """Cosine between the question and each chunk's best child, shape (n_questions, n_chunks)."""
    owners, vectors = children(study)["chunk"].to_numpy(), child_vectors(study)
    return best_window_scores(question_vectors(study), vectors, owners, candidates.shape[1])
