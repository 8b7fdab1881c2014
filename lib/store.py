"""The store: a stage's result is looked up by what it depends on, here and among what was published, else computed.

A key is the hash of the stage's name, its parameters (settings and digests of inputs) and a whole-number version that
a person raises when the computation changes its meaning. No code is hashed: a refactoring changes no key, and a
forgotten version is found by ``make verify``, which recomputes and compares.

An entry is a directory ``<root>/<stage>/<key>/`` that holds the stage's files and ``entry.json``: parameters,
checksums, wall time and peak memory. It is written beside its place and renamed into it, so that it is either whole
or absent; an entry whose files do not match their checksums is set aside and computed again. Two processes that
want the same entry compute it once: the second waits for the first.
"""

import gzip
import json
import resource
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pandas as pd

from lib.files import digest_of, digest_of_file, exclusively, write_atomically
from lib.typed import read_frame, write_frame

RECORD = "entry.json"
FRAME, PRIVATE_FRAME, VALUE = "frame.csv", "frame.parquet", "value.json"
OPTIONAL = {"asked": (), "public": False, "at": ""}


@dataclass(frozen=True)
class Entry:
    """One stored result.

    Attributes:
        stage: the stage's name.
        key: hash of the stage, its version and its parameters, 20 hex digits.
        path: directory that contains the result's files; where it was published, compressed (see ``file``).
        digest: hash of the files' contents, 20 hex digits; what later stages depend on.
        origin: ``computed`` now, ``reused`` from an earlier time, or ``published``.
        wall_s: seconds that the computation took, whenever that was, without the stages that it asked for.
        peak_mib: peak memory of the process that computed it, in MiB.
        asked: the stages that the computation used, directly or through others, as ``stage/key``.
        public: whether the result may be published: small, and without text of filings or questions.
        at: when it was computed.
        names: of its files.
    """

    stage: str
    key: str
    path: Path
    digest: str
    origin: str
    wall_s: float
    peak_mib: float
    asked: tuple[str, ...] = ()
    public: bool = False
    at: str = ""
    names: tuple[str, ...] = ()

    def file(self, name: str) -> Path:
        """Where one of its files lies: published ones are compressed, their names end in ``.gz``."""
        packed = self.path / f"{name}.gz"
        return packed if packed.is_file() else self.path / name

    def read(self, name: str) -> bytes:
        """The bytes of one of its files, uncompressed."""
        path = self.file(name)
        return path.read_bytes() if path.name == name else gzip.decompress(path.read_bytes())


class PublishedLayer(Protocol):
    """Published results as the store sees them; see :class:`lib.published.Published`."""

    stages: dict[tuple[str, str], dict]

    def find(self, stage: str, key: str) -> tuple[Path, dict] | None:
        """The folder of an entry's files, which are known to be sound, and its record; None where there is none."""


