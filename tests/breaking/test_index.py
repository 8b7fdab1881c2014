"""An index is a mirror of its folder, whatever happens to either: filings, odd files, damage, kills, full disks."""

import errno
import json
import os
import shutil
import tempfile
from pathlib import Path
from unittest import mock

import hypothesis
import numpy as np
import pymupdf
import pytest
from click.testing import CliRunner
from hypothesis import stateful
from hypothesis import strategies as some

from lib.__main__ import ask, commands
from lib.__main__ import index as index_command
from lib.archive import index
from lib.archive.ask import Archive, page_picture
from lib.archive.index import Plan, Shards, write_shards
from lib.data import pdf
from lib.data.locate import folder_of, named_apart
from lib.files import aside
from lib.words import StudyError
from tests.breaking.damage import DAMAGES, cases

breaking = pytest.mark.breaking
PLAN = Plan("stub", "stub", "float32", 1, 16, 4, 16, 4)


class Stub:
    """An encoder: a text's letters, counted."""

    def encode(self, texts, role="passage"):
        counts = [[text.lower().count(letter) + 1 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        return np.array(counts, np.float32) / np.linalg.norm(np.array(counts, np.float32), axis=1, keepdims=True)


@pytest.fixture(scope="module", autouse=True)
def stub(wordpiece):
    with (
        mock.patch.object(Plan, "encoder", return_value=Stub()),
        mock.patch.object(index, "load_tokenizer", return_value=wordpiece),
        mock.patch.object(index, "fetch"),
    ):
        yield


def write_text(root: Path, name: str, *texts: str) -> Path:
    lines = [json.dumps({"doc_name": name, "page": page, "text": text}) for page, text in enumerate(texts)]
    (root / "pages").mkdir(parents=True, exist_ok=True)
    path = root / "pages" / f"{name}.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def write_pdf(path: Path, *texts: str, **size) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with pymupdf.open() as made:
        for text in texts:
            made.new_page(**size).insert_text((50, 50), text)
        made.save(path)
    return path


@pytest.fixture
def root(tmp_path) -> Path:
    """A folder of two filings."""
    write_text(tmp_path / "filings", "ACME", "Acme annual report", "Net sales rose")
    write_text(tmp_path / "filings", "BOLT", "Bolt annual report", "Cash flow fell")
    return tmp_path / "filings"


@pytest.fixture
def shards(root, tmp_path) -> Shards:
    made = Shards(tmp_path / "index", PLAN, root)
    write_shards(made)
    return made


CHANGES = {
    "nothing": (lambda root: None, "", ["ACME", "BOLT"]),
    "touched": (lambda root: os.utime(root / "pages" / "ACME.jsonl", (1, 1)), "", ["ACME", "BOLT"]),
    "added": (lambda root: write_text(root, "CORK", "Cork"), "1 added", ["ACME", "BOLT", "CORK"]),
    "changed": (lambda root: write_text(root, "ACME", "Other pages"), "1 changed", ["ACME", "BOLT"]),
    "removed": (lambda root: (root / "pages" / "ACME.jsonl").unlink(), "1 removed", ["BOLT"]),
    "all removed": (lambda root: shutil.rmtree(root / "pages"), "2 removed", []),
}


@breaking
@cases(("change", "said", "names"), CHANGES)
def test_a_change_of_the_folder_is_seen_and_followed(shards, root, change, said, names):
    change(root)
    seen = shards.compare()
    assert str(seen) == said
    assert set(seen.names) <= {*names}  # a changed filing is not searched as it was
    write_shards(shards)
    assert shards.compare().names == names == shards.names()
    assert {path.stem for path in shards.folder.glob("*/*")} == {*names}
    assert write_shards(shards)[1].empty


FILES = ("plan.json", "pages/ACME.parquet", "windows/ACME.parquet", "records/ACME.json")


@breaking
@pytest.mark.parametrize("file", FILES)
@cases("spoil", {name: spoil for name, spoil in DAMAGES.items() if name != "a folder"})
def test_a_damaged_file_of_the_index_is_made_again(shards, root, file, spoil):
    whole = {path: path.read_bytes() for kind in ("pages", "windows") for path in shards.folder.glob(f"{kind}/*")}
    spoil(shards.folder / file)
    again = Shards(shards.folder, PLAN, root)
    assert Archive(again).pages["doc_name"].unique().tolist() == ["ACME", "BOLT"][int(file != "plan.json") :]
    write_shards(again)
    assert {path: path.read_bytes() for path in whole} == whole
    assert again.compare().names == ["ACME", "BOLT"]


ODD = {
    "a dangling link": lambda root: (root / "X.pdf").symlink_to("nowhere"),
    "a link to itself": lambda root: (root / "X.pdf").symlink_to("X.pdf"),
    "a link to a file outside": lambda root: (root / "X.pdf").symlink_to(write_pdf(root.parent / "out.pdf", "secret")),
    "a link to a folder outside": lambda root: (
        write_pdf(root.parent / "out" / "X.pdf", "secret"),
        (root / "pdfs").symlink_to(root.parent / "out"),
    ),
    "a folder": lambda root: (root / "X.pdf").mkdir(),
    "a pipe": lambda root: os.mkfifo(root / "X.pdf"),
    "a long name": lambda root: write_pdf(root / f"X{'x' * 240}.pdf", "text"),
    "a line end in a name": lambda root: write_pdf(root / "X\nleft out: all.pdf", "text"),
    "no UTF-8 in a name": lambda root: os.close(os.open(os.fsencode(root) + b"/X\xff.pdf", os.O_CREAT)),
    "another of this name": lambda root: [write_pdf(root / at / "X.PDF", at or "-") for at in ("", "pdfs")],
    "a scan": lambda root: write_pdf(root / "X.pdf", "", ""),
    "no PDF": lambda root: (root / "X.pdf").write_text("%PDF-1.7 nothing"),
    "an empty file": lambda root: (root / "X.pdf").touch(),
    "lines that are no pages": lambda root: (root / "pages" / "X.jsonl").write_text("{\n"),
}


@breaking
@cases("make", ODD)
def test_an_odd_file_is_left_out_with_its_path_and_stops_no_other(shards, root, monkeypatch, make):
    make(root)
    write_text(root, "CORK", "Cork")
    monkeypatch.setattr(index, "shards_of", lambda *given: shards)
    for is_again in (False, True):
        done = CliRunner().invoke(index_command, [])
        assert done.exit_code == 0, done.output
        said = [line for line in done.stderr.splitlines() if line.startswith("left out: ")]
        assert len(said) == 1
        assert "X" in said[0] or "pdfs: leads out" in said[0]
        assert "1 left out" in done.stdout
        assert ("1 left out; read now: 0 pages" in done.stdout) == is_again
    assert [name for name in shards.names() if name != "X"] == ["ACME", "BOLT", "CORK"]
    archive = CliRunner().invoke(ask, ["net sales"])
    assert archive.exit_code == 0, archive.output
    assert archive.stdout.startswith("1. ACME, page 1")
    assert "secret" not in archive.output


@breaking
def test_a_scan_is_named_with_what_mends_it_and_pages_without_text_are_counted(shards, root, monkeypatch):
    write_pdf(root / "pdfs" / "SCAN.pdf", "", "")
    write_pdf(root / "HALF.PDF", "Half of it", "")
    monkeypatch.setattr(index, "shards_of", lambda *given: shards)
    said = CliRunner().invoke(index_command, []).stderr
    assert "pdfs/SCAN.pdf: no page has text" in said
    assert "ocrmypdf pdfs/SCAN.pdf pdfs/SCAN.pdf" in said
    assert "HALF.PDF: 1 of 2 pages have no text" in said
    assert shards.names() == ["ACME", "BOLT", "HALF"]


@breaking
def test_two_folders_of_one_name_never_share_an_index(tmp_path):
    roots = [tmp_path / one / name for one in "ab" for name in ("filings", "store")]
    for root in roots:
        root.mkdir(parents=True)
    assert len({named_apart(root) for root in roots} | {"store", "filings"}) == 6
    (tmp_path / "link").symlink_to(roots[0])
    assert named_apart(tmp_path / "link") == named_apart(roots[0])
    assert named_apart(Path("/")).startswith("root-")


@breaking
@pytest.mark.parametrize("name", ["~nosuchuser/x", "x" * 5000, "\0", "no/such", ""], ids=ascii)
def test_a_path_that_is_no_folder_is_none(name, tmp_path, monkeypatch):
    assert name == "" or folder_of(name) is None
    if name:
        done = CliRunner().invoke(commands, ["index", "--dataset", name])
        assert done.exit_code == 1
        assert "no folder" in done.output


@breaking
def test_pictures_are_of_the_bytes_that_were_read(root, shards):
    path = write_pdf(root / "CORK.pdf", "Cork", "Second", width=144_000, height=144_000)
    write_pdf(root / "pdfs" / "ACME.pdf", "Another text")
    write_shards(shards)
    page = {"doc_name": "CORK", "page": 1}
    first = page_picture(shards, page)
    assert first.stat().st_size < 10**6
    with pytest.raises(StudyError, match="text alone"):
        page_picture(shards, page | {"doc_name": "ACME"})
    with pytest.raises(StudyError, match="cannot be drawn"):
        page_picture(shards, page | {"page": 7})
    write_pdf(path, "Cork", "Replaced")
    with pytest.raises(StudyError, match="run make index"):
        page_picture(shards, page | {"page": 0})
    write_shards(shards)
    assert not first.exists()
    assert page_picture(shards, page) != first


@breaking
def test_a_pdf_that_takes_too_much_is_left_out(tmp_path, monkeypatch):
    path = write_pdf(tmp_path / "BOMB.pdf", "Revenue")
    with pymupdf.open(path) as made:
        drawing = made[0].get_contents()[0]
        letters = b"\nBT /helv 11 Tf 10 10 Td (" + b"A" * 64 + b") Tj ET"
        made.update_stream(drawing, made.xref_stream(drawing) + letters * 150_000, compress=True)
        made.save(tmp_path / "X.pdf")
    assert (tmp_path / "X.pdf").stat().st_size < 100_000
    for name, limit in (("MEMORY_MIB", 160), ("PROCESSOR_S", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(pdf, name, limit)
            texts, wrong = pdf.read_texts(tmp_path / "X.pdf")
        assert texts == []
        assert "to read" in wrong


@pytest.mark.parametrize(
    ("said", "is_short"),
    [
        ("code=2: calloc (4104 x 1 bytes) failed", True),
        ("malloc (90000 bytes) failed", True),
        ("FT_Load_Glyph(TimesNewRomanPSMT,94,FT_LOAD_NO_HINTING): array allocation size too large", False),
    ],
)
def test_a_font_that_is_odd_is_no_lack_of_memory(said, is_short):
    assert bool(pdf.NO_MEMORY.search(said)) == is_short


NAMES, WORDS = ("ACME", "BOLT", "CORK"), ("zebra", "quince", "walrus", "")


class Mirror(stateful.RuleBasedStateMachine):
    """A folder of filings (name → word of each page) and its index, which may be behind."""

    def __init__(self):
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.root, self.filings, self.indexed = self.home / "filings", {}, {}
        self.root.mkdir()

    shards = property(lambda self: Shards(self.home / "index", PLAN, self.root))

    def teardown(self):
        shutil.rmtree(self.home)

    @stateful.rule(name=some.sampled_from(NAMES), words=some.lists(some.sampled_from(WORDS), min_size=1, max_size=2))
    def write(self, name, words):
        write_text(self.root, name, *words)
        self.filings[name] = words

    @stateful.rule(name=some.sampled_from(NAMES))
    def remove(self, name):
        (self.root / "pages" / f"{name}.jsonl").unlink(missing_ok=True)
        self.filings.pop(name, None)

    @stateful.rule(which=some.integers(0, 20), how=some.sampled_from(sorted(set(DAMAGES) - {"a folder"})))
    def damage(self, which, how):
        files = sorted(path for path in (self.home / "index").rglob("*.*") if path.is_file() and path.suffix != ".lock")
        if files:
            path = files[which % len(files)]
            DAMAGES[how](path)
            self.indexed.pop(path.stem, None)

    @stateful.rule(kind=some.sampled_from(["pages", "windows", "records"]), name=some.sampled_from(NAMES))
    def leave_a_killed_write(self, kind, name):
        half = aside(self.shards.path(kind, name))
        half.parent.mkdir(exist_ok=True)
        half.write_bytes(b"PAR1")

    @stateful.rule(
        at=some.integers(0, 6), error=some.sampled_from([KeyboardInterrupt(), OSError(errno.ENOSPC, "full")])
    )
    def index_and_fail(self, at, error):
        """The n-th write ends within: as of a kill, or a full disk."""
        calls, before = iter(range(100)), {*self.home.glob("index/**/.*")}

        def fail(file):
            if next(calls) == at:
                raise error

        with mock.patch("os.fsync", fail):
            try:
                write_shards(self.shards)
                self.indexed = dict(self.filings)
            except (KeyboardInterrupt, OSError):
                # what is whole of the folder as it is
                self.indexed = {name: self.filings[name] for name in self.shards.compare().kept}
        assert before >= {*self.home.glob("index/**/.*")}

    @stateful.rule()
    def index(self):
        write_shards(self.shards)
        self.indexed = dict(self.filings)
        assert not any(self.shards.compare().counts.values())
        assert {path.stem for path in self.home.glob("index/*/*")} == {*self.filings}

    @stateful.rule()
    def ask(self):
        shards = self.shards
        now = {name: words for name, words in self.indexed.items() if self.filings.get(name) == words}
        wanted = {name: words for name, words in now.items() if any(words)}
        try:
            archive = Archive(shards)
        except StudyError:
            assert not wanted
            return
        found = archive.pages.groupby("doc_name", sort=False)["text"].agg(list).to_dict()
        assert found == wanted
        for word in filter(None, {word for words in wanted.values() for word in words}):
            best = archive.ask(word, 9)
            assert word in best["text"].tolist()


Mirror.TestCase.settings = hypothesis.settings(max_examples=8, stateful_step_count=12, deadline=None)
test_any_history = Mirror.TestCase


@pytest.mark.slow
def test_long_histories():
    stateful.run_state_machine_as_test(
        Mirror, settings=hypothesis.settings(max_examples=40, stateful_step_count=50, deadline=None)
    )
