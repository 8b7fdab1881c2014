"""Rows of numbers that models give, kept one by one by what the model read: a killed run resumes where it was, and any
other chunking or question set with the same text reuses its row. The table ``texts`` is :mod:`lib.models.written`'s."""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from tqdm.auto import tqdm

from lib.schema import StudyError

SCHEMA = """
CREATE TABLE IF NOT EXISTS spaces (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE IF NOT EXISTS rows (space INTEGER, key BLOB, value BLOB, PRIMARY KEY (space, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS texts (key TEXT, log TEXT, record TEXT, PRIMARY KEY (key, log));
"""


class Cache:
    """What models gave, by model and input, in a SQLite file, which is made when missing."""

    def __init__(self, path: Path):
        self.path = Path(path)

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """A connection; StudyError where the file is damaged or cannot be written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=120)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.executescript(SCHEMA)
                yield connection
        except sqlite3.OperationalError as error:
            fix = "disk full or read-only; results so far are kept"
            raise StudyError(f"{self.path} cannot be used now ({error}); {fix}") from None
        except sqlite3.DatabaseError as error:
            fix = "move it elsewhere; its rows are computed again"
            raise StudyError(f"{self.path} is damaged ({error}); {fix}") from None

    def rows(
        self,
        space: dict,
        items: Sequence[str | tuple[str, ...]],
        compute: Callable[[list], np.ndarray],
        batch_size: int = 512,
        dtype: np.dtype | type = np.float32,
        label: str = "",
    ) -> np.ndarray:
        """The row of every item, shape (n_items, width); those that are missing are computed and kept batch by batch.

        A model's output depends a little on what shares its batch. So what is missing is settled before anything is
        computed, and batches follow the order of the items: an empty cache is always filled in the same way.

        ``space`` is what the rows depend on beside the item, JSON-able: the model's hash, window, precision, role;
        ``compute`` maps a list of items to an array of shape (n,) or (n, width).
        """
        texts = (item if isinstance(item, str) else json.dumps(item) for item in items)
        keys = [hashlib.sha1(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        dtype = np.dtype(dtype)
        name = json.dumps(space | {"dtype": str(dtype) if dtype.names else dtype.str}, sort_keys=True)
        with self.open() as connection:
            with connection:
                connection.execute("INSERT OR IGNORE INTO spaces (name) VALUES (?)", (name,))
            [number] = connection.execute("SELECT id FROM spaces WHERE name = ?", (name,)).fetchone()
            look_up = "SELECT value FROM rows WHERE space = ? AND key = ?"
            kept = {key: connection.execute(look_up, (number, key)).fetchone() for key in dict.fromkeys(keys)}
            found = {key: np.frombuffer(row[0], dtype) for key, row in kept.items() if row}
            missing = [row for row, key in enumerate(keys) if key not in found]
            starts = range(0, len(missing), batch_size)
            for start in tqdm(starts, desc=label or None, unit="batch", mininterval=5, disable=not missing):
                part = missing[start : start + batch_size]
                values = np.asarray(compute([items[row] for row in part]), dtype)
                made = dict(zip((keys[row] for row in part), values.reshape(len(values), -1), strict=True))
                packed = [(number, key, value.tobytes()) for key, value in made.items()]
                with connection:
                    connection.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", packed)
                found |= made
        return np.stack([found[key] for key in keys]) if keys else np.zeros((0, 0), dtype)