class Store:
    """Results on disk, by stage and key.

    Args:
        root: directory of the store; made when missing.
        say: progress callback, one line per call.
        on_use: called with stage, key and origin of every result that is looked up, once; ``absent`` for one that is
            looked for and not computed.
        published: read-only results that are looked at before anything is computed.
    """

    def __init__(
        self,
        root: Path,
        say: Callable[[str], None] = print,
        on_use: Callable[[str, str, str], None] = lambda stage, key, origin: None,
        published: PublishedLayer | None = None,
    ):
        self.root, self.say, self.on_use, self.published = Path(root), say, on_use, published
        self.log: dict[tuple[str, str], Entry] = {}
        self._asked: list[set[str]] = [set()]
        self._inner_s = [0.0]

    def key(self, stage: str, params: dict, version: int = 1) -> str:
        """The key of a stage's result: 20 hex digits of the hash of all it depends on."""
        return digest_of({"stage": stage, "version": version, "params": params})[:20]

    def find(self, stage: str, params: dict, version: int = 1) -> Entry | None:
        """The stored or published entry, without computing it; None when there is none."""
        key = self.key(stage, params, version)
        if (entry := self.entry(stage, key)) is None:
            self.on_use(stage, key, "absent")
        return entry and self._used(entry)

    def entry(self, stage: str, key: str) -> Entry | None:
        """The stored or published entry of a key, without noting a use; None when there is none."""
        return self.log.get((stage, key)) or self._local(stage, key) or self._published(stage, key)

    def get(
        self, stage: str, params: dict, compute: Callable[[Path], None], version: int = 1, public: bool = False
    ) -> Entry:
        """Look a result up, or compute it.

        Args:
            stage: name of the stage; may contain slashes.
            params: all that the result depends on, JSON-able, with the digests of its inputs.
            compute: writes the result's files into the directory that it is given.
            version: the stage's own version; raise it when the computation changes its meaning.
            public: whether the result is published with the others: small, without text of the dataset.
        """
        key = self.key(stage, params, version)
        entry = self.entry(stage, key)
        if entry is None:
            with self._turn(stage, key):
                if (entry := self._local(stage, key)) is None:
                    try:
                        entry = self._compute(stage, key, params, version, compute, public)
                    except Exception:
                        self.on_use(stage, key, "absent")
                        raise
        return self._used(entry)

    def kept(self, stage: str, params: dict, make: Callable[[], object], version: int = 1, public=False) -> object:
        """A stored frame, without an index of its own, or JSON-able value; ``make`` computes it. See :meth:`get`.

        Frames that are published are text, see :func:`write_frame`.
        """

        def compute(target: Path) -> None:
            if isinstance(found := make(), pd.DataFrame):
                write_frame(found, target / (FRAME if public else PRIVATE_FRAME))
            else:
                (target / VALUE).write_text(json.dumps(found, ensure_ascii=False) + "\n")

        entry = self.get(stage, params, compute, version, public)
        if VALUE in entry.names:
            return json.loads(entry.read(VALUE))
        return read_frame(entry.file(FRAME if FRAME in entry.names else PRIVATE_FRAME))

    frame = value = kept

    def record(self, reference: str) -> dict | None:
        """What is recorded of a stage's result, by ``stage/key``: here, or else where it was published."""
        stage, _, key = reference.rpartition("/")
        try:
            return json.loads((self.root / stage / key / RECORD).read_text())
        except (OSError, ValueError):
            return self.published.stages.get((stage, key)) if self.published else None

    def has(self, reference: str) -> bool:
        """Whether a result is available without computing it, by ``stage/key``: here, or among what was published."""
        return "files" in (self.record(reference) or {})

    @contextmanager
    def recording(self) -> Iterator[set[str]]:
        """Collect the stages that are asked for inside the block, as ``stage/key``."""
        self._asked.append(set())
        try:
            yield self._asked[-1]
        finally:
            self._asked.pop()

    @contextmanager
    def unasked(self) -> Iterator[None]:
        """Nothing that is asked for inside the block is noted as used by what is being computed."""
        asked, self._asked = self._asked, [set()]
        try:
            yield
        finally:
            self._asked = asked

    def note(self, stages: Iterable[str]) -> None:
        """Record that stages were used, for whatever is being computed."""
        for asked in self._asked:
            asked.update(stages)

    def _used(self, entry: Entry) -> Entry:
        self.note((f"{entry.stage}/{entry.key}", *entry.asked))
        if (entry.stage, entry.key) not in self.log:
            self.log[entry.stage, entry.key] = entry
            self.on_use(entry.stage, entry.key, entry.origin)
        return entry

    def _local(self, stage: str, key: str) -> Entry | None:
        path = self.root / stage / key
        if not path.exists():
            return None
        record = sound_record(path)
        if record is None or (record["stage"], record["key"]) != (stage, key):
            self.say(f"store: {stage}/{key} is damaged; it is set aside and computed again")
            path.replace(path.with_name(f"damaged-{key}-{uuid.uuid4().hex[:6]}"))
            return None
        if record.get("origin") == "published":
            return None  # a copy that an earlier version made; it is no result of this machine
        return _entry(path, record, "reused")

    def _published(self, stage: str, key: str) -> Entry | None:
        found = self.published and self.published.find(stage, key)
        return found and _entry(*found, "published")

    @contextmanager
    def _turn(self, stage: str, key: str) -> Iterator[None]:
        """One process at a time; waiting for another is no part of what the waiting stage costs."""
        started = time.perf_counter()
        with exclusively(self.root / "locks" / f"{stage.replace('/', '-')}-{key}", self.say):
            self._inner_s[-1] += time.perf_counter() - started
            yield

    @contextmanager
    def _written(self, stage: str, key: str) -> Iterator[Path]:
        """A folder that becomes the entry if a record was written into it, and goes otherwise."""
        folder = self.root / stage / f".{key}.{uuid.uuid4().hex[:8]}"
        folder.mkdir(parents=True)
        try:
            yield folder
            target = self.root / stage / key
            if (folder / RECORD).is_file():
                if target.exists():  # a copy of what was published, or what another process has just written
                    target.replace(folder.with_name(f"{folder.name}.old"))
                folder.replace(target)
        finally:
            for path in (folder, folder.with_name(f"{folder.name}.old")):
                shutil.rmtree(path, ignore_errors=True)

    def _compute(self, stage, key, params, version, compute, public) -> Entry:
        with self._written(stage, key) as folder:
            started = time.perf_counter()
            self._inner_s.append(0.0)
            try:
                with self.recording() as asked:
                    compute(folder)
            finally:
                whole_s, inner_s = time.perf_counter() - started, self._inner_s.pop()
                self._inner_s[-1] += whole_s
            peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            record = {
                "stage": stage,
                "key": key,
                "params": params,
                "version": version,
                "origin": "computed",
                "public": public,
                "asked": sorted(asked),
                "wall_s": round(whole_s - inner_s, 3),
                "peak_mib": round(peak_mib, 1),
                "at": time.strftime("%Y-%m-%dT%H:%M:%S"),
            }
            record = self._record(folder, record)
        return _entry(self.root / stage / key, record, "computed")

    def _record(self, folder: Path, record: dict) -> dict:
        """Complete an entry's record with its files' checksums, and write it."""
        names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        files = {name: digest_of_file(folder / name) for name in names}
        record = record | {"files": files, "digest": digest_of(files)[:20]}
        write_atomically(folder / RECORD, json.dumps(record, indent=1))
        return record


def _entry(path: Path, record: dict, origin: str) -> Entry:
    given = {name: record[name] for name in ("stage", "key", "digest", "wall_s", "peak_mib")}
    asked, public, at = (record.get(name, default) for name, default in OPTIONAL.items())
    optional = {"asked": tuple(asked), "public": public, "at": at, "names": tuple(record.get("files", ()))}
    return Entry(path=path, origin=origin, **optional, **given)


def sound_record(path: Path) -> dict | None:
    """An entry's record; None when it is missing or broken, or when a file does not match its checksum."""
    try:
        record = json.loads((path / RECORD).read_text())
        files = record["files"]
        is_sound = record["digest"] == digest_of(files)[:20]
        is_sound &= {"stage", "key", "wall_s", "peak_mib"} <= set(record)
        if "params" in record:
            identity = {name: record[name] for name in ("stage", "version", "params")}
            is_sound &= digest_of(identity)[:20] == record["key"]
        is_sound &= all(digest_of_file(path / name) == sha for name, sha in files.items())
    except (ValueError, TypeError, KeyError, AttributeError, OSError):
        return None
    return record if is_sound else None
