"""Models that only the hub has: a snapshot of its repository at one commit, which fixes every byte."""

import re
from pathlib import Path

from lib.models import hub
from lib.words import StudyError

COMMIT = re.compile(r"[0-9a-f]{40}")
FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "pytorch_model*.bin")
NOT_FILES = ("onnx/*", "openvino/*", "original/*")


def is_snapshot(record: dict) -> bool:
    """Whether a record of the lock names no files: the model is had as a whole, from the hub alone."""
    return not record["files"]


def is_here(record: dict) -> bool:
    """Whether the snapshot is in the hub's cache on this machine."""
    return _local(record) is not None


def fetch_snapshot(record: dict, say=print) -> Path:
    """The directory of a snapshot, downloaded if it is not in the hub's cache; a broken download goes on.

    Weights in safetensors are taken where there are any; a PyTorch file is read by transformers as tensors only.

    Raises:
        StudyError: the revision is no commit, the hub cannot be reached, or the download broke off.
    """
    from huggingface_hub import snapshot_download

    name, revision = record["hub"]["id"], record["hub"]["revision"]
    if not COMMIT.fullmatch(revision):
        raise StudyError(
            f"{name}: revision {revision!r} is no commit, so its files may change; pin one in the lock file"
        )
    if found := _local(record):
        return found
    if not hub.is_reachable(name):
        raise StudyError(
            f"{name} is not on this machine and the hub cannot be reached; connect to it, or copy the hub's cache "
            "(HF_HOME) from a machine that has the model"
        )
    say(f"weights: fetching {name} from the hub, about {record['gib']} GiB")
    import httpx

    try:
        skipped = [*NOT_FILES, *(["*.bin"] if _has_safetensors(name, revision) else [])]
        return Path(
            snapshot_download(
                name, revision=revision, allow_patterns=list(FILES), ignore_patterns=skipped, token=False
            )
        )
    except (httpx.HTTPError, OSError, ValueError) as error:
        raise StudyError(
            f"{name}: the download broke off ({type(error).__name__}); run again, what came is kept"
        ) from None


def _has_safetensors(name: str, revision: str) -> bool:
    from huggingface_hub import HfApi

    return any(
        file.endswith(".safetensors") for file in HfApi(token=False).list_repo_files(name, revision=revision)
    )


def _local(record: dict) -> Path | None:
    """The snapshot in the hub's cache, if its configuration and weights are there."""
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
    weights = [*found.glob("*.safetensors"), *found.glob("pytorch_model*.bin")]
    return found if weights and (found / "config.json").is_file() else None
