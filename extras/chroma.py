"""The shared index as a Chroma collection, for applications that search it."""

import chromadb
import pandas as pd

from lib.files import digest_of
from lib.models.index import window_vectors
from lib.study import Study
from lib.words import StudyError


def chroma_collection(study: Study) -> chromadb.Collection:
    """The index as a persistent Chroma collection, one record per window, cosine; built once, resumed when it is short.

    Chroma answers approximately (HNSW) and filters slowly, so published numbers come from exact search; this
    collection is for applications, and for the test that both agree.

    Raises:
        StudyError: the collection does not contain every window after it was built.
    """
    owners, vectors = window_vectors(study)
    place = study.store.root.parent / "chroma"
    client = chromadb.PersistentClient(str(place), chromadb.Settings(anonymized_telemetry=False))
    hnsw = {"space": "cosine", "ef_construction": 200, "ef_search": 200, "max_neighbors": 32}
    name = "windows-" + digest_of([study.digest("chunks"), dict(study.profile.embedder)])[:16]
    collection = client.get_or_create_collection(name, configuration={"hnsw": hnsw})
    number = pd.Series(owners).groupby(owners).cumcount().to_numpy()
    batch = client.get_max_batch_size()
    for start in range(collection.count(), len(vectors), batch):
        rows = slice(start, start + batch)
        part = study.chunks.iloc[owners[rows]]
        ids = [f"{chunk}#w{n:02d}" for chunk, n in zip(part["chunk_id"], number[rows], strict=True)]
        about = part[["chunk_id", "doc_name", "page"]].to_dict("records")
        collection.upsert(ids=ids, embeddings=vectors[rows], metadatas=about)
    if collection.count() != len(vectors):
        raise StudyError(f"Chroma contains {collection.count()} of {len(vectors)} windows; remove {place}")
    return collection
