"""One cache for the numbers that models give: (model, role, text) → vector, (model, question, passage) → score.

Rows are kept one by one in SQLite, by what the model read, so that a killed run resumes where it was, and any other
chunking or question set that contains the same text reuses its row. Texts that language models write are kept in
:mod:`lib.models.written`, the log of the same kind that is also published.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from tqdm.auto import tqdm

from lib.words import StudyError

SCHEMA = """
CREATE TABLE IF NOT EXISTS spaces (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE IF NOT EXISTS rows (space INTEGER, key BLOB, value BLOB, PRIMARY KEY (space, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sums (space INTEGER, key BLOB, sum BLOB, PRIMARY KEY (space, key)) WITHOUT ROWID;
"""
LOOK_UP = """
SELECT value, sum FROM rows LEFT JOIN sums USING (space, key) WHERE space = ? AND key = ?
"""


def key_of(item: str | tuple[str, ...]) -> bytes:
    """The key of what a model read: SHA-1 of the text, or of a tuple's texts."""
    text = item if isinstance(item, str) else json.dumps(item)
    return hashlib.sha1(text.encode("utf-8", "surrogatepass")).digest()


def sum_of(space: str, key: bytes, value: bytes) -> bytes:
    """A row's checksum, 8 bytes, over its place too: a row in another's place is as wrong as one that was changed."""
    return hashlib.blake2b(b"\0".join((space.encode(), key, value)), digest_size=8).digest()


class Cache:
    """Rows of numbers by model and input.

    A row whose checksum differs is computed again; one that was kept before there were checksums gets its own when it
    is first used.

    Args:
        path: the SQLite file; made when missing.
    """

    def __init__(self, path: Path):
        self.path = Path(path)

    def rows(
        self,
        space: dict,
        items: Sequence[str | tuple[str, ...]],
        compute: Callable[[list], np.ndarray],
        batch_size: int = 512,
        dtype: np.dtype | type = np.float32,
        label: str = "",
    ) -> np.ndarray:
        """The row of every item; those that are missing are computed and kept batch by batch.

        A model's output depends a little on what shares a batch with it. So what is missing is settled before anything
        is computed, and batches follow the order of the items: an empty cache is always filled in the same way.

        Args:
            space: what the rows depend on beside the item, JSON-able: the model's hash, the runtime's version, window,
                precision, role.
            items: what the model reads.
            compute: maps a list of items to an array of shape (n,) or (n, width).
            batch_size: items that are computed and kept at once.
            dtype: of the rows.
            label: of the progress bar.

        Returns:
            Shape (n_items, width).

        Raises:
            StudyError: the file is damaged, or cannot be written.
        """
        try:
            with closing(self._open()) as connection:
                return self._rows(connection, space, items, compute, batch_size, np.dtype(dtype), label)
        except sqlite3.OperationalError as error:
            mend = "make room on the disk and give yourself the right to write; all that was computed is kept"
            raise StudyError(f"{self.path} cannot be used now ({error}); {mend}") from None
        except sqlite3.DatabaseError as error:
            mend = "move it elsewhere, then its rows are computed again"
            raise StudyError(f"{self.path} is damaged ({error}); {mend}") from None

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=120)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(SCHEMA)
        return connection

    def _rows(self, connection, space, items, compute, batch_size, dtype, label) -> np.ndarray:
        kind = dtype.str if dtype.names is None else str(dtype)
        name = json.dumps(space | {"dtype": kind}, sort_keys=True)
        with connection:
            connection.execute("INSERT OR IGNORE INTO spaces (name) VALUES (?)", (name,))
        [number] = connection.execute("SELECT id FROM spaces WHERE name = ?", (name,)).fetchone()
        keys = [key_of(item) for item in items]
        found, sums, n_damaged = {}, [], 0
        for key in dict.fromkeys(keys):
            value, known = connection.execute(LOOK_UP, (number, key)).fetchone() or (None, None)
            if value is None:
                continue
            if (own := sum_of(name, key, value)) == (known or own):
                found[key] = np.frombuffer(value, dtype)
                sums += [(number, key, own)] * (known is None)
            else:
                n_damaged += 1
        if n_damaged:
            print(f"{self.path.name}: {n_damaged} rows are damaged; they are computed again")
        if sums:
            with connection:
                connection.executemany("INSERT OR IGNORE INTO sums VALUES (?, ?, ?)", sums)
        missing = [row for row, key in enumerate(keys) if key not in found]
        starts = range(0, len(missing), batch_size)
        for start in tqdm(starts, desc=label or None, unit="batch", mininterval=5, disable=not missing):
            part = missing[start : start + batch_size]
            values = np.asarray(compute([items[row] for row in part]), dtype)
            if len(values) != len(part):
                raise ValueError(f"{label}: {len(part)} items gave {len(values)} rows")
            made = dict(zip((keys[row] for row in part), values.reshape(len(part), -1), strict=True))
            packed = [(number, key, value.tobytes()) for key, value in made.items()]
            sums = [(number, key, sum_of(name, key, value)) for _, key, value in packed]
            with connection:
                connection.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", packed)
                connection.executemany("INSERT OR REPLACE INTO sums VALUES (?, ?, ?)", sums)
            found |= made
        return np.stack([found[key] for key in keys]) if keys else np.zeros((0, 0), dtype)
