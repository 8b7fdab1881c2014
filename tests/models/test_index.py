"""The index: vectors bit for bit, searches by filing and page, and what is damaged or half-written is not there."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from lib.files import ROOT
from lib.models import index as module
from lib.models.index import SEAL, chunk_of, open_index, page_of
from lib.schema import StudyError

NAME = "windows-test"
#: Segments are written every few records, as those of large collections are every thousand.
SMALL = module.HNSW | {"sync_threshold": 3, "batch_size": 2}
CHUNKS = ["A#p0000#c00", "A#p0000#c00", "A#p0007#c00"]
VECTORS = np.float32([[1, 0, 0], [0.6, 0.8, 0], [0, 0, 1]])


def filled(folder: Path, n_filings: int = 2, **given) -> Path:
    """An index of filings A, B, … of three windows each, in which a segment is written; its own folder."""
    with open_index(NAME, folder) as index:
        for letter in "ABCDEFGH"[:n_filings]:
            index.put(letter, f"of {letter}", [id.replace("A", letter) for id in CHUNKS], VECTORS)
    return folder / NAME


def read(folder: Path) -> dict[str, list]:
    with open_index(NAME, folder) as index:
        return {name: vectors.tolist() for name, (_, vectors) in index.read([*index.filings()]).items()}


def test_vectors_come_back_bit_for_bit_in_their_order_and_are_searched_by_filing_and_page(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 2)
    random = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)
    vectors = random / np.linalg.norm(random, axis=1, keepdims=True)
    chunks = [f"Ä#1 B#p{page:04}#c00" for page in (0, 0, 1, 2, 3, 4, 4)]
    with open_index(NAME, tmp_path) as index:
        index.put("Ä#1 B", "first", chunks, vectors)
        index.put("C", "other", ["C#p0001#c00"], vectors[:1])
        ids, found = index.read(["none", "Ä#1 B"])["Ä#1 B"]
        assert found.tobytes() == vectors.tobytes()
        assert list(map(chunk_of, ids)) == chunks
        assert [id[-4:] for id in ids] == ["#w00", "#w01", "#w00", "#w00", "#w00", "#w00", "#w01"]
        assert index.filings() == {"Ä#1 B": "first", "C": "other"}
        nearest = index.nearest(vectors[3], 2, {"doc_name": "Ä#1 B"})
        assert nearest.index[0] == "Ä#1 B#p0002#c00#w00"
        assert nearest.to_numpy() == pytest.approx(np.sort(vectors @ vectors[3])[::-1][:2], abs=1e-6)
        pages = {"$and": [{"doc_name": "Ä#1 B"}, {"page": {"$in": [0, 4]}}]}
        assert sorted(map(page_of, index.nearest(vectors[3], 99, pages).index)) == [0, 0, 4, 4]
        index.put("Ä#1 B", "second", chunks[:1], vectors[:1])  # in place of what was there
        assert index.filings()["Ä#1 B"] == "second"
        assert index.read(["Ä#1 B"])["Ä#1 B"][1].tobytes() == vectors[:1].tobytes()
        index.drop(["Ä#1 B", "C"])
        assert index.filings() == index.read(["C"]) == {}


def test_a_filing_that_is_half_written_or_not_as_it_was_written_is_not_there(tmp_path):
    filled(tmp_path, 4)
    with open_index(NAME, tmp_path) as index:
        index.records.delete(ids=["A#p0000#c00#w00"])  # the head, which goes last
        index.records.delete(ids=["B#p0007#c00#w00"])
        index.records.update(ids=["C#p0000#c00#w01"], embeddings=[VECTORS[0]])
        assert sorted(index.filings()) == ["B", "C", "D"]
        assert sorted(index.damaged()) == ["A", "B", "C"]
        assert [*index.read(["A", "B", "C", "D"])] == ["D"]


def test_one_that_reads_creates_nothing(tmp_path):
    with open_index(NAME, tmp_path / "none", writes=False) as index:
        assert index is None
    assert not [*tmp_path.iterdir()]


def test_a_damaged_segment_is_noticed_before_chroma_loads_it_and_whole_filings_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "HNSW", SMALL)
    home, said = filled(tmp_path, 3), []
    [path] = home.rglob("length.bin")
    path.write_bytes(b"")
    with pytest.raises(StudyError, match="run make index"), open_index(NAME, tmp_path, writes=False):
        pass
    with open_index(NAME, tmp_path, say=said.append) as index:
        assert sorted(index.filings()) == ["A", "B", "C"]
    assert said[0].endswith("3 filings were recovered")
    assert not [*tmp_path.glob("damaged-*")]
    assert read(tmp_path) == {letter: VECTORS.tolist() for letter in "ABC"}


KILLED = """
import sys
from pathlib import Path
import numpy as np
from lib.models.index import open_index
random = np.random.default_rng(0).normal(size=(4000, 64)).astype(np.float32)
with open_index("windows-test", Path(sys.argv[1])) as index:
    print("open", flush=True)
    for number in range(40):
        name = f"F{number}"
        if name not in index.filings():
            rows = slice(100 * number, 100 * number + 100)
            index.put(name, "d", [f"{name}#p{page:04}#c00" for page in range(100)], random[rows])
"""


@pytest.mark.slow
def test_a_writer_that_is_killed_loses_no_filing_that_it_had_written(tmp_path):
    random = np.random.default_rng(0).normal(size=(4000, 64)).astype(np.float32)
    command, n_before = [sys.executable, "-c", KILLED, str(tmp_path)], 0
    for wait in np.random.default_rng(1).uniform(0, 1.5, 8):
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
            run.stdout.readline()
            time.sleep(wait)
            os.kill(run.pid, signal.SIGKILL)
        with open_index(NAME, tmp_path, say=lambda line: None) as index:
            assert not index.damaged()
            found = index.read([*index.filings()])
        assert len(found) >= n_before
        n_before = len(found)
        for name, (_, vectors) in found.items():
            first = 100 * int(name[1:])
            np.testing.assert_array_equal(vectors, random[first : first + 100])
    assert subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 0
    with open_index(NAME, tmp_path) as index:
        assert len(index.filings()) == 40


@pytest.mark.parametrize("server", ["here", ":8000", "localhost:8000/x", "localhost:1"])
def test_a_server_that_is_none_is_one_sentence(tmp_path, monkeypatch, server):
    monkeypatch.setenv(module.SERVER, server)
    with pytest.raises(StudyError, match=server), open_index(NAME, tmp_path):
        pass


def test_a_full_disk_is_one_sentence_before_anything_is_written(tmp_path, monkeypatch):
    filled(tmp_path, 1)
    monkeypatch.setattr(module, "LEAST_FREE", 2**60)
    with pytest.raises(StudyError, match="disk full"), open_index(NAME, tmp_path) as index:
        index.put("B", "of B", CHUNKS, VECTORS)
    monkeypatch.undo()
    assert read(tmp_path) == {"A": VECTORS.tolist()}
    assert json.loads((tmp_path / NAME / SEAL).read_text()) == {}  # three windows are in SQLite alone


def test_chroma_that_fails_is_one_sentence_and_leaves_no_seal(tmp_path):
    home = filled(tmp_path, 1)
    with pytest.raises(StudyError, match="Chroma failed"), open_index(NAME, tmp_path) as index:
        index.nearest(np.ones(7, np.float32), 1)  # of another dimension
    assert not (home / SEAL).exists()
    assert read(tmp_path) == {"A": VECTORS.tolist()}
