"""The store and the cache: whole or absent, damage noticed, nothing computed twice, a killed run goes on."""

import gzip
import json
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.cache import Cache
from lib.files import digest_of
from lib.frames import content_digest
from lib.schema import StudyError
from lib.store import RECORD, Store


class Computation:
    """Writes one file and counts how often it was asked to."""

    def __init__(self, content: str = "42"):
        self.content, self.n_calls = content, 0

    def __call__(self, target: Path) -> None:
        self.n_calls += 1
        (target / "result.txt").write_text(self.content)


@pytest.fixture
def told() -> list:
    """What a store reports."""
    return []


@pytest.fixture
def open_store(tmp_path, told):
    """A new Store over the same directory, as a new process would have it."""
    return lambda **named: Store(tmp_path / "store", **{"say": told.append} | named)


def test_second_store_reuses_what_the_first_computed_whatever_the_order_of_params(open_store):
    compute = Computation()
    first = open_store().files("stage", {"a": 1, "b": 2}, compute)
    second = open_store().files("stage", {"b": 2, "a": 1}, compute)
    assert (first.origin, second.origin, compute.n_calls) == ("computed", "reused", 1)
    assert (second.digest, second.read("result.txt")) == (first.digest, b"42")
    assert len({open_store().key(*of) for of in (("a", {}), ("b", {}), ("a", {"b": 1}), ("a", {}, 2))}) == 4


def changed(stage: str = "stage", **changes: object):
    """A change of a record, whose key is then that of its stage."""

    def change(text: bytes) -> bytes:
        record = json.loads(text) | {"stage": stage}
        key = digest_of({name: record[name] for name in ("stage", "version", "params")})[:20]
        return json.dumps(record | {"key": key} | changes).encode()

    return change


DAMAGED = {
    "a file is cut": ("result.txt", lambda text: text[:1]),
    "no record": (RECORD, lambda text: b"[]"),
    "another digest": (RECORD, changed(digest="0" * 20)),
    "other parameters": (RECORD, changed(params={"a": 2})),
    "another stage's": (RECORD, changed(stage="other")),
}


