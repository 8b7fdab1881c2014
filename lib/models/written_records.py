"""The lines of a log of generations: read with what is damaged left out, appended so that they are on the disk.

A record's key follows from its own fields, so a line that was changed by hand is noticed; a line that a kill left
half-written is cut off before the next is added.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from lib.store import digest_of

FIELDS = ("key", "kind", "question_id", "prompt_sha", "params", "seed", "model", "text", "finish_reason")


def key_of(identity: dict) -> str:
    """The key of a record: the hash of the weights, the prompt, the sampling and the seed, 64 hex digits."""
    return digest_of(
        [identity["model"]["sha256"], identity["prompt_sha"], identity["params"], identity["seed"]]
    )


def read_records(path: Path, say: Callable[[str], None], with_copies: bool = True) -> dict[str, dict]:
    """The sound records of a log by key; one made here goes before a published copy, else the first counts.

    Args:
        path: the log; it may be missing.
        say: told how many lines are damaged, if any are.
        with_copies: whether copies of published records count.
    """
    by_key: dict[str, dict] = {}
    n_damaged = 0
    for line in path.read_bytes().split(b"\n") if path.exists() else []:
        record = _parsed(line)
        n_damaged += record is None and bool(line.strip())
        if record is not None and (with_copies or "origin" not in record):
            known = by_key.get(record["key"])
            if known is None or ("origin" in known and "origin" not in record):
                by_key[record["key"]] = record
    if n_damaged:
        say(f"{path.name}: {n_damaged} damaged lines are not used")
    return by_key


def _parsed(line: bytes) -> dict | None:
    """A line's record, or None when it is not whole or not the one that its key names."""
    try:
        record = json.loads(line)
        is_sound = all(name in record for name in FIELDS) and key_of(record) == record["key"]
    except (ValueError, TypeError, KeyError):
        return None
    return record if is_sound else None


def append_records(path: Path, records: Iterable[dict]) -> None:
    """Add lines that are on the disk when this returns; a half-written last line is cut off first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
        _mend_end(file)
        file.write(b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records))
        file.flush()
        os.fsync(file.fileno())


def _mend_end(file) -> None:
    """Make the file end with a whole line: end the last one if its record is whole, else cut it off."""
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return
    file.seek(size - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    start = file.read().rfind(b"\n") + 1
    file.seek(start)
    if _parsed(file.read()) is None:
        file.truncate(start)
    else:
        file.write(b"\n")
