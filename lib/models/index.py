"""The shared index: vectors of every chunk's windows, stored once, searched exactly, and mirrored in Chroma."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from lib.data.chunks import load_tokenizer, split_chunks
from lib.models.encoders import Encoder, Role
from lib.models.weights import fetch, weights_hash
from lib.store import digest_of
from lib.words import StudyError

SPECIAL_TOKENS = 2
WINDOWS_VERSION = 1  # raised when `split_chunks` gives something else


def _encoder(study) -> Encoder:
    settings = study.profile.embedder

    def load() -> Encoder:
        return Encoder(fetch(settings.weights), settings.window, settings.precision, settings.batch_size)

    return study.memo("encoder", load)


def windows(study) -> pd.DataFrame:
    """The windows that stand for each chunk: ``chunk`` (row of the chunk) and ``text``.

    ``long_chunks: windows`` cuts a chunk into windows that fit the encoder; ``truncate`` keeps its first window only.
    """
    settings = study.profile.embedder

    def split(target: Path) -> None:
        tokenizer = load_tokenizer(fetch(settings.weights))
        table = split_chunks(
            study.chunks, tokenizer, settings.window - SPECIAL_TOKENS, settings.window_overlap
        )
        if settings.long_chunks == "truncate":
            table = table.groupby("chunk", as_index=False).first()
        elif settings.long_chunks != "windows":
            raise StudyError(f"embedder.long_chunks is {settings.long_chunks!r}: say windows or truncate")
        table.to_parquet(target / "windows.parquet", index=False)

    def load() -> pd.DataFrame:
        read = {name: settings[name] for name in ("window", "window_overlap", "long_chunks")}
        params = {"chunks": study.chunks_digest, "tokenizer": weights_hash(settings.weights), **read}
        return pd.read_parquet(
            study.store.get("windows", params, split, WINDOWS_VERSION).path / "windows.parquet"
        )

    return study.memo("windows", load)


def encode_texts(study, stage: str, texts: Sequence[str], role: Role = "document") -> np.ndarray:
    """Unit vectors of texts, stored, shape (n_texts, dimension). A killed run goes on at the shard where it was."""
    settings = study.profile.embedder
    params = {
        "weights": weights_hash(settings.weights),
        "window": settings.window,
        "precision": settings.precision,
        "role": role,
        "texts": digest_of(list(texts)),
    }
    entry = study.store.shards(stage, params, texts, lambda part: _encoder(study).encode(part, role))
    return np.load(entry.path / "rows.npy", mmap_mode="r")


def window_vectors(study) -> tuple[np.ndarray, np.ndarray]:
    """The shared index: for every window the row of its chunk, and its unit vector (n_windows, dimension)."""

    def load() -> tuple[np.ndarray, np.ndarray]:
        table = windows(study)
        vectors = encode_texts(study, "embeddings/windows", table["text"].tolist())
        return table["chunk"].to_numpy(), np.asarray(vectors)

    return study.memo("window_vectors", load)


def encode_queries(study, texts: Sequence[str]) -> np.ndarray:
    """Unit vectors of questions or of other texts that stand for them, shape (n_texts, dimension)."""
    return np.asarray(encode_texts(study, "embeddings/queries", texts, role="query"))


def chroma_collection(study):
    """The index as a persistent Chroma collection, one record a window, cosine; built once, resumed when it is short.

    Chroma answers approximately (HNSW) and filters slowly, so published numbers come from the stored vectors
    themselves; this collection is for applications, and for the test that both agree.

    Raises:
        StudyError: the collection does not hold every window after it was built.
    """
    import chromadb

    owners, vectors = window_vectors(study)
    chunks = study.chunks
    name = "windows-" + digest_of([study.chunks_digest, dict(study.profile.embedder)])[:16]
    client = chromadb.PersistentClient(
        path=str(study.store.root / "chroma"), settings=chromadb.Settings(anonymized_telemetry=False)
    )
    collection = client.get_or_create_collection(
        name,
        configuration={
            "hnsw": {"space": "cosine", "ef_construction": 200, "ef_search": 200, "max_neighbors": 32}
        },
    )
    batch = client.get_max_batch_size()
    number = pd.Series(owners).groupby(owners).cumcount().to_numpy()
    for start in tqdm(
        range(collection.count(), len(vectors), batch), desc="chroma", unit="batch", mininterval=5
    ):
        rows = slice(start, start + batch)
        part = chunks.iloc[owners[rows]]
        collection.upsert(
            ids=[f"{chunk_id}#w{n:02d}" for chunk_id, n in zip(part["chunk_id"], number[rows], strict=True)],
            embeddings=vectors[rows],
            metadatas=part[["chunk_id", "doc_name", "page"]].to_dict("records"),
        )
    if collection.count() != len(vectors):
        raise StudyError(
            f"Chroma holds {collection.count()} of {len(vectors)} windows; remove {study.store.root / 'chroma'}"
        )
    return collection