@pytest.mark.parametrize(("name", "spoil"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_entry_is_noticed_set_aside_and_computed_again(open_store, told, name, spoil):
    compute = Computation()
    path = open_store().files("stage", {}, compute).path / name
    path.write_bytes(spoil(path.read_bytes()))
    fixed = open_store().files("stage", {}, compute)
    assert (fixed.origin, compute.n_calls, fixed.read("result.txt")) == ("computed", 2, b"42")
    [line] = told
    assert f"stage/{fixed.key} is damaged" in line
    assert len(list(fixed.path.parent.glob(f"damaged-{fixed.key}-*"))) == 1
    assert open_store().files("stage", {}, compute).origin == "reused"


def test_what_could_not_be_computed_leaves_nothing_and_use_is_reported_once(open_store, told):
    def fail(target: Path) -> None:
        (target / "half.txt").write_text("half")
        raise ValueError("no filings")

    store = open_store(on_use=lambda *given: told.append(given))
    reference = "stage", store.key("stage", {})
    assert store.find("stage", {}) is None
    with pytest.raises(ValueError, match="no filings"):
        store.files("stage", {}, fail)
    assert not store.has("/".join(reference))
    assert not [path for path in store.root.rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert [store.files("stage", {}, Computation()).origin for _ in range(2)] == ["computed", "computed"]
    assert store.has("/".join(reference))
    assert told == [(*reference, "absent"), (*reference, "absent"), (*reference, "computed")]


def test_two_at_once_compute_an_entry_once_and_waiting_is_no_part_of_its_time(open_store):
    compute, entries = Computation(), []

    def slowly(target: Path) -> None:
        time.sleep(0.3)
        compute(target)

    def nested(number: int) -> float:
        store = open_store()
        outer = store.files("outer", {"number": number}, lambda _: entries.append(store.files("stage", {}, slowly)))
        return outer.wall_s

    with ThreadPoolExecutor(2) as pool:
        assert max(pool.map(nested, range(2))) < 0.3
    assert (sorted(entry.origin for entry in entries), compute.n_calls) == (["computed", "reused"], 1)


def test_a_public_frame_is_text_and_reads_as_the_same_bits(open_store):
    columns = {
        "question:id": ["010", "", "NA", 'a "b", c\nd'],
        "value": [0.1 + 0.2, float("nan"), -0.0, 1e-300],
        "half": np.array([0.1, 0.2, 0.3, np.nan], np.float32),
        "n": [1, 2, 3, -4],
        "k": pd.array([1, None, 3, 4], "Int64"),
        "is_small": [True, False, True, True],
    }
    frame, store = pd.DataFrame(columns), open_store()
    for _ in range(2):
        kept = open_store().frame("frame", {}, lambda: frame[frame["n"] != 5], public=True)
        pd.testing.assert_frame_equal(kept, frame, check_exact=True)
    assert [path.name for path in store.root.glob("frame/*/frame.*")] == ["frame.csv"]
    with pytest.raises(TypeError, match="'pages'"):
        store.frame("lists", {}, lambda: pd.DataFrame({"pages": [[0], [1]]}), public=True)


def test_a_frame_may_have_a_digest_of_its_own_and_an_entry_of_other_files_is_computed_again(open_store, told):
    frame = pd.DataFrame({"n": [1, 2]})
    old = open_store().files("runs/a", {}, Computation())
    entry = open_store().frame_entry(
        "runs/a", {}, lambda: frame, public=True, digest=lambda frame: str(frame["n"].sum())
    )
    assert (entry.origin, entry.digest, entry.names) == ("computed", "3", ("frame.parquet",))
    [line] = told
    assert f"runs/a/{old.key} is of an earlier version" in line
    again = open_store().frame_entry("runs/a", {}, lambda: frame[:1])
    assert (again.origin, again.digest) == ("reused", "3")
    pd.testing.assert_frame_equal(again.frame(), frame)


def test_an_entry_records_the_stages_that_it_used_and_those_behind_them(open_store):
    store = open_store()

    def middle(target: Path) -> None:
        store.files("first", {}, Computation())

    def last(target: Path) -> None:
        store.files("middle", {}, middle)

    store.files("middle", {}, middle)
    store = open_store()  # of which nothing behind the middle is asked
    entry = store.files("last", {}, last)
    assert {store.record(one)["stage"] for one in entry.asked} == {"first", "middle"}
    assert open_store().files("last", {}, last).asked == entry.asked


def test_the_published_layer_answers_before_anything_is_computed_and_nothing_is_copied(open_store, tmp_path):
    (tmp_path / "result.txt.gz").write_bytes(gzip.compress(b"theirs"))
    key = open_store().key("stage", {"a": 1})
    record = {"stage": "stage", "key": key, "digest": "d", "wall_s": 7.0, "files": ["result.txt"]}
    found = {("stage", key): (tmp_path, record)}
    layer = SimpleNamespace(stages={}, find=lambda *place: found.get(place))
    store, compute = open_store(published=layer), Computation()
    entry = store.files("stage", {"a": 1}, compute)
    assert (entry.origin, entry.wall_s, entry.read("result.txt")) == ("published", 7.0, b"theirs")
    assert store.files("stage", {"a": 2}, compute).origin == "computed"
    assert [path.name for path in (store.root / "stage").iterdir()] == [store.key("stage", {"a": 2})]


def test_the_digest_of_a_frame_is_that_of_its_values_whatever_their_types_and_parts():
    frame = pd.DataFrame({"name": ["x", "y", None, "x"], "k": pd.array([1, None, 3, 4], "Int64")})
    both = frame, frame.astype({"name": "category"})
    found = {content_digest(*parts) for one in both for parts in ((one,), (one[:2], one[2:]))}
    assert len(found) == 1
    assert content_digest(frame.assign(name=["x", "y", None, "y"])) not in found


class Model:
    """Gives a text's length and first letter, and remembers what it read."""

    def __init__(self, ends_at: str = ""):
        self.read, self.ends_at = [], ends_at

    def __call__(self, items: list) -> np.ndarray:
        self.read.append(items)
        if self.ends_at in items:
            raise KeyboardInterrupt
        return np.array([[len(item), ord(item[0])] for item in items], np.float32)


@pytest.fixture
def cache(tmp_path) -> Cache:
    return Cache(tmp_path / "deep" / "cache.sqlite")


def test_a_text_is_computed_once_per_model_in_batches_that_follow_the_items(cache):
    first, second = Model(), Model()
    rows = cache.rows({"model": "a"}, ["a", "bb", "a", "ccc", "bb"], first, batch_size=2)
    assert first.read == [["a", "bb"], ["a", "ccc"], ["bb"]]
    assert rows[:, 0].tolist() == [1, 2, 1, 3, 2]
    again = Cache(cache.path).rows({"model": "a"}, ["ccc", "dd", "a"], second)
    assert again.tolist() == [[3, ord("c")], [2, ord("d")], [1, ord("a")]]
    cache.rows({"model": "b"}, ["a"], second)
    assert second.read == [["dd"], ["a"]]


def test_pairs_records_and_nothing(cache):
    pairs = [("ab", "c"), ("a", "bc"), "abc"]  # no pair is another of the same letters
    assert cache.rows({}, pairs, lambda items: [0.1, 1.1, 2.1], dtype=np.float64).tolist() == [[0.1], [1.1], [2.1]]
    term = np.dtype([("term", np.int32), ("weight", np.float32)])
    assert cache.rows({}, ["x"], lambda items: np.ones((1, 3), term), dtype=term).dtype == term
    assert len(cache.rows({}, [], Model())) == 0


def test_a_short_result_a_damaged_file_and_a_full_disk_are_told(cache, monkeypatch):
    with pytest.raises(ValueError, match="is shorter"):
        cache.rows({}, ["a", "b"], lambda items: np.zeros((1, 2)))
    cache.path.write_bytes(b"no database" * 100)
    with pytest.raises(StudyError, match=r"cache.sqlite is damaged"):
        cache.rows({}, ["a"], Model())
    full = sqlite3.OperationalError("database or disk is full")
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **named: (_ for _ in ()).throw(full))
    with pytest.raises(StudyError, match="disk is full"):
        cache.rows({}, ["b"], Model())


def test_an_interrupted_run_resumes_at_the_batch_where_it_was(cache):
    texts, model = [str(n) for n in range(14)], Model()
    with pytest.raises(KeyboardInterrupt):
        cache.rows({}, texts, Model(ends_at="8"), 4)
    assert cache.rows({}, texts, model, 4)[:, 1].tolist() == [ord(text[0]) for text in texts]
    assert model.read == [texts[8:12], texts[12:]]
