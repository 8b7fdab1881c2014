"""The index: windows that drop nothing, vectors that are made once and kept by their text."""

import copy

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
    asked = [([*abb, "a"], "document", False, [*abb, "a"]), (ab, "document", False, ["b"]), (ab, "query", False, ab)]
    asked += [(abb, "query", True, abb), (abb, "query", True, []), (ab, "query", True, ab)]
    for texts, role, is_pinned, seen in asked:
        study.encoder.seen.clear()
        vectors = index.encode_texts(study, "embeddings/test", texts, role, is_pinned)
        assert vectors.tolist() == [[len(text), 1] for text in texts]
        assert study.encoder.seen == seen


def test_each_different_text_is_read_once_and_the_study_s_own_windows_before_another_chunk_table(make):
    study = make(["net", "sales"])
    table = copy.copy(study)
    table.chunking, table.over = "table", lambda chunking: study
    with study.store.recording() as asked:
        vectors = index.text_vectors(table, "embeddings/table", ["sales", "cash", "sales"])
    assert vectors[:, 0].tolist() == [5, 4, 5]
    assert study.encoder.seen == ["net", "sales", "cash"]
    assert {one.rpartition("/")[0] for one in asked} == {"embeddings/table"}
