"""What is known of an archive's pages is kept: equal to what is made anew, of exactly these filings."""

import numpy as np
import pandas as pd
import pytest

from lib.ahead.facts import facts_of
from lib.archive.described import described, filing_facts
from lib.archive.index import Plan, Shards
from lib.profile import Settings
from lib.retrievers.bm25 import BM25

NAMES = ["ACME", "BOLT", "CORD"]
TEXTS = ["Form 10-K. Fiscal year ended December 31, 2021. Revenue of 5", "cash and revenue", "cash"]
SETTINGS = Settings(k1=1.5, b=0.75)


@pytest.fixture
def shards(tmp_path, monkeypatch):
    """An index of three filings of a page and a window."""
    made = Shards(tmp_path / "index", Plan("stub", "stub", "float32", 1, 16, 4, 16, 4), tmp_path / "filings")
    (made.folder / "pages").mkdir(parents=True)
    for name, text in zip(NAMES, TEXTS, strict=True):
        pd.DataFrame({"doc_name": [name], "page": 0, "text": text}).to_parquet(made.path("pages", name))
    monkeypatch.setattr(made, "record", lambda name: {"files": {"pages": f"digest of {name}"}})
    monkeypatch.setattr(made, "names", lambda: NAMES)
    window = lambda name, columns: (pd.DataFrame({"doc_name": [name], "page": 0})[columns], np.eye(3)[[0]])  # noqa: E731
    monkeypatch.setattr(made, "windows", window)
    return made


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
        np.testing.assert_array_equal(read.words.get_scores(asked), made.words.get_scores(asked))


def test_one_file_is_kept_of_the_whole_index_its_settings_and_its_filings_as_they_are(shards, monkeypatch):
    kept = lambda: sorted(path.name for path in shards.folder.glob("described-*.npz"))  # noqa: E731
    described(shards, NAMES[:1], SETTINGS)
    files = [kept()]
    for settings, record in ((SETTINGS, ""), (Settings(k1=1.2, b=0.75), ""), (SETTINGS, "changed")):
        monkeypatch.setattr(shards, "record", lambda name, of=record: {"files": {"pages": name + of}})
        described(shards, NAMES, settings)
        files.append(kept())
    assert [len(names) for names in files] == [0, 1, 1, 1]
    assert len({*files[1], *files[2], *files[3]}) == 3


@pytest.mark.parametrize(
    "spoil", [lambda old: old[: len(old) // 2], lambda old: b"", lambda old: old.replace(b"cash", b"hash")]
)
def test_a_damaged_file_is_made_again(shards, spoil):
    made = described(shards, NAMES, SETTINGS)
    (path,) = shards.folder.glob("described-*.npz")
    path.write_bytes(spoil(path.read_bytes()))
    again = described(shards, NAMES, SETTINGS)
    np.testing.assert_array_equal(again.words.get_scores(["cash"]), made.words.get_scores(["cash"]))
    assert again.words.get_scores(["cash"]).sum() > 0


def test_what_pages_say_is_written_with_the_index_and_made_again_where_it_is_damaged_or_of_others(shards):
    described(shards, NAMES, SETTINGS)
    path, made = shards.path("facts", NAMES[0]), facts_of(TEXTS[:1])
    whole = path.read_bytes()
    for spoilt in (whole, whole[:-9], shards.path("facts", NAMES[1]).read_bytes()):
        path.write_bytes(spoilt)
        read = filing_facts(shards, NAMES[0], TEXTS[:1])
        np.testing.assert_array_equal(np.stack(read.pop("strengths")), np.stack(made["strengths"]))
        assert read.to_dict("list") == made.drop(columns="strengths").to_dict("list")
        assert path.read_bytes() == whole
