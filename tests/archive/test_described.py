"""What is known of an archive's pages is kept: equal to what is made anew, of exactly these filings."""

import numpy as np
import pandas as pd
import pytest

from lib.archive.described import described
from lib.archive.index import ArchiveIndex
from lib.profile import load_profile
from lib.retrievers.bm25 import BM25

NAMES = ["ACME", "BOLT", "CORD"]
TEXTS = ["Form 10-K. Fiscal year ended December 31, 2021. Revenue of 5", "cash and revenue", "cash"]


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """An index of three filings of a page."""
    made = ArchiveIndex(tmp_path / "index", load_profile("default"), tmp_path / "filings")
    (made.folder / "pages").mkdir(parents=True)
    for name, text in zip(NAMES, TEXTS, strict=True):
        pd.DataFrame({"doc_name": [name], "page": 0, "text": text}).to_parquet(made.path("pages", name))
    monkeypatch.setattr(made, "record", lambda name: {"pages": f"digest of {name}"})
    monkeypatch.setattr(made, "names", lambda: NAMES)
    return made


def test_what_is_read_scores_as_what_was_made(kept, monkeypatch):
    made = described(kept, NAMES)
    monkeypatch.setattr(BM25, "of_texts", lambda *given: pytest.fail("made again"))
    read = described(kept, NAMES)
    assert read.filed == made.filed
    pd.testing.assert_frame_equal(read.pages, made.pages, check_dtype=False)
    for question in ("What was revenue in 2021?", "cash", "nothing known", ""):
        asked = made.words.tokens(question)
        assert read.words.tokens(question) == asked
        np.testing.assert_array_equal(read.words.get_scores(asked), made.words.get_scores(asked))


def test_one_file_is_kept_of_the_whole_index_its_settings_and_its_filings_as_they_are(kept, monkeypatch):
    there = lambda: sorted(path.name for path in kept.folder.glob("described-*.npz"))  # noqa: E731
    described(kept, NAMES[:1])
    files = [there()]
    for k1, record in ((1.5, ""), (1.2, ""), (1.5, "changed")):
        monkeypatch.setattr(kept, "record", lambda name, of=record: {"pages": name + of})
        monkeypatch.setattr(kept, "profile", kept.profile.replaced({"bm25.k1": k1}))
        described(kept, NAMES)
        files.append(there())
    assert [len(names) for names in files] == [0, 1, 1, 1]
    assert len({*files[1], *files[2], *files[3]}) == 3


@pytest.mark.parametrize(
    "spoil", [lambda old: old[: len(old) // 2], lambda old: b"", lambda old: old.replace(b"cash", b"hash")]
)
def test_a_damaged_file_is_made_again(kept, spoil):
    made = described(kept, NAMES)
    (path,) = kept.folder.glob("described-*.npz")
    path.write_bytes(spoil(path.read_bytes()))
    again = described(kept, NAMES)
    np.testing.assert_array_equal(again.words.get_scores(["cash"]), made.words.get_scores(["cash"]))
    assert again.words.get_scores(["cash"]).sum() > 0
