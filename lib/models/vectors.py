"""Unit vectors of a study's texts: those of its chunk tables are in the index, those of lists in the cache."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from tokenizers import Tokenizer
from tqdm.auto import tqdm

from lib.data.chunks import split_chunks
from lib.data.locate import named_apart
from lib.files import digest_of
from lib.method import Search, memoized
from lib.models.encoders import VERSION, Encoder, OnnxEncoder, Role, load_encoder, precision_of_rows
from lib.models.index import Index, open_index
from lib.models.weights import fetch, weights_hash
from lib.settings import SPECIAL_TOKENS

WINDOW = ("window", "window_overlap", "long_chunks")  # settings of the embedder
WINDOWS_VERSION = 1  # raised when `split_chunks` gives something else


@memoized
def windows(study: Search) -> pd.DataFrame:
    """The windows that represent each chunk: ``chunk`` (row of the chunk) and ``text``.

    ``long_chunks: windows`` cuts a chunk into windows that fit the encoder; ``truncate`` keeps its first window only.
    """
    settings = study.profile.embedder
    options = {name: settings[name] for name in WINDOW}
    params = options | {"tokenizer": weights_hash(settings.weights), "chunks": study.digest("chunks")}

    def make() -> pd.DataFrame:
        return windows_of(study.chunks, study.tokenizer, **options)

    return study.store.frame("windows", params, make, WINDOWS_VERSION)


def windows_of(
    chunks: pd.DataFrame, tokenizer: Tokenizer, window: int, window_overlap: int, long_chunks: str
) -> pd.DataFrame:
    """The windows of chunks, see :func:`windows`."""
    table = split_chunks(chunks, tokenizer, window - SPECIAL_TOKENS, window_overlap)[["chunk", "text"]]
    return table.groupby("chunk", as_index=False).first() if long_chunks == "truncate" else table


@memoized
def _encoder(study: Search, weights: Path, window: int, section: str) -> Encoder | OnnxEncoder:
    settings = study.profile[section]
    return load_encoder(weights, window, settings.precision, settings.batch_size)


def encode_texts(
    study: Search,
    stage: str,
    texts: Sequence[str],
    role: Role = "document",
    is_pinned: bool = False,
    window: int | None = None,
    model: tuple[Callable[[], Path], str] | None = None,
    section: str = "embedder",
) -> np.ndarray:
    """Unit vectors of a list of texts, kept text by text: float32, shape (n_texts, dimension).

    Vectors depend a little on what shares their batch: pinned ones belong to this list alone, such as queries.
    ``model`` gives a directory where a vector is missing, and what identifies it; it and ``window``, the tokens that
    are read of a text, are by default those of a ``section`` of the profile, which names an encoder.
    """
    settings, listed = study.profile[section], digest_of(list(texts))
    weights, digest = model or (partial(fetch, settings.weights), weights_hash(settings.weights))
    window = window or settings.window
    space = {"model": digest, "version": VERSION, "window": window, "role": role, "precision": settings.precision}
    space |= {"list": listed} if is_pinned else {}
    rows, different = pd.factorize(np.asarray(texts, object))
    items = [(str(row), text) for row, text in enumerate(different)] if is_pinned else different.tolist()
    encoder = cache(lambda: _encoder(study.with_chunks(""), weights(), window, section))

    def encode(part: list) -> np.ndarray:
        return encoder().encode([item[1] for item in part] if is_pinned else part, role)

    rows_space = space | {"precision": precision_of_rows(settings.precision)}
    vectors = partial(study.cache.rows, rows_space, items, encode, label=stage)
    # the entry records the time of encoding, which manifests publish; the vectors are in the cache
    study.store.frame(stage, space | {"texts": listed}, lambda: {"shape": vectors().shape})
    return vectors()[rows] if len(rows) else vectors()


def encode_queries(study: Search, texts: Sequence[str], section: str = "embedder") -> np.ndarray:
    """Unit vectors of questions or of other texts used in their place, shape (n_texts, dimension)."""
    return encode_texts(study, "embeddings/queries", texts, "query", is_pinned=True, section=section)


def collection_name(table: str, root: Path, settings: object, precision: str) -> str:
    """The name of the collection of a chunk table of the filings in a folder, cut and encoded by these settings."""
    return f"{table}-{digest_of([named_apart(root), settings, precision_of_rows(precision), VERSION])[:16]}"


def filing_digest(chunk_ids: Sequence[str], texts: Sequence[str]) -> str:
    """What the vectors of a filing's windows are made from, 20 hex digits."""
    return digest_of([list(chunk_ids), list(texts)])[:20]


