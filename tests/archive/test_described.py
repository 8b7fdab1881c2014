"""What is known of an archive's pages is kept: equal to what is made anew, of exactly these filings."""

import numpy as np
import pandas as pd
import pytest

from lib.archive.described import described
from lib.archive.index import Plan, Shards
from lib.files import digest_of
from lib.profile import Settings
from lib.retrievers.bm25 import BM25
from tests.archive.test_archive import NAMES

PLAN = Plan("stub", "stub", "float32", 1, 16, 4, 16, 4)
SETTINGS = Settings(k1=1.5, b=0.75)


@pytest.fixture
def shards(tmp_path, monkeypatch, pages):
    made = Shards(tmp_path, PLAN, tmp_path)
    monkeypatch.setattr(made, "record", lambda name: {"files": {"pages": digest_of(name)}})
    monkeypatch.setattr(made, "names", lambda: NAMES)
    monkeypatch.setattr(
        made, "windows", lambda name, columns: (pages[pages["doc_name"] == name][columns], np.eye(3)[[0]])
    )
    monkeypatch.setattr("lib.archive.described.pages_of", lambda shards, names: pages[pages["doc_name"].isin(names)])
    return made


@pytest.fixture
def pages():
    texts = ["Form 10-K. Fiscal year ended December 31, 2021. Revenue of 5", "cash and revenue", "cash"]
    return pd.DataFrame({"doc_name": NAMES, "page": 0, "text": texts})


def kept(shards):
    return sorted(shards.folder.glob("described-*.npz"))


def test_what_is_read_scores_as_what_was_made(shards, monkeypatch):
    made = described(shards, NAMES, SETTINGS)
    monkeypatch.setattr(BM25, "of_texts", lambda *given: pytest.fail("made again"))
    read = described(shards, NAMES, SETTINGS)
    assert read.filed == made.filed
    pd.testing.assert_frame_equal(read.pages, made.pages, check_dtype=False)
    np.testing.assert_array_equal(read.owners, made.owners)
    np.testing.assert_array_equal(read.vectors, made.vectors)
    for question in ("What was revenue in 2021?", "cash", "nothing known", ""):
        asked = made.words.tokens(question)
        assert read.words.tokens(question) == asked
        np.testing.assert_array_equal(read.words.scores(asked), made.words.scores(asked))


def test_other_settings_and_other_filings_are_described_anew_and_one_file_is_kept(shards, monkeypatch):
    described(shards, NAMES, SETTINGS)
    (first,) = kept(shards)
    described(shards, NAMES, Settings(k1=1.2, b=0.75))
    (second,) = kept(shards)
    monkeypatch.setattr(shards, "record", lambda name: {"files": {"pages": "changed"}})
    described(shards, NAMES, SETTINGS)
    (third,) = kept(shards)
    assert len({first.name, second.name, third.name}) == 3


def test_a_part_of_an_index_is_not_written(shards):
    described(shards, NAMES[:1], SETTINGS)
    assert kept(shards) == []


@pytest.mark.parametrize(
    "spoil", [lambda old: old[: len(old) // 2], lambda old: b"", lambda old: old.replace(b"cash", b"hash")]
)
def test_a_damaged_file_is_made_again(shards, spoil):
    made = described(shards, NAMES, SETTINGS)
    (path,) = kept(shards)
    whole = path.read_bytes()
    path.write_bytes(spoil(whole))
    again = described(shards, NAMES, SETTINGS)
    np.testing.assert_array_equal(again.words.scores(["cash"]), made.words.scores(["cash"]))
    assert again.words.scores(["cash"]).sum() > 0
