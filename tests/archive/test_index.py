"""The folder of an index: what is not the index's own is never touched, and only indexing writes."""

from pathlib import Path

import pytest

from lib.archive.index import LOCK, PICTURES, PLAN, ArchiveIndex, _write, write_index
from lib.archive.sources import file_stat, passed_over, sources_of
from lib.archive.step import step_digest
from lib.files import digest_of_file
from tests.archive.conftest import PROFILE
from tests.conftest import write_pdf


@pytest.fixture
def archive(tmp_path) -> ArchiveIndex:
    """The index, not written yet, of an empty folder."""
    (tmp_path / "filings").mkdir()
    return ArchiveIndex(tmp_path / "index", PROFILE, tmp_path / "filings")


def files(root: Path, *names: str) -> None:
    """Files of these names below a folder, each with its name as content."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


STRANGERS = [
    "thesis/a.tex", "notes.txt", ".ssh/id", "described-mine.npz", "pages/mine.parquet", "pages/.hidden",
    "records/mine.json", "windows/a/b.parquet", f"{PICTURES}/holiday.png", f"{PICTURES}/0000-p1.png",
]  # fmt: skip
LEFT_BY_A_KILL = ["pages/.A.12ab34cd.parquet", "records/.A.12ab34cd.json", f".{Path(PLAN).stem}.12ab34cd.json"]
PICTURES_OF_NO_FILING = [f"{PICTURES}/{'0' * 16}-p0001.png", f"{PICTURES}/{'0' * 16}-p0001-{'a' * 8}.png"]


def test_files_of_others_in_an_index_stay(archive, tmp_path):
    write_index(archive)
    files(tmp_path / "out", "a.parquet")
    (archive.folder / "facts").symlink_to(tmp_path / "out")
    files(archive.folder, *STRANGERS, *LEFT_BY_A_KILL, *PICTURES_OF_NO_FILING)
    again = ArchiveIndex(archive.folder, PROFILE, archive.root)
    write_index(again)
    left = {path.relative_to(archive.folder).as_posix() for path in archive.folder.rglob("*") if path.is_file()}
    assert {path for path in left if not path.startswith("chroma/")} == {*STRANGERS, PLAN, LOCK}
    assert (tmp_path / "out" / "a.parquet").exists()
    assert again.names() == []
    assert not any(again.compare(None).counts.values())


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_text("{"), lambda path: path.write_text("")])
def test_an_index_whose_plan_is_damaged_is_an_index(archive, damage):
    write_pdf(archive.root / "SCAN.pdf", "")
    write_index(archive)
    before = (archive.folder / PLAN).read_bytes()
    damage(archive.folder / PLAN)
    assert write_index(ArchiveIndex(archive.folder, PROFILE, archive.root))[1].empty
    assert (archive.folder / PLAN).read_bytes() == before


def test_what_a_folder_holds_that_is_not_read_is_named_with_how_many_and_what_to_do(tmp_path):
    files(tmp_path, "A.pdf", "B.PDF", "pdfs/C.pdf", "pages/D.jsonl")
    files(tmp_path, "data/my_questions.jsonl", ".hidden/x.pdf", "pdfs/.x.htm", "images/logo.png")
    assert passed_over(tmp_path) == []
    files(tmp_path, "a.htm", "pdfs/b.HTM", "pages/e.pdf", "README", "pdfs/f.jsonl")
    files(tmp_path, "2021/10-K.pdf", "old/2022/10-K.PDF", "pdfs/2022/10-K.htm", "pdfs/2022/read.PDF")
    assert passed_over(tmp_path) == [
        "2 .htm, 1 .jsonl, 1 .pdf; save what is a filing as PDF in pdfs/, or as page text in pages/",
        "1 .htm, 2 .pdf in sub-folders (2021, old/2022, pdfs/2022); move the PDFs into pdfs/",
    ]
    assert [*sources_of(tmp_path)[0]] == ["A", "B", "C", "D", "read"]


def test_a_filing_that_is_there_and_cannot_be_read_is_not_called_removed(archive):
    for name in ("GONE", "ODD"):
        path = write_pdf(archive.root / f"{name}.pdf", "Revenue")
        record = {"step": step_digest(), "problem": "a scan", "spans": "", "sha256": digest_of_file(path)}
        _write(archive.path("records", name), record | file_stat(path, archive.root))
    assert not any(archive.compare(None).counts.values())
    (archive.root / "GONE.pdf").unlink()
    (archive.root / "ODD.pdf").unlink()
    (archive.root / "ODD.pdf").mkdir()
    assert str(archive.compare(None)) == "1 removed, 1 that cannot be read"