def encode_filing(encoder: Encoder | OnnxEncoder, texts: Sequence[str]) -> np.ndarray:
    """Unit vectors of the windows of one filing, of which each text is read once: float32, (n_texts, dimension)."""
    rows, different = pd.factorize(np.asarray(texts, object))
    return encoder.encode(different.tolist(), "document")[rows]


@contextmanager
def chunk_index(
    study: Search,
    table: str,
    chunks: Sequence[int],
    texts: Sequence[str],
    window: int | None = None,
    sections: Sequence[str] = (),
    section: str = "embedder",
) -> Iterator[tuple[Index, np.ndarray]]:
    """The open collection of spans of a study's chunks, and their unit vectors (n_texts, dimension), float32.

    A filing that is missing, damaged or has other texts is encoded and written alone, so that a killed run resumes.

    Args:
        table: names the collection.
        chunks, texts: the row of the chunk that each span is of, not falling within a filing, and its text.
        window: tokens that are read of a text; by default the profile's.
        sections: of the profile, which spans depend on beside ``chunks`` and the next.
        section: that which names the encoder.
    """
    settings = study.profile[section]
    window = window or settings.window
    spans = study.chunks[["doc_name", "chunk_id"]].iloc[chunks].assign(text=list(texts))
    rows = spans.groupby("doc_name", sort=False).indices
    filings = {name: spans.iloc[of_filing] for name, of_filing in rows.items()}
    digests = {name: filing_digest(spans["chunk_id"], spans["text"]) for name, spans in filings.items()}
    cut_by = study.settings_of(("chunks", section, *sections))
    name = collection_name(table, study.dataset.root, cut_by, settings.precision)
    with open_index(name, study.index_folder, say=study.store.say) as index:
        indexed = index.filings()
        unchanged = index.read([name for name, digest in digests.items() if indexed.get(name) == digest])
        encoded = {name: vectors for name, (_, vectors) in unchanged.items()}
        missing = [name for name in filings if name not in encoded]
        encoder = cache(lambda: _encoder(study.with_chunks(""), fetch(settings.weights), window, section))
        for name in tqdm(missing, desc=table, unit="filing", mininterval=5, disable=not missing):
            encoded[name] = encode_filing(encoder(), filings[name]["text"])
            index.put(name, digests[name], filings[name]["chunk_id"].tolist(), encoded[name])
        vectors = np.zeros((len(spans), next(iter(encoded.values())).shape[1] if encoded else 0), np.float32)
        for name, of_filing in rows.items():
            vectors[of_filing] = encoded[name]
        yield index, vectors


def chunk_vectors(study: Search, table: str, chunks: Sequence[int], texts: Sequence[str], **given) -> np.ndarray:
    """The vectors of :func:`chunk_index`, which has the arguments."""

    def read() -> np.ndarray:
        with chunk_index(study, table, chunks, texts, **given) as (_, vectors):
            return vectors

    read = cache(read)
    settings, texts = study.profile[given.get("section", "embedder")], list(texts)
    params = {"model": weights_hash(settings.weights), "version": VERSION, "role": "document"}
    params |= {"window": given.get("window") or settings.window, "precision": settings.precision}
    # the entry records the time of encoding, which manifests publish; the vectors are in the index
    study.store.frame(f"embeddings/{table}", params | {"texts": digest_of(texts)}, lambda: {"shape": read().shape})
    return read()


def of_windows(study: Search) -> tuple[str, np.ndarray, list[str]]:
    """What :func:`chunk_index` takes of the windows of the chunks that are searched: table, chunks, texts."""
    table = windows(study)
    return study.chunking or "windows", table["chunk"].to_numpy(), table["text"].tolist()


@memoized
def window_vectors(study: Search) -> tuple[np.ndarray, np.ndarray]:
    """For every window the row of its chunk, and its unit vector (n_windows, dimension)."""
    name, chunks, texts = of_windows(study)
    return chunks, chunk_vectors(study, name, chunks, texts)
