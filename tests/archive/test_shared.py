"""A study of a folder and an archive of it share one collection of spans."""

import numpy as np
import pytest

from lib.archive import step
from lib.archive.ask import Archive
from lib.archive.index import ArchiveIndex, write_index
from lib.models import vectors
from lib.retrievers.spans import span_vectors
from lib.schema import StudyError
from tests.conftest import open_folder

SIZES = {"chunks.size": 16, "chunks.overlap": 4, "spans.size": 8, "spans.overlap": 2}
TEXTS = {"ACME": ["Acme annual report", "Net sales rose by a fifth " * 9], "BOLT": ["Cash flow fell", ""]}


class Counter:
    """An encoder of each text's length that keeps what it reads."""

    def __init__(self):
        self.seen = []

    def encode(self, texts, role="document"):
        self.seen += texts
        found = np.array([[len(text), 1] for text in texts], np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.fixture
def encoder(monkeypatch):
    made = Counter()
    for module in (step, vectors):
        monkeypatch.setattr(module, "load_encoder", lambda *given: made)
    return made


@pytest.fixture
def opened(folder, tokenizer_folder, tmp_path, encoder):
    """A study of two filings, and an archive of their folder that uses its collections."""
    for name, pages in TEXTS.items():
        folder.text(name, *pages)
        folder.document(name)
    folder.question("q0", "ACME", (1, "Net sales rose"), question="Did net sales rise?")
    weights = dict.fromkeys(("embedder.weights", "spans.weights"), str(tokenizer_folder))
    study = open_folder(folder.write(), tmp_path / "artifacts", SIZES | weights, "words")
    return study, ArchiveIndex(tmp_path / "archive", study.profile, folder.root, study.index_folder)


def test_what_a_study_has_embedded_is_not_embedded_by_an_archive_of_its_folder(opened, encoder):
    study, archive = opened
    _, found = span_vectors(study)
    n_seen = len(encoder.seen)
    assert n_seen > 0
    before, read = write_index(archive)
    assert (before.counts["added"], read["n_pages"].tolist()) == (2, [2, 2])
    assert len(encoder.seen) == n_seen
    with archive.open(writes=False) as index:
        of_archive = index.read(["ACME", "BOLT"])
    np.testing.assert_array_equal(np.concatenate([of_archive[name][1] for name in ("ACME", "BOLT")]), found)


def test_what_an_archive_has_embedded_is_not_embedded_by_a_study_of_its_folder(opened, encoder):
    study, archive = opened
    write_index(archive)
    n_seen = len(encoder.seen)
    assert len(span_vectors(study)[1]) > len(TEXTS)
    assert len(encoder.seen) == n_seen


def test_vectors_that_lie_elsewhere_are_named_as_missing_here_and_not_as_damaged(opened, tmp_path):
    _, archive = opened
    write_index(archive)
    elsewhere = ArchiveIndex(archive.folder, archive.profile, archive.root, tmp_path / "other")
    with elsewhere.open(writes=False) as index:
        assert str(elsewhere.compare(index)) == "2 without vectors here"
    with pytest.raises(StudyError, match="other has no vectors"):
        Archive(elsewhere)
    with archive.open(writes=False) as index:
        assert str(archive.compare(index)) == ""
