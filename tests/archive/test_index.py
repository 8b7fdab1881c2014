"""The folder of an index: what is not the index's own is never touched, and only indexing writes."""

from pathlib import Path

import pytest

from lib.archive.index import LOCK, PICTURES, PLAN, ArchiveIndex, _write, write_index
from lib.archive.sources import file_stat, passed_over, sources_of
from lib.archive.step import step_digest
from lib.files import digest_of_file
from lib.profile import load_profile
from tests.conftest import write_pdf

PROFILE = load_profile("default")


def tree(root: Path) -> dict[str, bytes | None]:
    """Every path below a folder, with the bytes of files."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None for path in root.rglob("*")
    }


def written(root: Path, *names: str) -> Path:
    """Files of these names below a folder, each with its name as content; the folder."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return root


def test_opening_an_index_that_is_not_there_creates_nothing(tmp_path):
    root = tmp_path / "filings"
    root.mkdir()
    archive = ArchiveIndex(tmp_path / "index", PROFILE, root)
    assert (archive.names(), archive.compare(None).names) == ([], [])
    assert tree(tmp_path) == {"filings": None}


STRANGERS = [
    "thesis/a.tex", "notes.txt", ".ssh/id", "described-mine.npz", "pages/mine.parquet", "pages/.hidden",
    "records/mine.json", "windows/a/b.parquet", f"{PICTURES}/holiday.png", f"{PICTURES}/0000-p1.png",
]  # fmt: skip


def test_files_of_others_in_an_index_stay(tmp_path):
    index, root = tmp_path / "index", tmp_path / "filings"
    root.mkdir()
    write_index(ArchiveIndex(index, PROFILE, root))
    written(index, *STRANGERS)
    (tmp_path / "out").mkdir()
    written(tmp_path / "out", "a.parquet")
    (index / "facts").symlink_to(tmp_path / "out")
    written(index, "pages/.A.12ab34cd.parquet", "records/.A.12ab34cd.json", f".{Path(PLAN).stem}.12ab34cd.json")
    written(index, f"{PICTURES}/{'0' * 16}-p0001.png", f"{PICTURES}/{'0' * 16}-p0001-{'a' * 8}.png")
    archive = ArchiveIndex(index, PROFILE, root)
    write_index(archive)
    left = {path.relative_to(index).as_posix() for path in index.rglob("*") if path.is_file()}
    assert {path for path in left if not path.startswith("chroma/")} == {*STRANGERS, PLAN, LOCK}
    assert (tmp_path / "out" / "a.parquet").exists()
    assert archive.names() == []
    assert not any(archive.compare(None).counts.values())


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_text("{"), lambda path: path.write_text("")])
def test_an_index_whose_plan_is_damaged_is_an_index(tmp_path, damage):
    index, root = tmp_path / "index", tmp_path / "filings"
    write_pdf(root / "SCAN.pdf", "")
    write_index(ArchiveIndex(index, PROFILE, root))
    before = (index / PLAN).read_bytes()
    damage(index / PLAN)
    assert len(write_index(ArchiveIndex(index, PROFILE, root))[1]) == 0
    assert (index / PLAN).read_bytes() == before


def test_what_a_folder_holds_that_is_not_read_is_named_with_how_many_and_what_to_do(tmp_path):
    read = ["A.pdf", "B.PDF", "pdfs/C.pdf", "pages/D.jsonl"]
    root = written(tmp_path, *read, "data/my_questions.jsonl", ".hidden/x.pdf", "pdfs/.x.htm", "images/logo.png")
    assert passed_over(root) == []
    written(root, "a.htm", "pdfs/b.HTM", "pages/e.pdf", "README", "pdfs/f.jsonl")
    written(root, "2021/10-K.pdf", "old/2022/10-K.PDF", "pdfs/2022/10-K.htm", "pdfs/2022/read.PDF")
    assert passed_over(root) == [
        "2 .htm, 1 .jsonl, 1 .pdf; save what is a filing as PDF in pdfs/, or as page text in pages/",
        "1 .htm, 2 .pdf in sub-folders (2021, old/2022, pdfs/2022); move the PDFs into pdfs/",
    ]
    assert [*sources_of(root)[0]] == ["A", "B", "C", "D", "read"]


def test_a_filing_that_is_there_and_cannot_be_read_is_not_called_removed(tmp_path):
    index, root = tmp_path / "index", tmp_path / "filings"
    write_pdf(root / "GONE.pdf", "Revenue")
    write_pdf(root / "ODD.pdf", "Revenue")
    archive = ArchiveIndex(index, PROFILE, root)
    for name in ("GONE", "ODD"):
        record = file_stat(root / f"{name}.pdf", root) | {"step": step_digest(), "problem": "a scan", "spans": ""}
        _write(archive.path("records", name), record | {"sha256": digest_of_file(root / f"{name}.pdf")})
    assert not any(archive.compare(None).counts.values())
    for name in ("GONE", "ODD"):
        (root / f"{name}.pdf").unlink()
    (root / "ODD.pdf").mkdir()
    assert str(archive.compare(None)) == "1 removed, 1 that cannot be read"
