"""One search interface over windows' vectors: exact in memory, Chroma embedded or as a server, LanceDB on disk.

All filters are applied before the search: a filter over what a search found loses results.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd

from lib.words import StudyError

FIELDS = ("doc_name", "company", "year")


class Found(NamedTuple):
    """The best windows of a search: their rows in the index and their cosines, falling."""

    rows: np.ndarray
    scores: np.ndarray


class VectorStore(Protocol):
    """An index of unit vectors and FIELDS of their filings."""

    def add(self, vectors: np.ndarray, about: pd.DataFrame, start: int = 0) -> None:
        """Add vectors (n, dimension) as the rows from ``start``; ``about`` has FIELDS."""

    def count(self) -> int:
        """How many rows are there; a build that was killed goes on from here."""

    def finish(self) -> None:
        """Build what the store searches by, once all rows are there."""

    def search(self, vector: np.ndarray, k: int, where: Mapping[str, object] | None = None) -> Found:
        """The best k rows for a unit vector (dimension,) among those whose FIELDS have the values of ``where``."""


class Exact:
    """All vectors in memory, compared one by one."""

    def __init__(self):
        self.vectors, self.about = np.zeros((0, 0), np.float32), pd.DataFrame(columns=[*FIELDS])

    def add(self, vectors: np.ndarray, about: pd.DataFrame, start: int = 0) -> None:
        """As :class:`VectorStore`."""
        first = start == 0
        self.vectors = vectors if first else np.concatenate([self.vectors[:start], vectors])
        about = about[[*FIELDS]]
        self.about = about if first else pd.concat([self.about[:start], about], ignore_index=True)

    def finish(self) -> None:
        """Nothing is left to do."""

    def count(self) -> int:
        """As :class:`VectorStore`."""
        return len(self.vectors)

    def search(self, vector: np.ndarray, k: int, where: Mapping[str, object] | None = None) -> Found:
        """As :class:`VectorStore`."""
        rows = np.arange(len(self.vectors))
        if where:
            fits = np.logical_and.reduce(
                [self.about[name].to_numpy() == value for name, value in where.items()]
            )
            rows = rows[fits]
        scores = self.vectors[rows] @ vector
        best = np.argsort(-scores, kind="stable")[:k]
        return Found(rows[best], scores[best])


class Chroma:
    """A Chroma collection, cosine, in a folder or on the server at an address such as ``localhost:8000``.

    HNSW is approximate, the more so under a filter: ``ef_search`` candidates are looked at.

    Raises:
        StudyError: no server answers at the address.
    """

    HNSW = {"space": "cosine", "ef_construction": 200, "ef_search": 200, "max_neighbors": 32}  # noqa: RUF012

    def __init__(self, name: str, folder: Path | None = None, address: str = ""):
        import chromadb

        settings = chromadb.Settings(anonymized_telemetry=False)
        self.address = address
        if address:
            host, _, port = address.rpartition(":")
            client = self._asked(lambda: chromadb.HttpClient(host, int(port), settings=settings))
        else:
            client = chromadb.PersistentClient(str(folder), settings)
        self.batch = self._asked(client.get_max_batch_size)
        make = client.get_or_create_collection
        self.collection = self._asked(lambda: make(name, configuration={"hnsw": self.HNSW}))

    def _asked(self, request: Callable[[], object]) -> object:
        """What a request gives; a server that is gone is one sentence."""
        try:
            return request()
        except Exception as error:
            if not self.address:
                raise
            lost = f"no Chroma server answers at {self.address} ({type(error).__name__})"
            raise StudyError(f"{lost}; start it: chroma run --path FOLDER, then run again") from None

    def add(self, vectors: np.ndarray, about: pd.DataFrame, start: int = 0) -> None:
        """As :class:`VectorStore`."""
        records = about[[*FIELDS]].to_dict("records")
        for first in range(0, len(vectors), self.batch):
            part = slice(first, first + self.batch)
            ids = [str(start + row) for row in range(*part.indices(len(vectors)))]
            given = {"ids": ids, "embeddings": vectors[part], "metadatas": records[part]}
            self._asked(lambda given=given: self.collection.upsert(**given))

    def finish(self) -> None:
        """Nothing is left to do: HNSW grows with the rows."""

    def count(self) -> int:
        """As :class:`VectorStore`."""
        return self._asked(self.collection.count)

    def search(self, vector: np.ndarray, k: int, where: Mapping[str, object] | None = None) -> Found:
        """As :class:`VectorStore`."""
        parts = [{name: value} for name, value in (where or {}).items()]
        filtered = {"where": parts[0] if len(parts) == 1 else {"$and": parts}} if parts else {}
        query = self.collection.query
        found = self._asked(
            lambda: query(query_embeddings=[vector], n_results=k, include=["distances"], **filtered)
        )
        return Found(np.array(found["ids"][0], int), 1 - np.array(found["distances"][0]))


class Lance:
    """A LanceDB table in a folder, read from disk: inverted lists of product-quantised vectors, refined exactly.

    Raises:
        StudyError: LanceDB is not installed.
    """

    PROBES, REFINE = 40, 20  # lists that a search reads; times k rows that are compared exactly

    def __init__(self, name: str, folder: Path):
        try:
            import lancedb
        except ImportError:
            raise StudyError("LanceDB is not installed: run make archive") from None
        self.name, self.database = name, lancedb.connect(str(folder))
        names = self.database.list_tables().tables
        self.table = self.database.open_table(name) if name in names else None

    def add(self, vectors: np.ndarray, about: pd.DataFrame, start: int = 0) -> None:
        """As :class:`VectorStore`."""
        import pyarrow as pa

        table = pa.Table.from_pandas(about[[*FIELDS]], preserve_index=False)
        flat = pa.array(np.asarray(vectors, np.float32).ravel())
        table = table.append_column("row", pa.array(range(start, start + len(vectors)), pa.int64()))
        table = table.append_column("vector", pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]))
        if self.table is None:
            self.table = self.database.create_table(self.name, table)
        else:
            self.table.add(table)

    def finish(self) -> None:
        """Build the index of vectors, and those of the fields that filters use."""
        from lancedb.index import BTree, IvfPq

        self.table.create_index("vector", config=IvfPq(distance_type="cosine"), replace=True)
        for field in FIELDS:
            self.table.create_index(field, config=BTree(), replace=True)

    def count(self) -> int:
        """As :class:`VectorStore`."""
        return 0 if self.table is None else self.table.count_rows()

    def search(self, vector: np.ndarray, k: int, where: Mapping[str, object] | None = None) -> Found:
        """As :class:`VectorStore`."""
        search = self.table.search(np.asarray(vector, np.float32)).distance_type("cosine")
        search = search.nprobes(self.PROBES).refine_factor(self.REFINE).limit(k).select(["row", "_distance"])
        if where:
            search = search.where(" AND ".join(map(_equals, where, where.values())), prefilter=True)
        found = search.to_arrow()
        return Found(found["row"].to_numpy(), 1 - found["_distance"].to_numpy())


def _equals(name: str, value: object) -> str:
    """``name = value`` in SQL, a text quoted."""
    text = "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
    return f"{name} = {text}"
