"""Damage to what is published and stored, and hostile text in every place where text meets MyST or a spreadsheet."""

import csv
import io
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from extras.publish.verify import check_files
from lib.book.allowed import found_in
from lib.published import GENERATIONS_FILE, MANIFEST, METRICS_FILE, RESULTS, RUNS_FILE, Published, Stated
from lib.show.display import markdown_table
from lib.show.markup import as_csv, escape, is_computed, verbatim
from lib.store import Store
from tests.breaking.damage import DAMAGES, Spoil, below, cases
from tests.breaking.hostile import texts

pytestmark = [pytest.mark.slow, pytest.mark.breaking]

DEMO = RESULTS / "demo" / "default"
WHOLE = json.loads((DEMO / MANIFEST).read_text())
RUN, OF_RUNS, FILES = next(iter(WHOLE["runs"])), WHOLE["runs"], WHOLE["files"]


def kind_of(name: str) -> tuple[str, ...]:
    return (*name.split("/")[:2], Path(name).suffix) if "/" in name else (name,)


#: A file of each kind.
KINDS = list({kind_of(name): name for name in sorted(FILES, reverse=True)}.values())


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


NO_JSON = [(DEMO / MANIFEST).read_bytes()[:999], "{}".encode("utf-16"), b"[" * 100_000]
NO_JSON += [b"", b"{}", b"[]", b"null", b"1", b"NaN"]
MANIFESTS = {repr(content[:9]): holding(content) for content in NO_JSON}
for field in Stated.model_fields:
    MANIFESTS[f"without {field}"] = holding(json.dumps(without(WHOLE, field)).encode())
    MANIFESTS |= {f"{field} is {value}": stating(**{field: value}) for value in (None, 7)}
MANIFESTS |= {
    "a run is a text": stating(runs={RUN: "x"}),
    "a run has no hash": stating(runs={RUN: {}}),
    "a stage has no key": stating(stages=[{"stage": "a"}]),
    "a hash is a number": stating(files=FILES | {"summary.csv": 1}),
    "a file is not listed": stating(files=without(FILES, "summary.csv")),
}
#: What is done to a published file, and what the error names.
FAULTS = {f"{MANIFEST}: {what}": (MANIFEST, spoil, "") for what, spoil in MANIFESTS.items()}
FAULTS["a run is not listed"] = (MANIFEST, stating(runs=without(OF_RUNS, RUN)), RUN)
FAULTS["a run has another hash"] = (MANIFEST, stating(runs=OF_RUNS | {RUN: {"sha256": "0" * 64}}), RUN)
for name in KINDS:
    FAULTS |= {f"{name}: {what}": (name, spoil, name) for what, spoil in DAMAGES.items()}
for name, other in pairwise(KINDS):
    FAULTS[f"{name}: is {other}"] = (name, partial(shutil.copyfile, DEMO / other), name)
for name in ("more.csv", ".hidden", "shown/tables/more.csv"):
    FAULTS[f"{name}: is new"] = (name, holding(b"x"), name)


@cases(("name", "spoil", "words"), FAULTS)
def test_what_is_not_as_published_is_named(root, told, name, spoil, words):
    with spoilt(root, name, spoil), told(words):
        check_files(Published(root))


READERS = {
    METRICS_FILE: lambda published: published.metrics,
    RUNS_FILE: lambda published: published.runs,
    "filings.csv": lambda published: published.filings,
    "questions.csv": lambda published: published.dataset(),
    GENERATIONS_FILE: lambda published: published.generations(pd.DataFrame({"question_id": []})),
}


@pytest.mark.parametrize("name", READERS)
@cases("spoil", DAMAGES)
def test_a_book_that_reads_a_damaged_file_names_it(root, told, name, spoil):
    with spoilt(root, name, spoil), told(name):
        READERS[name](Published(root))


STORED = {
    record["stage"].split("/")[0]: (record["stage"], record["key"], file["path"])
    for record in reversed(WHOLE["stages"])
    for file in record.get("files", {}).values()
    if "path" in file
}


@cases(("stage", "key", "path"), STORED)
@cases("spoil", DAMAGES)
def test_a_damaged_stored_result_is_not_used(root, stage, key, path, spoil):
    assert Published(root).find(stage, key) is not None
    with spoilt(root, path, spoil):
        assert Published(root).find(stage, key) is None


def restated(path: Path, **changes: object) -> None:
    record = json.loads((path / "entry.json").read_text())
    (path / "entry.json").write_text(json.dumps(record | changes))


def taken_from_another(path: Path) -> None:
    shutil.rmtree(path)
    shutil.copytree(path.with_name(Store(path.parents[1]).key("a", {"b": 2})), path)


ENTRIES = {
    "the entry is a file": lambda path: (shutil.rmtree(path), path.write_text("x")),
    "the entry is empty": lambda path: (shutil.rmtree(path), path.mkdir()),
    "one file more": lambda path: (path / "more").write_text("x"),
    "the record is an empty object": lambda path: (path / "entry.json").write_text("{}"),
    "the record is a list": lambda path: (path / "entry.json").write_text("[]"),
    "the record has another key": partial(restated, key="0" * 20),
    "the record has other parameters": partial(restated, params={}),
    "the record has no files": partial(restated, files={}),
    "the entry of another result": taken_from_another,
}
for what, spoil in DAMAGES.items():
    ENTRIES |= {f"{name}: {what}": below(name, spoil) for name in ("entry.json", "rows.npy")}


@cases("spoil", ENTRIES)
def test_a_damaged_entry_of_the_store_is_made_anew(tmp_path, spoil):
    def made(number: int) -> Path:
        store = Store(tmp_path, say=lambda line: None)
        return store.get("a", {"b": number}, lambda target: (target / "rows.npy").write_text(str(number))).path

    first, _ = made(1), made(2)
    spoil(first)
    assert (made(1) / "rows.npy").read_text() == "1"


HOSTILE = texts(Path("/tmp/secret.txt"))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_escaped_in_myst_and_kept_in_csv(text):
    frame = pd.DataFrame({text: [text]})
    caption = f"::::{{table}} Of {escape(text)}.\n:name: tab-x\n\n| a |\n|---|\n| b |\n::::"
    for made in (markdown_table(frame), caption, f"**{escape(text)}**", escape(text), verbatim(text)):
        assert found_in(made) == []
    cells = {cell for row in csv.reader(io.StringIO(as_csv(frame), newline="")) for cell in row}
    assert cells == {f"'{text}" if is_computed(text) else text}  # an apostrophe where a spreadsheet would compute
    assert not any(map(is_computed, cells))
