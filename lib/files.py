"""Files and digests: content hashes, atomic writes, and one process at a time."""

import errno
import hashlib
import json
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import yaml
from filelock import FileLock, Timeout

from lib.schema import StudyError

ROOT = Path(__file__).resolve().parent.parent
RESULTS, MANIFEST = ROOT / "book" / "results", "manifest.json"  # what is published, and what each part was made from
ARTIFACTS, INDEX = ROOT / "artifacts", "chroma"  # what is computed, and in it the collections of chunk tables
PATIENCE_S = 10
FIXES = {
    "ENOSPC EDQUOT EFBIG": "free some disk space; results so far are kept",
    "EACCES EPERM EROFS": "allow access, as with chmod u+rwX, or use another folder",
    "ENOTDIR EISDIR EEXIST": "a file is where a folder is needed, or the other way round; rename it",
    "ENAMETOOLONG": "use a shorter name",
    "EIO": "the disk is faulty; use another one",
    "EMFILE": "too many open files; raise ulimit -n",
    "ENOMEM": "out of memory; end other programs, or use JOBS=1",
}


def report(message: str) -> None:
    """Print progress on stderr, which a built chapter leaves out: it is of one run on one machine."""
    print(message, file=sys.stderr, flush=True)


def fix_of(number: int | None) -> str:
    """What fixes an error of the operating system with this number; empty where nothing that a person does would."""
    name = errno.errorcode.get(number, "")
    return next((fix for names, fix in FIXES.items() if name in names.split()), "")


def digest_of(value: object) -> str:
    """SHA-256 of a JSON-able value, independent of the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of_file(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def published_folders() -> list[Path]:
    """The folders of published results, ``book/results/<dataset>/<profile>``, in order."""
    return sorted(path.parent for path in RESULTS.glob(f"*/*/{MANIFEST}"))


def read_yaml(path: Path) -> dict:
    """What one of the repository's own files holds, by libyaml: a tenth of the time of ``yaml.safe_load``."""
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)


def read_json(path: Path, lines: bool = False):
    """What a JSON file holds, or each of its ``lines``; a StudyError where it is damaged."""
    try:
        text = path.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{path} is damaged ({error}); remove it and run the command again") from None


def temporary_path(path: Path) -> Path:
    """A unique temporary path in the directory of ``path``, hidden and with the same suffix."""
    return path.with_name(f".{path.stem}.{uuid.uuid4().hex[:8]}{path.suffix}")


def write_atomically(path: Path, content: bytes | str) -> Path:
    """Write ``content`` to ``path`` so that a reader sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_path(path)
    try:
        with temporary.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        return temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):  # of a file that nobody has asked for
            error.filename, error.filename2 = str(path), None
        raise


def end_with_parent(every_s: float = 1.0) -> None:
    """End this process soon after the one that began it, even if that one was killed; for the start of a worker."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(every_s)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def exclusively(path: Path, say: Callable[[str], None] = report) -> Iterator[None]:
    """Hold a lock beside ``path`` that other processes respect; a wait of more than a few seconds is reported."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(f"{path.name}.lock"))
    try:
        held = lock.acquire(timeout=PATIENCE_S)
    except Timeout:
        say(f"{path.name}: another process holds it; waiting until that one ends")
        held = lock.acquire()
    with held:
        yield
