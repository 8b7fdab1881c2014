"""Element chunks searched by their text and by their metadata (Yepes et al., 2024): the better of both counts.

A chunk's metadata are its keywords, its first two sentences and a summary. Theirs are written by a language model.
Ours are found in the text: keywords are the terms with the highest TF-IDF, and the summary is the sentence that is
nearest to the whole chunk. They are one short text, embedded beside the chunk's own windows; a chunk that is hardly
longer than that text has none.
"""

import re
from collections.abc import Sequence

import numpy as np

from lib.models.index import encode_texts
from lib.retrievers import dense
from lib.study import Study

N_KEYWORDS = 6
MAX_SENTENCE = 200
MIN_CHARACTERS = 600
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z“\"(])|\n\s*\n")
TERM = r"(?u)\b[a-zA-Z][a-zA-Z&-]{2,}\b"


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, each with single spaces and cut to :data:`MAX_SENTENCE` characters."""
    found = (" ".join(piece.split()) for piece in SENTENCE.split(text))
    return [sentence[:MAX_SENTENCE] for sentence in found if sentence]


def metadata_of(texts: Sequence[str]) -> list[str]:
    """Keywords, summary and first two sentences of each chunk, as one text; empty for a short chunk."""
    long = [number for number, text in enumerate(texts) if len(text) >= MIN_CHARACTERS]
    found = [""] * len(texts)
    if not long:
        return found
    from sklearn.feature_extraction.text import TfidfVectorizer

    weigher = TfidfVectorizer(token_pattern=TERM, stop_words="english", sublinear_tf=True, dtype=np.float32)
    weights = weigher.fit_transform(texts)
    terms = weigher.get_feature_names_out()
    sentences = [sentences_of(texts[number]) for number in long]
    flat = [sentence for parts in sentences for sentence in parts]
    owners = np.repeat(long, [len(parts) for parts in sentences])
    cosines = np.asarray(weigher.transform(flat).multiply(weights[owners]).sum(axis=1)).ravel()
    ends = np.cumsum([len(parts) for parts in sentences])
    for number, parts, near in zip(long, sentences, np.split(cosines, ends[:-1]), strict=True):
        summary = parts[int(np.argmax(near))]  # the nearest to the whole chunk, the first of equals
        said = " ".join(dict.fromkeys([summary, *parts[:2]]))
        found[number] = f"{', '.join(keywords(weights[[number]], terms))}. {said}".strip(". ")
    return found


def keywords(row, terms: np.ndarray) -> list[str]:
    """The terms of a text with the highest weights, from a sparse row (1, n_terms); ties in alphabetical order."""
    best = sorted(zip(-row.data, row.indices, strict=True))[:N_KEYWORDS]
    return [str(terms[term]) for _, term in best]


def score(study: Study, candidates: np.ndarray) -> np.ndarray:
    """The larger cosine of a chunk's windows and its metadata, shape (n_questions, n_chunks)."""
    scores = dense.score(study, candidates)
    texts = study.memo("metadata", lambda: metadata_of(study.chunks["text"].tolist()))
    said = [number for number, text in enumerate(texts) if text]
    if said:
        vectors = encode_texts(study, "embeddings/metadata", [texts[number] for number in said])
        scores[:, said] = np.maximum(scores[:, said], dense.question_vectors(study) @ vectors.T)
    return scores
