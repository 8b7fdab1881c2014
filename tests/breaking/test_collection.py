"""A collection whose files are damaged, each in every way: noticed before Chroma loads them, and written again."""

from contextlib import suppress

import pytest

from lib.models import index
from lib.models.index import SEAL, open_index
from lib.schema import StudyError
from tests.breaking.damage import DAMAGES
from tests.models.test_index import NAME, SMALL, VECTORS, filled, read

pytestmark = [pytest.mark.breaking, pytest.mark.slow]
FILES = ("data_level0.bin", "header.bin", "index_metadata.pickle", "length.bin", "chroma.sqlite3", SEAL)
HOW = [name for name in DAMAGES if name not in ("a folder", "a dangling link")]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_noticed_before_chroma_loads_it_and_whole_filings_are_kept(tmp_path, monkeypatch, name, how):
    monkeypatch.setattr(index, "HNSW", SMALL)
    whole = {letter: VECTORS.tolist() for letter in "ABC"}
    home = filled(tmp_path, 3)
    assert read(tmp_path) == whole
    [path] = home.rglob(name)
    DAMAGES[how](path)
    if name != "chroma.sqlite3":
        with pytest.raises(StudyError, match="run make index"), open_index(NAME, tmp_path, writes=False):
            pass
    with suppress(StudyError):  # a database may fail only when it is read: then the folder is set aside the next time
        assert read(tmp_path).items() <= whole.items()
    filled(tmp_path, 3)
    assert read(tmp_path) == whole
