"""Models that only the hub has: a snapshot of its repository at one commit, which fixes every byte.

Weights are taken as safetensors. Where a commit has none, as BGE-M3's, its ``pytorch_model.bin`` is taken: a pickle,
whose hash is in the lock where it is known, and which is opened here, and then by transformers, as tensors only
(``torch.load(weights_only=True)``, which builds tensors and plain containers and runs no code of the file).
"""

import json
import re
from functools import cache
from pathlib import Path

from lib.models import hub
from lib.store import digest_of_file
from lib.words import StudyError

COMMIT = re.compile(r"[0-9a-f]{40}")
SAFE, PICKLED = "*.safetensors", "pytorch_model*.bin"
FILES = ("*.json", "*.txt", "*.model", SAFE, PICKLED)
NOT_FILES = ("onnx/*", "openvino/*", "original/*")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")


def is_snapshot(record: dict) -> bool:
    """Whether a record of the lock names no files: the model is had as a whole, from the hub alone."""
    return not record["files"]


def is_pickled(record: dict) -> bool:
    """Whether the lock says that a model's weights are a PyTorch file."""
    return any(Path(file).match(PICKLED) for file in record["hub"].get("sha256", {}))


def is_here(record: dict) -> bool:
    """Whether the snapshot is in the hub's cache on this machine."""
    return _local(record) is not None


def fetch_snapshot(record: dict, say=print) -> Path:
    """The directory of a snapshot, downloaded if it is not in the hub's cache; a broken download goes on.

    Raises:
        StudyError: the revision is no commit, the hub cannot be reached, the download broke off, or a file is not what
            the lock says or holds more than tensors.
    """
    from huggingface_hub import snapshot_download

    name, revision = record["hub"]["id"], record["hub"]["revision"]
    if not COMMIT.fullmatch(revision):
        raise StudyError(
            f"{name}: revision {revision!r} is no commit, so its files may change; pin one in the lock file"
        )
    if found := _local(record):
        return checked(found, record)
    if not hub.is_reachable(name):
        raise StudyError(
            f"{name} is not on this machine and the hub cannot be reached; connect to it, or copy the hub's cache "
            "(HF_HOME) from a machine that has the model"
        )
    say(f"weights: fetching {name} from the hub, about {record['gib']} GiB")
    import httpx

    try:
        skipped = [*NOT_FILES, *([PICKLED] if _has_safetensors(name, revision) else [])]
        found = snapshot_download(
            name, revision=revision, allow_patterns=list(FILES), ignore_patterns=skipped, token=False
        )
    except (httpx.HTTPError, OSError, ValueError) as error:
        raise StudyError(
            f"{name}: the download broke off ({type(error).__name__}); run again, what came is kept"
        ) from None
    return checked(Path(found), record)


def checked(folder: Path, record: dict) -> Path:
    """The folder, once its weights are those of the lock and hold nothing but tensors.

    Raises:
        StudyError: a file's hash is another one, or a PyTorch file holds more than tensors.
    """
    for file, sha256 in record["hub"].get("sha256", {}).items():
        path = folder / file
        if path.is_file() and _digest(path, path.stat().st_mtime) != sha256:
            raise StudyError(
                f"{path} is not the file that the lock names (hash differs); delete it and run again"
            )
    if not any(folder.glob(SAFE)):
        for path in folder.glob(PICKLED):
            _check_tensors(path)
    return folder


@cache
def _digest(path: Path, changed: float) -> str:
    return digest_of_file(path)


def _check_tensors(path: Path) -> None:
    import pickle

    import torch

    try:
        torch.load(path, map_location="meta", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise StudyError(f"{path} does not hold tensors alone and is not opened ({reason})") from None


def _has_safetensors(name: str, revision: str) -> bool:
    from huggingface_hub import HfApi

    return any(
        file.endswith(".safetensors") and "/" not in file
        for file in HfApi(token=False).list_repo_files(name, revision=revision)
    )


def _local(record: dict) -> Path | None:
    """The snapshot in the hub's cache, if it is whole."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        found = Path(
            snapshot_download(
                record["hub"]["id"], revision=record["hub"]["revision"], local_files_only=True, token=False
            )
        )
    except LocalEntryNotFoundError:
        return None
    return found if is_whole(found) else None


def is_whole(folder: Path) -> bool:
    """Whether a model's configuration, tokenizer and every part of its weights are there: a download may break off."""
    parts = [part for index in folder.glob("*.index.json") for part in _parts(index)]
    weights = parts or [file.name for kind in (SAFE, PICKLED) for file in folder.glob(kind)]
    has_tokenizer = any(any(folder.glob(name)) for name in TOKENIZERS)
    return (
        has_tokenizer
        and (folder / "config.json").is_file()
        and bool(weights)
        and all((folder / name).is_file() for name in weights)
    )


def _parts(index: Path) -> set[str]:
    return set(json.loads(index.read_text())["weight_map"].values())
