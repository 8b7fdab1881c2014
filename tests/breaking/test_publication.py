"""Damage to what is published: named by verification and by a book that reads it, and never used."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from extras.publish.verify import check_files
from lib.published import MANIFEST, REQUIRED, RESULTS, Published
from tests.breaking.damage import DAMAGES, Spoil, cases

pytestmark = [pytest.mark.slow, pytest.mark.breaking]

DEMO = RESULTS / "demo" / "default"
WHOLE = json.loads((DEMO / MANIFEST).read_text())
RUN, OF_RUNS, FILES = next(iter(WHOLE["runs"])), WHOLE["runs"], WHOLE["files"]
#: A file of each kind: of a folder and with an ending, or by its name.
KINDS = list({(*Path(name).parts[:2], Path(name).suffix) if "/" in name else name: name for name in FILES}.values())


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """The demo's published results, to be damaged."""
    return Path(shutil.copytree(DEMO, tmp_path_factory.mktemp("demo") / "demo" / "default"))


@contextmanager
def spoilt(root: Path, name: str, spoil: Spoil) -> Iterator[None]:
    """A file is spoilt, or is new, within, and all is as before afterwards."""
    path = root / name
    content = path.read_bytes() if path.exists() else None
    spoil(path)
    try:
        yield
    finally:
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)


def holding(content: bytes) -> Spoil:
    return lambda path: path.write_bytes(content)


def stating(**changes: object) -> Spoil:
    return holding(json.dumps(WHOLE | changes).encode())


def without(whole: dict, name: str) -> dict:
    return {key: value for key, value in whole.items() if key != name}


NO_JSON = [(DEMO / MANIFEST).read_bytes()[:999], "{}".encode("utf-16"), b"", b"{}", b"null", b"NaN"]
#: What is done to a published file, and what the error names.
FAULTS = {
    f"manifest: {content[:9]!r}": (MANIFEST, holding(content), f"{MANIFEST} cannot be read") for content in NO_JSON
}
for field in REQUIRED:
    FAULTS[f"manifest without {field}"] = (MANIFEST, holding(json.dumps(without(WHOLE, field)).encode()), repr(field))
FAULTS |= {
    "a file is not listed": (
        MANIFEST,
        stating(files=without(FILES, "summary.csv")),
        "summary.csv is not in the manifest",
    ),
    "a run is not listed": (MANIFEST, stating(runs=without(OF_RUNS, RUN)), RUN),
    "a run has another hash": (MANIFEST, stating(runs=OF_RUNS | {RUN: {"sha256": "0" * 64}}), RUN),
}
for name, other in pairwise(KINDS):
    FAULTS |= {f"{name}: {what}": (name, spoil, name) for what, spoil in DAMAGES.items()}
    FAULTS[f"{name}: is {other}"] = (name, partial(shutil.copyfile, DEMO / other), name)
for name in ("more.csv", ".hidden", "shown/tables/more.csv"):
    FAULTS[f"{name}: is new"] = (name, holding(b"x"), name)


@cases(("name", "spoil", "words"), FAULTS)
def test_what_is_not_as_published_is_named(root, told, name, spoil, words):
    with spoilt(root, name, spoil), told(words):
        check_files(Published(root))
