"""Element chunks searched by their text and by their metadata (Yepes et al., 2024): the better of both counts."""

import numpy as np

from lib.chunkings.metadata import metadata_of
from lib.models.index import encode_texts
from lib.retrievers import dense
from lib.study import Study


def metadata_vectors(study: Study) -> tuple[list[int], np.ndarray]:
    """The chunks that have metadata, and its unit vectors, shape (n_with_metadata, dimension)."""

    def load() -> tuple[list[int], np.ndarray]:
        texts = metadata_of(study.chunks["text"].tolist())
        said = [number for number, text in enumerate(texts) if text]
        if not said:
            return said, np.zeros((0, 0), np.float32)
        vectors = encode_texts(study.base, "embeddings/metadata", [texts[number] for number in said])
        return said, np.asarray(vectors)

    return study.memo("metadata_vectors", load)


def score(study: Study, candidates: np.ndarray) -> np.ndarray:
    """The larger cosine of a chunk's windows and its metadata, shape (n_questions, n_chunks)."""
    scores = dense.score(study, candidates)
    said, vectors = metadata_vectors(study)
    if said:
        scores[:, said] = np.maximum(scores[:, said], dense.question_vectors(study) @ vectors.T)
    return scores
