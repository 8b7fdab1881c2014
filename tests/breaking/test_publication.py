"""Damage to what is published: named by verification and by a book that reads it, and never used."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from extras.publish.verify import check_files
from lib.files import MANIFEST, RESULTS
from lib.published import REQUIRED, RUNS_FILE, Published
from tests.breaking.damage import DAMAGES, Spoil, cases

pytestmark = [pytest.mark.slow, pytest.mark.breaking]

DEMO = RESULTS / "demo" / "default"
WHOLE = json.loads((DEMO / MANIFEST).read_text())
RUN, OF_RUNS, FILES = next(iter(WHOLE["runs"])), WHOLE["runs"], WHOLE["files"]
STORED = next(name for name in FILES if name.startswith("stored/"))


def holding(content: bytes) -> Spoil:
    return lambda path: path.write_bytes(content)


def stating(**changes: object) -> Spoil:
    return holding(json.dumps(WHOLE | changes).encode())


def without(whole: dict, name: str) -> dict:
    return {key: value for key, value in whole.items() if key != name}


#: The published file to which something is done, and what the error names.
FAULTS = {f"manifest: {content!r}": (MANIFEST, holding(content), MANIFEST) for content in (b"", b"{", b"null", b"NaN")}
for field in REQUIRED:
    FAULTS[f"manifest without {field}"] = MANIFEST, holding(json.dumps(without(WHOLE, field)).encode()), repr(field)
FAULTS |= {
    "a file is not listed": (MANIFEST, stating(files=without(FILES, "summary.csv")), "summary.csv is not in"),
    "a stored file is not listed": (MANIFEST, stating(files=without(FILES, STORED)), STORED),
    "a run is not listed": (MANIFEST, stating(runs=without(OF_RUNS, RUN)), RUN),
    "a run has another hash": (MANIFEST, stating(runs=OF_RUNS | {RUN: {"sha256": "0" * 64}}), RUN),
}
for name in ("summary.csv", RUNS_FILE, STORED):
    FAULTS |= {f"{name}: {what}": (name, spoil, name) for what, spoil in DAMAGES.items()}
    FAULTS[f"{name} is another file"] = name, partial(shutil.copyfile, DEMO / "filings.csv"), name
for name in ("more.csv", ".hidden", "shown/tables/more.csv"):
    FAULTS[f"{name} is new"] = name, holding(b"x"), name


@cases(("name", "spoil", "words"), FAULTS)
def test_what_is_not_as_published_is_named(tmp_path, told, name, spoil, words):
    root = Path(shutil.copytree(DEMO, tmp_path / "demo" / "default"))
    spoil(root / name)
    with told(words):
        check_files(Published(root))
