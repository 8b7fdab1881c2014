"""The search data of an archive is written once: equal to what is computed anew, of exactly these filings."""

import numpy as np
import pandas as pd
import pytest

from lib.archive.index import ArchiveIndex
from lib.archive.search_data import search_data
from lib.retrievers.bm25 import BM25
from tests.archive.conftest import PROFILE

TEXTS = {
    "ACME": "Form 10-K. Fiscal year ended December 31, 2021. Revenue of 5",
    "BOLT": "cash and revenue",
    "CORD": "cash",
}
NAMES = [*TEXTS]


@pytest.fixture
def written(tmp_path, monkeypatch):
    """An index of three filings of a page."""
    data = ArchiveIndex(tmp_path / "index", PROFILE, tmp_path / "filings")
    (data.folder / "pages").mkdir(parents=True)
    for name, text in TEXTS.items():
        pd.DataFrame({"doc_name": [name], "page": 0, "text": text}).to_parquet(data.path("pages", name))
    monkeypatch.setattr(data, "record", lambda name: {"pages": f"digest of {name}"})
    monkeypatch.setattr(data, "names", lambda: NAMES)
    return data


def test_what_is_read_scores_as_what_was_made(written, monkeypatch):
    data = search_data(written, NAMES)
    monkeypatch.setattr(BM25, "of_texts", lambda *given: pytest.fail("computed again"))
    read = search_data(written, NAMES)
    assert read.filings == data.filings
    pd.testing.assert_frame_equal(read.pages, data.pages, check_dtype=False)
    for question in ("What was revenue in 2021?", "cash", "nothing known", ""):
        asked = data.bm25.tokens(question)
        assert read.bm25.tokens(question) == asked
        np.testing.assert_array_equal(read.bm25.get_scores(asked), data.bm25.get_scores(asked))


def test_one_file_is_kept_of_the_whole_index_its_settings_and_its_filings_as_they_are(written, monkeypatch):
    search_data(written, NAMES[:1])
    assert not [*written.folder.glob("described-*.npz")]
    files = set()
    for k1, record in ((1.5, ""), (1.2, ""), (1.5, "changed")):
        monkeypatch.setattr(written, "record", lambda name, of=record: {"pages": name + of})
        monkeypatch.setattr(written, "profile", written.profile.replaced({"bm25.k1": k1}))
        search_data(written, NAMES)
        (path,) = written.folder.glob("described-*.npz")
        files.add(path.name)
    assert len(files) == 3


DAMAGES = [lambda old: old[: len(old) // 2], lambda old: b"", lambda old: old.replace(b"cash", b"hash")]


@pytest.mark.parametrize("spoil", DAMAGES)
def test_a_damaged_file_is_made_again(written, spoil):
    data = search_data(written, NAMES)
    (path,) = written.folder.glob("described-*.npz")
    path.write_bytes(spoil(path.read_bytes()))
    again = search_data(written, NAMES)
    np.testing.assert_array_equal(again.bm25.get_scores(["cash"]), data.bm25.get_scores(["cash"]))
    assert again.bm25.get_scores(["cash"]).sum() > 0
