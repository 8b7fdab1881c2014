"""The store: whole or absent, damage noticed, nothing computed twice, a killed run goes on."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from lib.locks import exclusively
from lib.store import ENTRY_FILE, Store, digest_of, write_atomically

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
    (entry.path / ENTRY_FILE).unlink()


def _cut_off_the_record(entry):
    text = (entry.path / ENTRY_FILE).read_bytes()
    (entry.path / ENTRY_FILE).write_bytes(text[: len(text) // 2])


def _garble_the_record(entry):
    (entry.path / ENTRY_FILE).write_bytes(b"\xff\xfe\x00")


def _empty_the_record(entry):
    (entry.path / ENTRY_FILE).write_text("[]")


def _change_the_digest(entry):
    record = json.loads((entry.path / ENTRY_FILE).read_text())
    (entry.path / ENTRY_FILE).write_text(json.dumps(record | {"digest": "0" * 20}))


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
    monkeypatch.setattr("lib.locks.PATIENCE_S", 0.05)
    with exclusively(tmp_path / "entry"):
        waiting = threading.Thread(target=lambda: exclusively(tmp_path / "entry", told.append).__enter__())
        waiting.start()
        while not told:
            time.sleep(0.01)
    waiting.join(10)
    assert told == ["entry: another process is at it; waiting for it to end"]


def test_write_atomically_replaces_whole_files_and_leaves_no_other(tmp_path):
    write_atomically(tmp_path / "deep" / "file", b"old")
    write_atomically(tmp_path / "deep" / "file", b"new")
    assert [(p.name, p.read_bytes()) for p in (tmp_path / "deep").iterdir()] == [("file", b"new")]


def test_a_reader_has_the_old_file_whole_while_the_new_one_is_written(tmp_path):
    write_atomically(tmp_path / "file", b"old")
    with (tmp_path / "file").open("rb") as reader:
        write_atomically(tmp_path / "file", b"newer and longer")
        assert reader.read() == b"old"


def test_on_entry_is_told_once_for_every_entry(tmp_path):
    seen = []
    store = Store(tmp_path, on_entry=seen.append)
    for _ in range(2):
        store.get("stage", {}, Computation())
    assert [(entry.stage, entry.origin) for entry in seen] == [("stage", "computed")]


def squares(items) -> np.ndarray:
    return np.array([[item, item * item] for item in items], np.float32)


def test_shards_make_one_array_and_remove_their_parts(open_store, tmp_path):
    entry = open_store().shards("squares", {}, range(10), squares, shard_size=4)
    assert np.load(entry.path / "rows.npy").tolist() == [[i, i * i] for i in range(10)]
    assert not list((tmp_path / "store" / "squares").glob("parts-*"))


def test_shards_of_nothing_are_an_empty_array(open_store):
    entry = open_store().shards("squares", {}, [], squares)
    assert len(np.load(entry.path / "rows.npy")) == 0


def test_shards_with_a_wrong_number_of_rows_are_refused(open_store):
    with pytest.raises(ValueError, match="4 items gave 3 rows"):
        open_store().shards("squares", {}, range(4), lambda items: squares(items)[1:])


KILLED = """
import os, signal, sys
import numpy as np
from lib.store import Store

def compute(items):
    print(items[0], flush=True)
    if items[0] == 8:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.array([[item, item * item] for item in items], np.float32)

Store(sys.argv[1]).shards("squares", {}, range(14), compute, shard_size=4)
"""


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


@pytest.mark.parametrize("spoil", [None, b"", b"half"])
def test_shards_go_on_after_a_kill(open_store, tmp_path, spoil):
    assert run_killed(KILLED, tmp_path / "store").split() == ["0", "4", "8"]
    if spoil is not None:  # the machine went down with the process, and a shard's bytes with it
        shard = next((tmp_path / "store").rglob("00000004.npy"))
        shard.write_bytes(shard.read_bytes()[:-8] if spoil == b"half" else spoil)
    computed = []

    def compute(items):
        computed.append(items[0])
        return squares(items)

    entry = open_store().shards("squares", {}, range(14), compute, shard_size=4)
    assert computed == ([8, 12] if spoil is None else [4, 8, 12])
    assert np.load(entry.path / "rows.npy").tolist() == [[i, i * i] for i in range(14)]


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
