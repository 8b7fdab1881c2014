"""The store: a stage's result is looked up by what it depends on before it is computed.

An entry is a directory ``<root>/<stage>/<key>/`` that holds the stage's files and ``entry.json``: parameters,
checksums, wall time and peak memory. It is written beside its place and renamed into it, so that it is either whole
or absent; an entry whose files do not match their checksums is set aside and computed again. Two processes that
want the same entry compute it once: the second waits for the first.
"""

import hashlib
import json
import os
import resource
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm.auto import tqdm

from lib.locks import exclusively

ENTRY_FILE = "entry.json"


def digest_of(value: object) -> str:
    """SHA-256 of a JSON-able value, independent of the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of_file(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` so that a reader sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    with aside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


def peak_memory_mib() -> float:
    """The largest resident size of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@dataclass(frozen=True)
class Entry:
    """One stored result.

    Attributes:
        stage: the stage's name.
        key: hash of the stage, its version and its parameters.
        path: directory that holds the result's files.
        digest: hash of the files' contents; what later stages depend on.
        origin: ``computed`` now, ``reused`` from an earlier time, or copied from what was ``published``.
        wall_s: seconds that computing took, whenever that was, without the stages that it asked for in turn.
        peak_mib: peak memory of the process that computed it, in MiB.
    """

    stage: str
    key: str
    path: Path
    digest: str
    origin: str
    wall_s: float
    peak_mib: float


