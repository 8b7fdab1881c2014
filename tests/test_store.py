"""The store: whole or absent, damage noticed, nothing computed twice, a killed run goes on."""

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lib.files import digest_of, exclusively, write_atomically
from lib.store import RECORD, Store
from lib.typed import content_digest

ROOT = Path(__file__).resolve().parents[1]


class Computation:
    """Writes one file and counts how often it was asked to."""

    def __init__(self, content: str = "42"):
        self.content, self.n_calls = content, 0

    def __call__(self, target: Path) -> None:
        self.n_calls += 1
        (target / "result.txt").write_text(self.content)


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def open_store(tmp_path, told):
    """A new Store over the same directory, as a new process would have it."""
    return lambda: Store(tmp_path / "store", say=told.append)


def test_second_store_reuses_what_the_first_computed(open_store):
    compute = Computation()
    first = open_store().get("stage", {"a": 1}, compute)
    second = open_store().get("stage", {"a": 1}, compute)
    assert (first.origin, second.origin, compute.n_calls) == ("computed", "reused", 1)
    assert second.digest == first.digest
    assert (second.path / "result.txt").read_text() == "42"


@pytest.mark.parametrize(
    ("stage", "params", "version"), [("other", {"a": 1}, 1), ("stage", {"a": 2}, 1), ("stage", {"a": 1}, 2)]
)
def test_key_changes_with_stage_params_and_version(open_store, stage, params, version):
    store = open_store()
    assert store.key(stage, params, version) != store.key("stage", {"a": 1}, 1)


def test_key_does_not_depend_on_the_order_of_params(open_store):
    assert open_store().key("stage", {"a": 1, "b": 2}) == open_store().key("stage", {"b": 2, "a": 1})
    assert digest_of({"a": "é"}) != digest_of({"a": "e"})


def _flip_a_byte(entry):
    (entry.path / "result.txt").write_text("43")


def _cut_off(entry):
    (entry.path / "result.txt").write_text("4")


def _lose_the_file(entry):
    (entry.path / "result.txt").unlink()


def _lose_the_record(entry):
    (entry.path / RECORD).unlink()


