"""The shared index: vectors of every chunk's windows, kept by text, searched exactly."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from lib.data.chunks import split_chunks
from lib.files import digest_of
from lib.method import Search, remembered, stored
from lib.models.encoders import VERSION, Encoder, OnnxEncoder, Role, kept_precision, load_encoder
from lib.models.weights import fetch, weights_hash
from lib.profile import SPECIAL_TOKENS

WINDOWS_VERSION = 1  # raised when `split_chunks` gives something else


@remembered
def windows(study: Search) -> pd.DataFrame:
    """The windows that represent each chunk: ``chunk`` (row of the chunk) and ``text``.

    ``long_chunks: windows`` cuts a chunk into windows that fit the encoder; ``truncate`` keeps its first window only.
    """
    settings = study.profile.embedder
    about = {name: settings[name] for name in ("window", "window_overlap", "long_chunks")}
    return _windows(study, tokenizer=weights_hash(settings.weights), **about)


@stored("windows", on=["chunks"], version=WINDOWS_VERSION)
def _windows(study: Search, tokenizer: str, window: int, window_overlap: int, long_chunks: str) -> pd.DataFrame:
    table = split_chunks(study.chunks, study.tokenizer, window - SPECIAL_TOKENS, window_overlap)
    return table.groupby("chunk", as_index=False).first() if long_chunks == "truncate" else table


@remembered
def _encoder(study: Search, weights: Path, window: int) -> Encoder | OnnxEncoder:
    return load_encoder(weights, window, study.profile.embedder.precision, study.profile.embedder.batch_size)


def encode_texts(
    study: Search,
    stage: str,
    texts: Sequence[str],
    role: Role = "document",
    is_pinned: bool = False,
    window: int | None = None,
    model: tuple[Callable[[], Path], str] | None = None,
) -> np.ndarray:
    """Unit vectors of texts, kept text by text: float32, shape (n_texts, dimension).

    Vectors depend a little on what shares their batch: pinned ones belong to this list alone, of which each text is
    read once, such as queries or children. ``model`` gives a directory where a vector is missing, and what identifies
    it; it and ``window``, the tokens that are read of a text, are by default the profile's.
    """
    settings, listed = study.profile.embedder, digest_of(list(texts))
    weights, digest = model or (partial(fetch, settings.weights), weights_hash(settings.weights))
    window = window or settings.window
    space = {"model": digest, "version": VERSION, "window": window, "role": role, "precision": settings.precision}
    space |= {"list": listed} if is_pinned else {}
    items = [(str(row), text) for row, text in enumerate(texts)] if is_pinned else texts
    encoder = cache(lambda: _encoder(study.over(""), weights(), window))

    def encode(part: list) -> np.ndarray:
        return encoder().encode([item[1] for item in part] if is_pinned else part, role)

    kept = space | {"precision": kept_precision(settings.precision)}
    vectors = partial(study.cache.rows, kept, items, encode, label=stage)
    # the entry says how long it took, and that it is done; the vectors themselves are in the cache
    study.store.kept(stage, space | {"texts": listed}, lambda: {"shape": vectors().shape})
    return vectors()


def text_vectors(
    study: Search, stage: str, texts: Sequence[str], role: Role = "document", window: int | None = None, **given
) -> np.ndarray:
    """One unit vector a text (n_texts, dimension), each different text encoded once; see :func:`encode_texts`.

    A vector's last bits depend on the list that is encoded first. So the study's own windows come before other chunk
    tables, whatever is asked for first: a text of both that is not pinned has the vector that it has there.
    """
    if study.chunking and window in (None, study.profile.embedder.window) and not given:
        with study.store.unasked():
            window_vectors(study.over(""))
    rows, different = pd.factorize(np.asarray(texts, object))
    return encode_texts(study, stage, different.tolist(), role, window=window, **given)[rows]


@remembered
def window_vectors(study: Search) -> tuple[np.ndarray, np.ndarray]:
    """For every window the row of its chunk, and its unit vector (n_windows, dimension)."""
    table = windows(study)
    encode, name = (text_vectors, study.chunking) if study.chunking else (encode_texts, "windows")
    return table["chunk"].to_numpy(), encode(study, f"embeddings/{name}", table["text"].tolist())


def encode_queries(study: Search, texts: Sequence[str]) -> np.ndarray:
    """Unit vectors of questions or of other texts used in their place, shape (n_texts, dimension)."""
    return encode_texts(study, "embeddings/queries", texts, "query", is_pinned=True)
