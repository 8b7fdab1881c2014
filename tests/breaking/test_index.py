"""An index is a mirror of its folder, whatever happens to either: filings, odd files, damage, kills, full disks."""

import errno
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import hypothesis
import pymupdf
import pytest
from click.testing import CliRunner, Result
from hypothesis import stateful
from hypothesis import strategies as some

from lib.__main__ import commands
from lib.archive import index
from lib.archive.ask import Archive, page_picture
from lib.archive.index import ArchiveIndex, write_index
from lib.data import pdf
from lib.data.locate import named_apart
from lib.profile import load_profile
from lib.schema import StudyError
from tests.breaking.damage import DAMAGES, cases
from tests.conftest import DatasetFolder, write_pdf

pytestmark = pytest.mark.breaking


@pytest.fixture
def folder(folder) -> DatasetFolder:
    """A folder of two filings."""
    folder.text("ACME", "Acme annual report", "Net sales rose")
    folder.text("BOLT", "Bolt annual report", "Cash flow fell")
    return folder


@pytest.fixture
def archive(written_index, monkeypatch) -> ArchiveIndex:
    """Its index, which is also that of the commands."""
    monkeypatch.setattr(index, "archive_index", lambda *given: written_index)
    return written_index


def run(*arguments: object, error: str = "") -> Result:
    """Run a command, which ends well or in one line that has the words of the error."""
    done = CliRunner().invoke(commands, [*map(str, arguments)])
    assert done.exit_code == (1 if error else 0), done.output
    assert error in done.stderr
    return done