def _cut_off_the_record(entry):
    text = (entry.path / RECORD).read_bytes()
    (entry.path / RECORD).write_bytes(text[: len(text) // 2])


def _garble_the_record(entry):
    (entry.path / RECORD).write_bytes(b"\xff\xfe\x00")


def _empty_the_record(entry):
    (entry.path / RECORD).write_text("[]")


def _change_the_digest(entry):
    record = json.loads((entry.path / RECORD).read_text())
    (entry.path / RECORD).write_text(json.dumps(record | {"digest": "0" * 20}))


@pytest.mark.parametrize(
    "damage",
    [
        _flip_a_byte,
        _cut_off,
        _lose_the_file,
        _lose_the_record,
        _cut_off_the_record,
        _garble_the_record,
        _empty_the_record,
        _change_the_digest,
    ],
)
def test_damaged_entry_is_noticed_set_aside_and_computed_again(open_store, told, damage):
    compute = Computation()
    damage(open_store().get("stage", {}, compute))
    mended = open_store().get("stage", {}, compute)
    assert (mended.origin, compute.n_calls) == ("computed", 2)
    assert (mended.path / "result.txt").read_text() == "42"
    assert told == [f"store: stage/{mended.key} is damaged; it is set aside and computed again"]
    assert len(list(mended.path.parent.glob(f"damaged-{mended.key}-*"))) == 1
    assert open_store().get("stage", {}, compute).origin == "reused"


def test_failed_computation_leaves_nothing(open_store, tmp_path):
    def fail(target: Path) -> None:
        (target / "half.txt").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_store().get("stage", {}, fail)
    left = [path for path in (tmp_path / "store").rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert not left
    assert open_store().get("stage", {}, Computation()).origin == "computed"


WORKER = """
import sys, time
from pathlib import Path
from lib.store import Store

def compute(target):
    with open(sys.argv[2], "a") as file:
        file.write("computed ")
    time.sleep(1)
    (target / "result.txt").write_text("once")

entry = Store(Path(sys.argv[1])).get("stage", {"a": 1}, compute)
print(entry.origin, entry.wall_s < 2, (entry.path / "result.txt").read_text())
"""


def test_two_processes_compute_an_entry_once(tmp_path):
    command = [sys.executable, "-c", WORKER, str(tmp_path / "store"), str(tmp_path / "count")]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = sorted(process.communicate(timeout=60)[0].strip() for process in both)
    assert said == ["computed True once", "reused True once"]
    assert (tmp_path / "count").read_text() == "computed "


def test_a_long_wait_for_another_process_is_told(tmp_path, monkeypatch, told):
    monkeypatch.setattr("lib.files.PATIENCE_S", 0.05)
    with exclusively(tmp_path / "entry"):
        waiting = threading.Thread(target=lambda: exclusively(tmp_path / "entry", told.append).__enter__())
        waiting.start()
        while not told:
            time.sleep(0.01)
    waiting.join(10)
    assert told == ["entry: another process holds it; waiting until that one ends"]


def test_write_atomically_replaces_whole_files_and_leaves_no_other(tmp_path):
    write_atomically(tmp_path / "deep" / "file", b"old")
    write_atomically(tmp_path / "deep" / "file", b"new")
    assert [(p.name, p.read_bytes()) for p in (tmp_path / "deep").iterdir()] == [("file", b"new")]


def test_a_reader_has_the_old_file_whole_while_the_new_one_is_written(tmp_path):
    write_atomically(tmp_path / "file", b"old")
    with (tmp_path / "file").open("rb") as reader:
        write_atomically(tmp_path / "file", b"newer and longer")
        assert reader.read() == b"old"


def test_use_is_reported_once_and_absence_is_reported(tmp_path):
    seen = []
    store = Store(tmp_path, on_use=lambda stage, key, origin: seen.append((stage, origin)))
    assert store.find("stage", {}) is None
    for _ in range(2):
        store.get("stage", {}, Computation())
    assert seen == [("stage", "absent"), ("stage", "computed")]


def test_frames_and_values_are_kept_with_their_types(open_store):
    frame = pd.DataFrame({"id": ["a", "b"], "n": [1, 2], "is_small": [True, False], "pages": [[0], [1, 2]]})
    for _ in range(2):
        kept = open_store().frame("frame", {}, lambda: frame)
        assert kept["pages"].map(list).tolist() == [[0], [1, 2]]
        pd.testing.assert_frame_equal(kept.drop(columns="pages"), frame.drop(columns="pages"))
        assert open_store().value("value", {}, lambda: {"é": [1, None]}) == {"é": [1, None]}


def test_a_public_frame_is_text_and_reads_as_the_same_bits(open_store):
    frame = pd.DataFrame(
        {
            "question:id": ["010", "", "NA", 'a "b", c\nd'],
            "value": [0.1 + 0.2, float("nan"), -0.0, 1e-300],
            "half": np.array([0.1, 0.2, 0.3, np.nan], np.float32),
            "n": [1, 2, 3, -4],
            "k": pd.array([1, None, 3, 4], "Int64"),
            "is_small": [True, False, True, True],
        }
    )
    for _ in range(2):
        store = open_store()
        kept = store.frame("frame", {}, lambda: frame[frame["n"] != 5], public=True)
        pd.testing.assert_frame_equal(kept, frame, check_exact=True)
        assert [path.name for path in store.root.glob("frame/*/frame.*")] == ["frame.csv"]
    with pytest.raises(TypeError, match="column 'pages' of a published frame contains a value that is no text"):
        store.frame("lists", {}, lambda: pd.DataFrame({"pages": [[0], [1]]}), public=True)


def test_an_entry_records_the_stages_that_it_used_and_those_behind_them(open_store):
    store = open_store()

    def middle(target: Path) -> None:
        store.get("first", {}, Computation())
        Computation()(target)

    def last(target: Path) -> None:
        store.get("middle", {}, middle)
        Computation()(target)

    entry = store.get("last", {}, last)
    assert {one.rpartition("/")[0] for one in entry.asked} == {"first", "middle"}
    assert {store.record(one)["stage"] for one in entry.asked} == {"first", "middle"}
    assert open_store().get("last", {}, last).asked == entry.asked


class Publication:
    """A published layer with one entry of one file."""

    def __init__(self, folder: Path, stage: str, key: str, text: str):
        record = {"stage": stage, "key": key, "digest": "d", "wall_s": 7.0, "peak_mib": 9.0, "files": ["result.txt"]}
        self.path, self.stages = folder, {(stage, key): record}
        folder.mkdir()
        (folder / "result.txt.gz").write_bytes(gzip.compress(text.encode()))

    def find(self, stage: str, key: str) -> tuple[Path, dict] | None:
        return (self.path, self.stages[stage, key]) if (stage, key) in self.stages else None


def test_the_published_layer_answers_before_anything_is_computed_and_nothing_is_copied(tmp_path, told):
    key = Store(tmp_path).key("stage", {"a": 1})
    layer = Publication(tmp_path / "published", "stage", key, "theirs")
    store, compute = Store(tmp_path / "store", told.append, published=layer), Computation()
    entry = store.get("stage", {"a": 1}, compute)
    assert (entry.origin, entry.wall_s, entry.read("result.txt")) == ("published", 7.0, b"theirs")
    assert store.get("stage", {"a": 2}, compute).origin == "computed"
    assert compute.n_calls == 1
    assert [path.name for path in (tmp_path / "store" / "stage").iterdir()] == [store.key("stage", {"a": 2})]


def test_a_copy_of_a_published_entry_that_an_earlier_version_made_is_replaced(open_store):
    path = open_store().get("stage", {"a": 1}, Computation("theirs")).path
    record = json.loads((path / RECORD).read_text())
    (path / RECORD).write_text(json.dumps(record | {"origin": "published"}))
    assert open_store().find("stage", {"a": 1}) is None
    assert open_store().get("stage", {"a": 1}, Computation("ours")).read("result.txt") == b"ours"
    assert open_store().get("stage", {"a": 1}, Computation()).origin == "reused"


def test_what_could_not_be_computed_was_looked_for(tmp_path, told):
    used = []
    store = Store(tmp_path / "store", told.append, on_use=lambda *given: used.append(given))

    def fail(target: Path) -> None:
        raise ValueError("no filings")

    with pytest.raises(ValueError, match="no filings"):
        store.get("stage", {"a": 1}, fail)
    key = store.key("stage", {"a": 1})
    assert used == [("stage", key, "absent")]
    assert not store.has(f"stage/{key}")
    store.get("stage", {"a": 1}, Computation())
    assert store.has(f"stage/{key}")


def test_two_entries_that_changed_places_are_noticed(open_store, tmp_path):
    one = open_store().get("stage", {"a": 1}, Computation("one")).path
    two = open_store().get("stage", {"a": 2}, Computation("two")).path
    one.rename(tmp_path / "aside")
    two.rename(one)
    (tmp_path / "aside").rename(two)
    entry = open_store().get("stage", {"a": 1}, Computation("one"))
    assert (entry.origin, (entry.path / "result.txt").read_text()) == ("computed", "one")


def run_killed(script: str, store: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, str(store)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return done.stdout


KILLED_IN_THE_MIDDLE = """
import os, signal, sys
from lib.store import Store

def compute(target):
    (target / "result.txt").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)

Store(sys.argv[1]).get("stage", {}, compute)
"""


def test_a_kill_while_computing_leaves_no_entry(open_store, tmp_path):
    run_killed(KILLED_IN_THE_MIDDLE, tmp_path / "store")
    entry = open_store().get("stage", {}, Computation())
    assert (entry.origin, (entry.path / "result.txt").read_text()) == ("computed", "42")


def test_the_digest_of_a_frame_is_that_of_its_values_whatever_their_types_and_parts():
    frame = pd.DataFrame({"name": ["x", "y", None, "x"], "k": pd.array([1, None, 3, 4], "Int64")})
    as_categories = frame.astype({"name": "category"})
    found = {content_digest(one) for one in (frame, as_categories)}
    found |= {content_digest(one[:2], one[2:]) for one in (frame, as_categories)}
    assert len(found) == 1
    assert content_digest(frame.assign(name=["x", "y", None, "y"])) not in found
