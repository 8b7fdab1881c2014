"""Values by key in one small file that survives a kill: scores of (question, text) pairs, shared by all methods."""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np


class KeyedScores:
    """Rows of floats by key, in SQLite.

    Args:
        path: the file; made when missing.
        width: floats a row.
    """

    def __init__(self, path: Path, width: int = 1):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.width = width
        self.connection = sqlite3.connect(path, timeout=60)
        self.connection.execute(
            "CREATE TABLE IF NOT EXISTS scores (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID"
        )

    def find(self, keys: Sequence[str]) -> dict[str, np.ndarray]:
        """The rows that are there, by key."""
        found = {}
        for start in range(0, len(keys), 500):
            part = list(keys[start : start + 500])
            marks = ",".join("?" * len(part))
            for key, value in self.connection.execute(
                f"SELECT key, value FROM scores WHERE key IN ({marks})", part
            ):
                found[key] = np.frombuffer(value, np.float64)
        return found

    def fill(
        self,
        items: dict[str, object],
        compute: Callable[[list], np.ndarray],
        batch_size: int,
        progress: Callable = iter,
    ) -> dict[str, np.ndarray]:
        """The rows of all items; what is missing is computed and kept batch by batch.

        Args:
            items: from key to what ``compute`` takes.
            compute: maps a list of items to an array of shape (n, width).
            batch_size: items computed and kept at once.
            progress: wraps the sequence of batches.
        """
        rows = self.find(list(items))
        missing = [key for key in items if key not in rows]
        for start in progress(range(0, len(missing), batch_size)):
            keys = missing[start : start + batch_size]
            values = np.asarray(compute([items[key] for key in keys]), np.float64).reshape(
                len(keys), self.width
            )
            with self.connection:
                self.connection.executemany(
                    "INSERT OR REPLACE INTO scores VALUES (?, ?)",
                    [(key, value.tobytes()) for key, value in zip(keys, values, strict=True)],
                )
            rows.update(zip(keys, values, strict=True))
        return rows
