"""Pinning what only the hub has: the SHA-256 of a commit's weight files, written into the lock file.

The hub states them for every large file of a commit; nothing is downloaded. Whoever runs this trusts the hub once and
commits the hashes; from then on a file that differs is not loaded.
"""

from fnmatch import fnmatch

import yaml

from lib.files import write_atomically
from lib.models.weights import LOCK, PICKLED, SAFE, SHA256
from lib.schema import StudyError


def pin(say=print) -> None:
    """Write the SHA-256 of the weights of every model that the lock names by its commit alone.

    Raises:
        StudyError: the hub cannot be reached, or it states no SHA-256.
    """
    text = LOCK.read_text(encoding="utf-8")
    for name, record in yaml.safe_load(text).items():
        if not record["files"] and not record["hub"].get("sha256"):
            hashes, line = stated(record["hub"]), f"    revision: {record['hub']['revision']}\n"
            listed = "".join(f"      {file}: {sha256}\n" for file, sha256 in hashes.items())
            text = text.replace(line, f"{line}    sha256:\n{listed}")
            say(f"{name}: {', '.join(hashes)}")
    write_atomically(LOCK, text)


def stated(hub: dict) -> dict[str, str]:
    """The SHA-256 of the weight files of a commit, as the hub states them: its safetensors, else its PyTorch files."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HTTPError

    try:
        info = HfApi(token=False).model_info(hub["id"], revision=hub["revision"], files_metadata=True)
    except (HTTPError, OSError) as error:
        reason = f"{type(error).__name__}; check the connection and run again"
        raise StudyError(f"no answer received from the hub about {hub['id']}: {reason}") from None
    files = {one.rfilename: one.lfs.sha256 for one in info.siblings if one.lfs}
    for kind in (SAFE, PICKLED):
        found = {file: sha for file, sha in files.items() if "/" not in file and fnmatch(file, kind)}
        if found and all(map(SHA256.fullmatch, found.values())):
            return dict(sorted(found.items()))
    raise StudyError(f"the hub states no SHA-256 of weights of {hub['id']} at {hub['revision']}")
