"""The index: windows that drop nothing, vectors that are made once and kept by their text."""

import copy
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from lib.models import index

LONG = " ".join(f"w{n}" for n in range(20))


class CountingEncoder:
    def __init__(self):
        self.seen = []

    def encode(self, texts, role="document"):
        self.seen += texts
        return np.array([[len(text), 1] for text in texts], np.float32)


@pytest.fixture
def make(fake_study, tokenizer_folder, monkeypatch):
    def study(texts, **embedder):
        settings = {"weights": str(tokenizer_folder), "window": 12, "window_overlap": 2, "batch_size": 4}
        settings |= {"long_chunks": "windows", "precision": "float32"} | embedder
        made = fake_study(["?"], texts, {"embedder": settings})
        made.encoder = CountingEncoder()
        monkeypatch.setattr(index, "load_encoder", lambda *args: made.encoder)
        return made

    return study


def test_windows_leave_room_for_special_tokens_and_drop_no_word_and_truncate_keeps_the_first(make, wordpiece):
    table = index.windows(make(["net sales", LONG]))
    assert table["chunk"].tolist() == [0] + [1] * (len(table) - 1)
    assert all(len(wordpiece.encode(text).ids) <= 12 for text in table["text"])
    assert set(LONG.split()) <= set(" ".join(table["text"]).split())
    first = index.windows(make(["net sales", LONG], long_chunks="truncate"))
    assert first["text"].tolist() == table["text"].tolist()[:2]


def test_a_text_is_encoded_once_in_a_role_unless_its_list_is_pinned(make):
    study, ab, abb = make(["net"]), ["a", "b"], ["a", "bb"]
    for texts, role, is_pinned, seen in [
        ([*abb, "a"], "document", False, [*abb, "a"]),
        (ab, "document", False, ["b"]),
        (ab, "query", False, ab),
        (abb, "query", True, abb),
        (abb, "query", True, []),
        (ab, "query", True, ab),
    ]:
        study.encoder.seen.clear()
        vectors = index.encode_texts(study, "embeddings/test", texts, role, is_pinned)
        assert vectors.tolist() == [[len(text), 1] for text in texts]
        assert study.encoder.seen == seen


def test_each_different_text_is_read_once_by_the_window_that_is_asked_for(make, monkeypatch):
    study, windows = make(["net"]), []
    monkeypatch.setattr(index, "load_encoder", lambda weights, window, *_: windows.append(window) or study.encoder)
    vectors = index.text_vectors(study, "embeddings/test", ["net", "cash flow", "net"], 40)
    assert vectors[:, 0].tolist() == [3, 9, 3]
    assert study.encoder.seen == ["net", "cash flow"]
    assert windows == [40]


def test_the_study_s_own_windows_come_before_another_chunk_table(make, monkeypatch):
    """A vector says how many texts shared its batch: two are the study's own, three with the table's first text."""

    def vectors_of_table(makes_own_first: bool) -> list[list[float]]:
        own = make(["net", "sales"])
        table = copy.copy(own)
        table.chunking, table.chunks = "table", own.chunks.assign(text=["sales", "cash"])
        table.over = lambda chunking: own
        monkeypatch.setattr(index, "load_encoder", lambda *args: SimpleNamespace(encode=counted))
        if makes_own_first:
            index.window_vectors(own)
        with own.store.recording() as asked:
            found = index.text_vectors(table, "embeddings/table", table.chunks["text"]).tolist()
        assert {one.rpartition("/")[0] for one in asked} == {"embeddings/table"}
        own.cache.path.unlink()
        shutil.rmtree(own.store.root)
        return found

    def counted(texts, role):
        return np.full((len(texts), 1), len(texts), np.float32)

    assert vectors_of_table(True) == vectors_of_table(False) == [[2.0], [1.0]]
