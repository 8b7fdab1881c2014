"""An archive: indexed filing by filing, resumed, with the same bits, and asked for pages."""

import json
import shutil
import subprocess
import sys
import time
from contextlib import nullcontext
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner

from lib.__main__ import commands
from lib.archive import index
from lib.archive.ask import Archive, page_picture, passages, questions_in
from lib.archive.index import PICTURES, ArchiveIndex, write_index
from lib.data import pdf
from lib.files import ROOT
from lib.schema import StudyError
from lib.statements.sure import fitted
from tests.archive.conftest import NAMES, PROFILE, PROGRAM, contents


@pytest.fixture
def archive(written):
    with Archive(written) as opened:
        yield opened


def assert_same_bits(one: ArchiveIndex, other: ArchiveIndex) -> None:
    """Two indexes have the same pages and spans, to the last bit."""
    (files, spans), (others, other_spans) = contents(one), contents(other)
    assert files == others
    assert spans.keys() == other_spans.keys() == {*NAMES}
    for name, (ids, vectors) in spans.items():
        assert (ids, vectors.tobytes()) == (other_spans[name][0], other_spans[name][1].tobytes())


def test_an_index_made_again_has_the_same_bits(written, root, tmp_path):
    again = ArchiveIndex(tmp_path, PROFILE, root)
    write_index(again)
    assert_same_bits(again, written)
    assert write_index(again)[1].empty


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_a_run_that_is_killed_is_resumed_to_the_same_bits(written, root, tmp_path, seed):
    program, random = PROGRAM.format(tmp_path, root), Random(seed)
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL) as run:
        while run.poll() is None and not (tmp_path / "index.lock").exists():
            time.sleep(0.02)
        time.sleep(random.uniform(0, 12))
        run.kill()
    again = ArchiveIndex(tmp_path, PROFILE, root)
    n_there = len(again.names())
    for kind in ("pages", "records"):
        (tmp_path / kind).mkdir(exist_ok=True)
        (tmp_path / kind / ".HALF.12ab34cd.parquet").touch()
    assert len(again.names()) == n_there
    assert len(write_index(again)[1]) == 3 - n_there
    assert_same_bits(again, written)
    assert not list(tmp_path.glob("*/.*"))


@pytest.mark.slow
def test_of_two_indexers_at_once_one_waits_and_finds_all_done(written, root, tmp_path):
    command = [sys.executable, "-c", PROGRAM.format(tmp_path, root)]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(one.communicate()[0].split()[-1] for one in both) == ["0", "3"]
    assert_same_bits(ArchiveIndex(tmp_path, PROFILE, root), written)


def test_what_cannot_be_opened_or_asked_is_one_error(archive, written, tmp_path):
    with pytest.raises(StudyError, match="another profile"):
        ArchiveIndex(written.folder, PROFILE.replaced({"spans.window": 128}), written.root)
    with pytest.raises(StudyError, match="make index"):
        Archive(ArchiveIndex(tmp_path / "none", PROFILE, tmp_path))
    for question, words in {"  ": "ask a question", "why " * 25_000: "100,000 characters"}.items():
        with pytest.raises(StudyError, match=words):
            archive.ask(question)


def test_an_archive_gives_the_page_whose_words_are_asked_for_out_of_the_nearest_filings(archive, written):
    pages = written.pages(written.names())
    page = pages[pages["text"].str.len() > 500].iloc[0]
    question = " ".join(page["text"].split()[:60])
    best = archive.ask(question, k=3)
    assert (page["doc_name"], page["page"]) in list(zip(best["doc_name"], best["page"], strict=True))
    assert best["score"].is_monotonic_decreasing
    picture = page_picture(written, best["doc_name"][0], best["page"][0])
    assert picture.read_bytes()[1:4] == b"PNG"
    assert picture.name.startswith(written.record(best["doc_name"][0])["sha256"][:16])
    pages, vectors = archive.nearest(question, n_filings=2)
    first, second = pages["doc_name"].unique()
    assert page["doc_name"] in (first, second)
    own = archive.index.read([first, second])  # with their own spans
    np.testing.assert_array_equal(vectors.spans, np.concatenate([own[name][1] for name in (first, second)]))
    assert (np.diff(vectors.owners) >= 0).all()
    assert vectors.owners.max() < len(pages)


@pytest.fixture
def ask(written, monkeypatch):
    """Ask the index by the command; gives what was printed."""
    monkeypatch.setattr(index, "archive_index", lambda *given: written)

    def run(*arguments: str, given: bytes = b"") -> str:
        done = CliRunner().invoke(commands, ["ask", *arguments], input=given)
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


@pytest.mark.parametrize("arguments", [["-"], ["-f", "-"]])
def test_questions_are_read_from_standard_input(ask, arguments):
    stdout = ask(*arguments, "-k", "1", given=b"What was revenue?\n\n  \nWhat was \xff net income?\n")
    assert [line[:2] for line in stdout.splitlines()].count("1.") == 2


def test_a_question_that_is_no_utf_8_and_a_page_that_cannot_be_drawn_do_not_stop_the_answers(ask, written, monkeypatch):
    monkeypatch.setattr(pdf, "_in_process", lambda *given: None)
    shutil.rmtree(written.folder / PICTURES, ignore_errors=True)
    assert ask("What was \udcff revenue?", "-k", "2").count("cannot be drawn") == 2


def test_a_program_gets_an_answer_with_its_cells_and_pages_as_json(ask, tmp_path):
    (tmp_path / "asked").write_text("What was revenue in fiscal 2022?\nWho is the auditor?\n")
    lines = ask("-f", str(tmp_path / "asked"), "--json", "-k", "1").splitlines()
    assert len(lines) == 2
    for found in map(json.loads, lines):
        assert (found["answer"] is None) == (found["confidence"] < fitted()["least"])
        assert bool(found["cells"]) == (found["answer"] is not None)
        (page,) = found["pages"]
        assert page["document"] in NAMES
        assert page["passage"].strip()
        assert page["picture"].endswith(".png")


@pytest.mark.parametrize("arguments", [[], [" "], ["What was revenue?", "-f", "-"]])
def test_a_question_or_a_file_is_needed_and_not_both(arguments):
    done = CliRunner().invoke(commands, ["ask", *arguments])
    assert done.exit_code == 1
    assert "give a question" in done.stderr


def test_a_passage_is_the_lines_with_most_words_of_the_question():
    page = "filler\n" * 8 + "Inventory turnover\n6.00\n" + "more\n" * 8
    (passage,) = passages("What was inventory turnover?", [page])
    assert "Inventory turnover\n6.00" in passage
    assert len(passage.splitlines()) <= 8


QUESTIONS_FILES = {
    b"\xef\xbb\xbfWhat was revenue?\r\n\n \nWho is the auditor?": ["What was revenue?", "Who is the auditor?"],
    b"\n\xef\xbb\xbf\nWhat was \xff revenue?\n": ["What was \ufffd revenue?"],
    b"\xef\xbb\xbf\n \n": "mine.txt has no question",
    "What was revenue?\n".encode("utf-16"): "mine.txt is UTF-16",
    b"\xfe\xff" + "Who?\n".encode("utf-16-be"): "mine.txt is UTF-16",
}


@pytest.mark.parametrize(("content", "wanted"), QUESTIONS_FILES.items())
def test_the_questions_of_a_file_are_its_lines_as_utf_8(content, wanted):
    is_error = isinstance(wanted, str)
    with pytest.raises(StudyError, match=wanted) if is_error else nullcontext():
        assert list(questions_in(content.splitlines(keepends=True), "mine.txt")) == wanted