class Store:
    """Results on disk, by stage and key.

    Args:
        root: directory of the store; made when missing.
        say: where progress is told, one line a call.
        on_entry: told of every entry when it is first used.
    """

    def __init__(
        self, root: Path, say: Callable[[str], None] = print, on_entry: Callable[[Entry], None] | None = None
    ):
        self.root = Path(root)
        self.say = say
        self.on_entry = on_entry
        self.log: dict[tuple[str, str], Entry] = {}
        self._inner_s = [0.0]

    def key(self, stage: str, params: dict, version: int | str = 1) -> str:
        """The key of a stage's result: 20 hex digits of the hash of all it depends on."""
        return digest_of({"stage": stage, "version": version, "params": params})[:20]

    def find(self, stage: str, key: str) -> Entry | None:
        """The stored entry, or None when there is none or its files do not match their checksums."""
        path = self.root / stage / key
        if not path.exists():
            return None
        record = sound_record(path)
        if record is None:
            self.say(f"store: {stage}/{key} is damaged; it is set aside and computed again")
            path.replace(path.with_name(f"damaged-{key}-{uuid.uuid4().hex[:6]}"))
            return None
        origin = "published" if record.get("origin") == "published" else "reused"
        return Entry(stage, key, path, record["digest"], origin, record["wall_s"], record["peak_mib"])

    def get(
        self,
        stage: str,
        params: dict,
        compute: Callable[[Path], None],
        version: int | str = 1,
        origin: str = "computed",
        cost: tuple[float, float] | None = None,
    ) -> Entry:
        """Look a result up, or compute it.

        Args:
            stage: name of the stage; may hold slashes.
            params: all that the result depends on, JSON-able, with the digests of its inputs.
            compute: writes the result's files into the directory it is given.
            version: the stage's own version; raise it when the computation changes its meaning.
            origin: what to call an entry that ``compute`` makes now.
            cost: seconds and MiB that it took where it was computed, if that was not here.

        Returns:
            The entry; its origin says whether it was computed now.
        """
        key = self.key(stage, params, version)
        if (stage, key) in self.log:
            return self.log[stage, key]
        entry = self.find(stage, key)
        if entry is None:
            with self._turn(stage, key):
                entry = self.find(stage, key)
                entry = entry or self._compute(stage, key, params, version, compute, origin, cost)
        self.log[stage, key] = entry
        if self.on_entry:
            self.on_entry(entry)
        return entry

    @contextmanager
    def _turn(self, stage: str, key: str) -> Iterator[None]:
        """One process at a time; waiting for another is no part of what the stage that waits costs."""
        started = time.perf_counter()
        with exclusively(self.root / "locks" / f"{stage.replace('/', '-')}-{key}", self.say):
            self._inner_s[-1] += time.perf_counter() - started
            yield

    def _compute(self, stage, key, params, version, compute, origin, cost) -> Entry:
        aside = self.root / stage / f".{key}.{uuid.uuid4().hex[:8]}"
        aside.mkdir(parents=True)
        started = time.perf_counter()
        self._inner_s.append(0.0)
        try:
            compute(aside)
        except BaseException:
            shutil.rmtree(aside)
            raise
        finally:
            whole_s, inner_s = time.perf_counter() - started, self._inner_s.pop()
            self._inner_s[-1] += whole_s
        wall_s, peak_mib = cost or (whole_s - inner_s, peak_memory_mib())
        names = sorted(str(path.relative_to(aside)) for path in aside.rglob("*") if path.is_file())
        files = {name: digest_of_file(aside / name) for name in names}
        record = {
            "stage": stage,
            "key": key,
            "params": params,
            "version": version,
            "files": files,
            "digest": digest_of(files)[:20],
            "origin": origin,
            "wall_s": round(wall_s, 3),
            "peak_mib": round(peak_mib, 1),
        }
        write_atomically(aside / ENTRY_FILE, json.dumps(record, indent=1).encode())
        target = self.root / stage / key
        aside.replace(target)
        return Entry(stage, key, target, record["digest"], origin, record["wall_s"], record["peak_mib"])

    def shards(
        self,
        stage: str,
        params: dict,
        items: Sequence,
        compute_batch: Callable[[Sequence], np.ndarray],
        shard_size: int = 512,
        version: int | str = 1,
    ) -> Entry:
        """Compute one array row for each item, shard by shard, so that a killed run goes on where it was.

        Args:
            items: what to compute; ``params`` must determine them (by the digest of where they come from).
            compute_batch: maps a slice of ``items`` to an array of shape (n, ...).
            shard_size: items a shard.

        Returns:
            An entry with one file, ``rows.npy``, of shape (n_items, ...).
        """
        params = params | {"n_items": len(items)}
        parts = self.root / stage / f"parts-{self.key(stage, params, version)}"

        def compute(target: Path) -> None:
            parts.mkdir(parents=True, exist_ok=True)
            starts = range(0, len(items), shard_size)
            for start in tqdm(starts, desc=stage, unit="shard", mininterval=5):
                self._shard(parts / f"{start:08d}.npy", items[start : start + shard_size], compute_batch)
            rows = [np.load(parts / f"{start:08d}.npy") for start in starts]
            np.save(target / "rows.npy", np.concatenate(rows) if rows else np.zeros((0, 0), np.float32))

        entry = self.get(stage, params, compute, version)
        if parts.exists():
            shutil.rmtree(parts)
        return entry

    def _shard(self, path: Path, items: Sequence, compute_batch: Callable[[Sequence], np.ndarray]) -> None:
        if _n_rows(path) == len(items):
            return
        rows = compute_batch(items)
        if len(rows) != len(items):
            raise ValueError(f"{path.parent.name}: {len(items)} items gave {len(rows)} rows")
        aside = path.with_suffix(f".{uuid.uuid4().hex[:8]}.aside.npy")
        np.save(aside, rows)
        aside.replace(path)


def sound_record(path: Path) -> dict | None:
    """An entry's record; None when it is missing or broken, or when a file does not match its checksum."""
    try:
        record = json.loads((path / ENTRY_FILE).read_text())
        files = record["files"]
        is_sound = record["digest"] == digest_of(files)[:20] and {"wall_s", "peak_mib"} <= set(record)
        is_sound = is_sound and all(digest_of_file(path / name) == sha for name, sha in files.items())
    except (ValueError, TypeError, KeyError, AttributeError, OSError):
        return None
    return record if is_sound else None


def _n_rows(path: Path) -> int | None:
    """Rows of a stored array; None when it is missing or cut off."""
    try:
        return len(np.load(path))
    except (OSError, ValueError, EOFError):
        return None
