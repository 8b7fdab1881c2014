"""The store: a stage's result is looked up by what it depends on, here and among what was published, else computed.

A key is the hash of the stage's name, its parameters (settings and digests of inputs) and a whole-number version that
a person raises when the computation changes its meaning. No code is hashed: a refactoring changes no key, and a
forgotten version is found by ``make verify``. An entry is a directory ``<root>/<stage>/<key>/`` that holds the stage's
files and ``entry.json``: parameters, checksums, wall time and peak memory. It is either whole or absent; one whose
files do not match their checksums is set aside and computed again, and two processes compute the same entry once.
"""

import gzip
import json
import resource
import shutil
import sys
import time
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from lib.files import digest_of, digest_of_file, exclusively, report, temporary_path, write_atomically
from lib.frames import read_frame, write_frame
from lib.schema import StudyError

RECORD = "entry.json"
FRAME, PRIVATE_FRAME, VALUE = "frame.csv", "frame.parquet", "value.json"


@dataclass(frozen=True)
class Entry:
    """One stored result."""

    stage: str
    key: str  # 20 hex digits
    digest: str  # of its content, 20 hex digits: what later stages depend on
    wall_s: float  # of the computation, whenever that was, without the stages that it asked for
    asked: tuple[str, ...]  # the stages that it used, directly or through others, as ``stage/key``
    names: tuple[str, ...]  # of its files
    path: Path  # the directory of its files, which are compressed where they are published
    origin: str  # ``computed`` now, ``reused`` from an earlier time, or ``published``

    @classmethod
    def of(cls, path: Path, record: dict, origin: str) -> "Entry":
        """The entry of a directory and its record."""
        given = {name: record[name] for name in ("stage", "key", "digest", "wall_s")}
        asked, names = (tuple(record.get(name, ())) for name in ("asked", "files"))
        return cls(**given, asked=asked, names=names, path=path, origin=origin)

    def file(self, name: str) -> Path:
        """Where one of its files lies: published ones are compressed, their names end in ``.gz``."""
        packed = self.path / f"{name}.gz"
        return packed if packed.is_file() else self.path / name

    def read(self, name: str) -> bytes:
        """The bytes of one of its files, uncompressed."""
        path = self.file(name)
        return path.read_bytes() if path.name == name else gzip.decompress(path.read_bytes())

    @property
    def has_frame(self) -> bool:
        """Whether it is a frame or a value; a published run or its metrics are rows of a table, without files."""
        is_row = self.origin == "published" and not self.names
        return is_row or any(name in (FRAME, PRIVATE_FRAME, VALUE) for name in self.names)

    def frame(self) -> object:
        """Its frame, or its JSON-able value; a StudyError where a published file is broken."""
        [name] = self.names
        try:
            return json.loads(self.read(name)) if name == VALUE else read_frame(self.file(name))
        except (OSError, ValueError, EOFError, zlib.error) as error:
            raise StudyError(f"{self.file(name)} cannot be read ({error}); restore it with git") from None