def files(root: Path, *names: str) -> Path:
    """Files of these names below a folder, each with its name as content; the folder."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


def linked_outside(root: Path) -> None:
    (root / "pdfs").rmdir()
    (root / "pdfs").symlink_to(write_pdf(root.parent / "out" / "X.pdf", "secret").parent)


ODD = {
    "a dangling link": lambda root: (root / "X.pdf").symlink_to("nowhere"),
    "a link to a file outside": lambda root: (root / "X.pdf").symlink_to(write_pdf(root.parent / "out.pdf", "secret")),
    "a link to a folder outside": linked_outside,
    "a pipe": lambda root: os.mkfifo(root / "X.pdf"),
    "a long name": lambda root: write_pdf(root / f"X{'x' * 240}.pdf", "text"),
    "a line end in a name": lambda root: write_pdf(root / "X\nleft out: all.pdf", "text"),
    "no UTF-8 in a name": lambda root: os.close(os.open(os.fsencode(root) + b"/X\xff.pdf", os.O_CREAT)),
    "another of this name": lambda root: [write_pdf(root / at / "X.PDF", at or "-") for at in ("", "pdfs")],
    "no PDF": lambda root: (root / "X.pdf").write_text("%PDF-1.7 nothing"),
}


@cases("make", ODD)
def test_an_odd_file_is_left_out_with_its_path_and_stops_no_other(archive, folder, make):
    make(folder.root)
    folder.text("CORK", "Cork")
    for words in (" added", "1 left out; read now: 0 pages"):  # at first, and again
        done = run("index")
        (line,) = (line for line in done.stderr.splitlines() if line.startswith("left out: "))
        assert "X" in line or "pdfs: a link out" in line
        assert "1 left out" in done.stdout
        assert words in done.stdout
    assert [name for name in archive.names() if name != "X"] == ["ACME", "BOLT", "CORK"]
    done = run("ask", "net sales")
    assert "\n1. ACME, page 1" in done.stdout
    assert "secret" not in done.output


def test_a_loop_of_links_and_a_folder_with_an_odd_name_stop_nothing(archive, folder):
    (folder.root / "pdfs" / "loop").symlink_to(folder.root)
    files(folder.root, "a\nb/c.pdf")
    [line] = [line for line in run("index").stderr.splitlines() if line.startswith("not read: ")]
    assert r"(a\nb)" in line
    assert archive.names() == ["ACME", "BOLT"]


RATIOS = "ratio of cash to " * 250
LONG = {
    "a letter too many": RATIOS[:4001],
    "no letter too many": RATIOS[:4000],
    "a definition": "What was leverage, defined as " + " + ".join(["a"] * 900) + "?",
    "brackets": "What was leverage, defined as " + "(" * 1900 + "a + b" + ")" * 1900 + "?",
    "minus signs": "What was leverage, defined as a" + " - " * 1300 + "?",
    "letters that grow when folded": "İß" * 1999,
}


@cases("question", LONG)
def test_a_long_question_is_answered_or_refused_in_a_sentence(written_index, told, question):
    with told("4,000" if len(question) > 4000 else None), Archive(written_index) as archive:
        assert archive.answer(question)["pages"]


def test_two_folders_of_one_name_never_share_an_index(tmp_path):
    roots = [tmp_path / one / name for one in "ab" for name in ("filings", "store")]
    for root in roots:
        root.mkdir(parents=True)
    assert len({named_apart(root) for root in roots} | {"store", "filings"}) == 6


@pytest.mark.parametrize("name", ["~nosuchuser/x", "x" * 5000, "\0"], ids=ascii)
def test_a_path_that_is_no_folder_is_an_error(name):
    run("index", "--dataset", name, error="not a folder")


def test_pictures_are_of_the_bytes_that_were_read(folder, written_index):
    path = write_pdf(folder.root / "CORK.pdf", "Cork", "Second", side=144_000)
    folder.pdf("ACME", "Another text")
    write_index(written_index)
    first = page_picture(written_index, "CORK", 1)
    assert first.stat().st_size < 10**6
    for place, words in ((("ACME", 1), "text alone"), (("CORK", 7), "cannot be drawn")):
        with pytest.raises(StudyError, match=words):
            page_picture(written_index, *place)
    write_pdf(path, "Cork", "Replaced")
    with pytest.raises(StudyError, match="run make index"):
        page_picture(written_index, "CORK", 0)
    write_index(written_index)
    assert not first.exists()
    assert page_picture(written_index, "CORK", 1) != first


@pytest.mark.parametrize(("name", "limit"), [("MEMORY_MIB", 160), ("PROCESSOR_S", 1)])
def test_a_pdf_that_takes_too_much_is_left_out(tmp_path, monkeypatch, name, limit):
    path = write_pdf(tmp_path / "BOMB.pdf", "Revenue")
    with pymupdf.open(path) as made:
        drawing = made[0].get_contents()[0]
        letters = b"\nBT /helv 11 Tf 10 10 Td (" + b"A" * 64 + b") Tj ET"
        made.update_stream(drawing, made.xref_stream(drawing) + letters * 150_000, compress=True)
        made.save(tmp_path / "X.pdf")
    assert (tmp_path / "X.pdf").stat().st_size < 100_000
    monkeypatch.setattr(pdf, name, limit)
    texts, wrong = pdf.read_texts(tmp_path / "X.pdf")
    assert texts == []
    assert "to read" in wrong


def test_an_index_in_a_folder_of_its_own_is_asked_there(folder, small_profile, tmp_path):
    named = ["--dataset", folder.root, "--to", tmp_path / "new" / "index"]
    run("ask", "net sales", *named, error="run make index first")
    assert not (tmp_path / "new").exists()
    run("index", *named)
    assert "\n1. ACME, page 1" in run("ask", "net sales", *named).stdout


def linked(root: Path, *names: str) -> Path:
    (link := root.with_name("link")).symlink_to(files(root, *names))
    return link


def indexed(at: Path, root: Path) -> Path:
    write_index(ArchiveIndex(at, load_profile("default"), root))
    return at


#: What makes a folder in use from a new one beside the filings; gives what is named as ``--to``.
IN_USE = {
    "a hidden file alone": lambda at: files(at, ".profile"),
    "a link to a home": lambda at: linked(at, ".ssh/id_ed25519", "Documents/tax.pdf", "pages/a.md", "records/b.json"),
    "another program's plan": lambda at: files(at, "plan.json", "index.lock", "pages/a.parquet"),
    "the archive": lambda at: at.with_name("filings"),
    "the archive by a link": lambda at: linked(at.with_name("filings")),
    "the archive's PDFs": lambda at: at.with_name("filings") / "pdfs",
    "above the archive": lambda at: at.parent,
    "a folder of the archive": lambda at: files(at.with_name("filings") / "notes", "a.txt"),
    "another archive's index": lambda at: indexed(at, files(at.with_name("b"), "x")),
}


@cases("make", IN_USE)
@pytest.mark.parametrize("command", [["index"], ["ask", "What was revenue?"]], ids=["index", "ask"])
def test_a_folder_in_use_is_refused_as_the_place_of_an_index_and_not_touched(folder, tmp_path, make, command):
    (folder.root / "pdfs" / "x.txt").touch()
    to = make(tmp_path / "own")
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    run(*command, "--dataset", folder.root, "--to", to, error=f"error: {to} ")
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


OF_A_FILE = {name: spoil for name, spoil in DAMAGES.items() if name != "a folder"}


@cases("spoil", OF_A_FILE)
@pytest.mark.parametrize("kind", ["pages", "records"])
def test_what_is_damaged_of_a_filing_is_noticed_and_written_again(written_index, kind, spoil):
    before = written_index.pages(["ACME"])
    spoil(written_index.path(kind, "ACME"))
    assert len(write_index(written_index)[1]) == 1
    assert written_index.pages(["ACME"]).equals(before)
    assert write_index(written_index)[1].empty


NAMES, WORDS = some.sampled_from(["ACME", "BOLT", "CORK"]), some.sampled_from(["zebra", "quince", "walrus", ""])
ENDS = some.sampled_from([KeyboardInterrupt(), OSError(errno.ENOSPC, "full")])


class Mirror(stateful.RuleBasedStateMachine):
    """A folder of filings (name → word of each page) and its index, which may be behind."""

    profile = None  # set by the fixture

    def __init__(self):
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.folder, self.filings, self.indexed = DatasetFolder(self.home / "filings"), {}, {}
        self.damaged, self.spoilt = set(), set()
        write_index(self.archive)

    archive = property(lambda self: ArchiveIndex(self.home / "index", self.profile, self.folder.root))

    def teardown(self):
        shutil.rmtree(self.home)

    @contextmanager
    def opened(self):
        """The collection, or None where an indexing ended within a write of it: only indexing opens it then."""
        try:
            with self.archive.open(writes=False) as index:
                yield index
        except StudyError:
            assert self.may_refuse
            yield None

    @property
    def may_refuse(self) -> bool:
        return not [*self.home.glob("index/chroma/*/sealed.json")]

    @stateful.rule(name=NAMES, words=some.lists(WORDS, min_size=1, max_size=2))
    def write(self, name, words):
        self.folder.text(name, *words)
        self.filings[name] = words

    @stateful.rule(name=NAMES)
    def remove(self, name):
        (self.folder.root / "pages" / f"{name}.jsonl").unlink(missing_ok=True)
        self.filings.pop(name, None)

    @stateful.rule(which=some.integers(0, 20), how=some.sampled_from([*OF_A_FILE]))
    def damage_what_is_written_of_a_filing(self, which, how):
        paths = sorted({*self.home.glob("index/[pr]*s/[!.]*.*")} - self.spoilt)  # twice the same bit mends a file
        if paths:
            path = paths[which % len(paths)]
            DAMAGES[how](path)
            self.spoilt.add(path)
            self.damaged.add(path.stem)  # of a record that cannot be read nothing is known to be the index's own
            self.indexed.pop(path.stem, None)

    @stateful.rule(at=some.integers(0, 6), error=ENDS)
    def index_and_fail(self, at, error):
        """The n-th write ends within: as of a kill, or a full disk."""
        outcomes = [None] * 100
        outcomes[at] = error
        with mock.patch("os.fsync", side_effect=outcomes):
            try:
                write_index(self.archive, lambda line: None)
                self.indexed = dict(self.filings)
            except (KeyboardInterrupt, OSError):
                with self.opened() as index:  # what is whole of the folder as it is
                    self.indexed = {name: self.filings[name] for name in self.archive.compare(index).unchanged if index}
        assert not [*self.home.glob("index/**/.*")]

    @stateful.rule()
    def index(self):
        write_index(self.archive, lambda line: None)
        self.indexed, self.spoilt = dict(self.filings), set()
        with self.opened() as index:
            assert not any(self.archive.compare(index).counts.values())
            assert index.filings().keys() == {name for name, words in self.filings.items() if any(words)}
            assert not index.damaged()
        left = {path.stem for path in self.home.glob("index/[pr]*s/*")}
        assert left - self.damaged <= {*self.filings} <= {path.stem for path in self.home.glob("index/records/*")}

    @stateful.rule()
    def ask(self):
        now = {name: words for name, words in self.indexed.items() if self.filings.get(name) == words}
        wanted = {name: words for name, words in now.items() if any(words)}
        try:
            with Archive(self.archive) as archive:
                pages = self.archive.pages(archive.places["doc_name"].unique())
                assert pages.groupby("doc_name", sort=False)["text"].agg(list).to_dict() == wanted
                for word in filter(None, {word for words in wanted.values() for word in words}):
                    assert word in archive.ask(word, 9)["text"].tolist()
        except StudyError:
            if wanted and not self.may_refuse:
                raise


Mirror.TestCase.settings = hypothesis.settings(max_examples=5, stateful_step_count=12, deadline=None)


@pytest.fixture(autouse=True)
def of_mirror(small_profile):
    Mirror.profile = small_profile


test_any_history = Mirror.TestCase


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_long_histories():
    longer = hypothesis.settings(max_examples=12, stateful_step_count=25, deadline=None)
    stateful.run_state_machine_as_test(Mirror, settings=longer)