class Store:
    """Results on disk, by stage and key.

    ``on_use`` is called with stage, key and origin of every result that is looked up, once; ``absent`` for one that is
    looked for and not computed. ``published`` results (:class:`lib.published.Published`) go before a computation.
    """

    def __init__(
        self,
        root: Path,
        say: Callable[[str], None] = report,
        on_use: Callable[[str, str, str], None] = lambda stage, key, origin: None,
        published: object | None = None,
    ):
        self.root, self.say, self.on_use, self.published = Path(root), say, on_use, published
        self.log: dict[tuple[str, str], Entry] = {}
        self._asked: list[set[str]] = [set()]
        self._inner_s = [0.0]  # of each stage that is being computed: what others took meanwhile

    def key(self, stage: str, params: dict, version: int = 1) -> str:
        """The key of a stage's result, 20 hex digits."""
        return digest_of({"stage": stage, "version": version, "params": params})[:20]

    def find(self, stage: str, params: dict, version: int = 1) -> Entry | None:
        """The stored or published entry, without computing it; None when there is none."""
        key = self.key(stage, params, version)
        if (entry := self.entry(stage, key)) is None:
            self.on_use(stage, key, "absent")
        return entry and self._used(entry)

    def entry(self, stage: str, key: str) -> Entry | None:
        """The stored or published entry of a key, without noting a use; None when there is none."""
        if entry := self.log.get((stage, key)):
            return entry
        if (path := self.root / stage / key).exists():
            record = sound_record(path)
            if record and (record["stage"], record["key"]) == (stage, key):
                return Entry.of(path, record, "reused")
            self._set_aside(path, f"store: {stage}/{key} is damaged; it is set aside and computed again")
        found = self.published and self.published.find(stage, key)
        return found and Entry.of(*found, "published")

    def frame(self, stage: str, params: dict, make: Callable | None, version: int = 1, public=False) -> object:
        """A stored frame, without an index of its own, or JSON-able value; ``make`` computes it, and where that is None
        and nothing is there, the value is None. See :meth:`frame_entry`."""
        if make is None and self.find(stage, params, version) is None:
            return None
        return self.frame_entry(stage, params, make, version, public).frame()

    def frame_entry(
        self,
        stage: str,
        params: dict,
        make: Callable,
        version: int = 1,
        public: bool = False,
        digest: Callable[[pd.DataFrame], str] | None = None,
    ) -> Entry:
        """The entry of a frame or value, computed by ``make`` where it is missing; arguments as of :meth:`files`.

        ``digest`` gives what identifies a frame's content in later keys, by default the digest of its file.
        """

        def write(folder: Path) -> str | None:
            if isinstance(content := make(), pd.DataFrame):
                write_frame(content, folder / (FRAME if public and digest is None else PRIVATE_FRAME))
            else:
                (folder / VALUE).write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")
            return digest and digest(content)

        return self.files(stage, params, write, version, public, is_frame=True)

    def files(
        self,
        stage: str,
        params: dict,
        write: Callable[[Path], str | None],
        version: int = 1,
        public: bool = False,
        is_frame: bool = False,
    ) -> Entry:
        """The entry of a result that is files of its own, such as a model's weights, computed where it is missing.

        Args:
            params: all that the result depends on, JSON-able, with the digests of its inputs.
            write: writes the result's files into the folder that it is given; may return the digest of their content.
            public: whether the result is published with the others: small, without text of the dataset.
            is_frame: whether an entry without a frame, of an earlier version, is computed again.
        """
        key = self.key(stage, params, version)
        if (entry := self.entry(stage, key)) and (entry.has_frame or not is_frame):
            return self._used(entry)
        started = time.perf_counter()
        with exclusively(self.root / "locks" / f"{stage.replace('/', '-')}-{key}", self.say):
            self._inner_s[-1] += time.perf_counter() - started  # waiting is no part of what the asking stage costs
            entry = self.entry(stage, key)  # looked at again, as another process may have computed it
            if entry and is_frame and not entry.has_frame:
                self._set_aside(entry.path, f"store: {stage}/{key} is of an earlier version; it is computed again")
                entry = None
            if entry is None:
                about = {"stage": stage, "key": key, "params": params, "version": version}
                try:
                    entry = self._compute(about | {"origin": "computed", "public": public}, write)
                except Exception:
                    self.on_use(stage, key, "absent")
                    raise
        return self._used(entry)

    def record(self, reference: str) -> dict | None:
        """What is recorded of a stage's result, by ``stage/key``: here, or else where it was published."""
        stage, _, key = reference.rpartition("/")
        try:
            return json.loads((self.root / stage / key / RECORD).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return self.published.stages.get((stage, key)) if self.published else None

    def has(self, reference: str) -> bool:
        """Whether a result is available without computing it, by ``stage/key``: here, or among what was published."""
        return "files" in (self.record(reference) or {})

    @contextmanager
    def recording(self) -> Iterator[set[str]]:
        """Collect the stages that are used inside the block, as ``stage/key``."""
        self._asked.append(set())
        try:
            yield self._asked[-1]
        finally:
            self._asked.pop()

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

    def _set_aside(self, path: Path, message: str) -> None:
        self.say(message)
        path.replace(path.with_name(f"damaged-{path.name}-{uuid.uuid4().hex[:6]}"))

    def _compute(self, about: dict, write: Callable[[Path], str | None]) -> Entry:
        """Write the files and the record of an entry into a folder beside its place, and rename it."""
        target, started = self.root / about["stage"] / about["key"], time.perf_counter()
        folder = temporary_path(target)
        folder.mkdir(parents=True)
        self._inner_s.append(0.0)
        try:
            with self.recording() as asked:
                digest = write(folder)
            cost = {"wall_s": round(time.perf_counter() - started - self._inner_s[-1], 3), "peak_mib": peak_mib()}
            names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
            files = {name: digest_of_file(folder / name) for name in names}
            record = about | {"asked": sorted(asked)} | cost | {"at": time.strftime("%Y-%m-%dT%H:%M:%S")}
            record |= {"files": files, "digest": digest or digest_of(files)[:20]}
            record["seal"] = digest_of([record["digest"], files])[:20]
            write_atomically(folder / RECORD, json.dumps(record, indent=1))
            folder.replace(target)
        finally:
            self._inner_s.pop()
            self._inner_s[-1] += time.perf_counter() - started
            shutil.rmtree(folder, ignore_errors=True)
        return Entry.of(target, record, "computed")


def peak_mib() -> float:
    """The most memory that this process has had so far, in MiB."""
    units = 2**20 if sys.platform == "darwin" else 2**10  # of which a MiB has so many: bytes on macOS, else KiB
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / units, 1)


def sound_record(path: Path) -> dict | None:
    """An entry's record; None when it is missing or broken, or when a file does not match its checksum."""
    try:
        record = json.loads((path / RECORD).read_text(encoding="utf-8"))
        identity = {name: record[name] for name in ("stage", "version", "params")}
        is_sound = digest_of(identity)[:20] == record["key"] and {"origin", "wall_s"} <= set(record)
        given = record["digest"], record["files"]  # the digest is that of the files, or of what they contain
        is_sound &= record.get("seal") == digest_of(given)[:20] or given[0] == digest_of(given[1])[:20]
        is_sound &= all(digest_of_file(path / name) == sha for name, sha in record["files"].items())
    except (ValueError, TypeError, KeyError, AttributeError, OSError):
        return None
    return record if is_sound else None
