"""An archive: indexed filing by filing, resumed, with the same bits on both engines, and asked for pages."""

import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

from lib.__main__ import ask
from lib.archive import index
from lib.archive.ask import Archive, picture
from lib.archive.index import Plan, Shards, sources_of, write_shards
from lib.data.locate import DEMO
from lib.files import ROOT
from lib.profile import load_profile
from lib.words import StudyError

SOURCES = sources_of(DEMO)[:3]
PROGRAM = """
from pathlib import PosixPath
from lib.archive.index import Plan, Shards, write_shards
write_shards(Shards({!r}, {!r}), {!r})
"""


@pytest.fixture(scope="module")
def plan():
    return Plan.of(load_profile("default"))


@pytest.fixture(scope="module")
def shards(plan, tmp_path_factory):
    made = Shards(tmp_path_factory.mktemp("index"), plan)
    write_shards(made, SOURCES)
    return made


@pytest.fixture(scope="module")
def archive(shards):
    return Archive(shards)


@pytest.fixture(scope="module")
def asked(archive):
    """A page with some text, and its first words."""
    page = archive.pages[archive.pages["text"].str.len() > 500].iloc[0]
    return page, " ".join(page["text"].split()[:60])


def same_bits(first: Shards, second: Shards) -> bool:
    paths = [(kind, path.stem) for kind in ("pages", "windows") for path in SOURCES]
    return all(first.path(*one).read_bytes() == second.path(*one).read_bytes() for one in paths)


def test_a_filing_that_exists_is_not_read_again_and_a_changed_one_is(shards, tmp_path):
    assert write_shards(shards, SOURCES).empty
    (tmp_path / SOURCES[0].name).write_bytes(SOURCES[1].read_bytes())
    assert [shards.has(folder / SOURCES[0].name) for folder in (SOURCES[0].parent, tmp_path)] == [True, False]


@pytest.mark.parametrize("engine", ["process", "ray"])
def test_both_engines_give_the_same_bits_in_any_order(shards, plan, tmp_path, engine):
    if engine == "ray":
        pytest.importorskip("ray", reason="Ray is an optional requirement")
    again = Shards(tmp_path, plan)
    write_shards(again, SOURCES[::-1], engine)
    assert same_bits(again, shards)


@pytest.mark.slow
def test_a_run_that_is_killed_is_resumed_to_the_same_bits(shards, plan, tmp_path):
    program = PROGRAM.format(tmp_path, plan, SOURCES)
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL) as run:
        while run.poll() is None and not list(tmp_path.glob("pages/[!.]*.parquet")):
            time.sleep(0.02)
        run.kill()
    again = Shards(tmp_path, plan)
    n_there = len(again.names())
    (tmp_path / "pages" / ".HALF.12ab34cd.parquet").touch()  # what a killed write leaves
    assert 1 <= n_there == len(again.names())
    assert len(write_shards(again, SOURCES)) == 3 - n_there
    assert same_bits(again, shards)


def test_a_damaged_filing_and_one_without_text_are_left_out_with_a_sentence(plan, tmp_path):
    import pymupdf

    (tmp_path / "BROKEN_2020_10K.pdf").write_bytes(b"%PDF-1.7 nothing")
    with pymupdf.open() as scan:
        scan.new_page()
        scan.save(tmp_path / "SCANNED_2020_10K.pdf")
    made = Shards(tmp_path / "index", plan)
    done = write_shards(made, sources_of(tmp_path))
    assert "BROKEN_2020_10K.pdf" in done["problem"][0]
    assert "SCANNED_2020_10K.pdf has no text" in done["problem"][1]
    assert done["n_windows"].tolist() == [0, 0]
    with pytest.raises(StudyError, match="run make index first"):
        Archive(made)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda archive, shards, folder: Shards(shards.folder, shards.plan._replace(window=128)), "another profile"),
        (lambda archive, shards, folder: sources_of(folder), "put PDFs into it"),
        (lambda archive, shards, folder: archive.ask("  "), "ask a question"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(archive, shards, tmp_path, spoil, told):
    with pytest.raises(StudyError, match=told):
        spoil(archive, shards, tmp_path)


def test_an_archive_gives_the_page_whose_words_are_asked_for(archive, asked, tmp_path):
    page, question = asked
    found = archive.ask(question, k=3)
    assert (page["doc_name"], page["page"]) in list(zip(found["doc_name"], found["page"], strict=True))
    assert found["score"].is_monotonic_decreasing
    assert picture(DEMO, found.iloc[0], tmp_path).read_bytes()[1:4] == b"PNG"


def test_the_nearest_filings_are_described_with_their_own_windows(archive, asked, shards):
    page, question = asked
    pages, vectors = archive.nearest(question, n_filings=2)
    names = pages["doc_name"].unique().tolist()
    assert len(names) == 2
    assert page["doc_name"] in names
    np.testing.assert_array_equal(vectors.windows, np.concatenate([shards.windows(name)[1] for name in names]))
    assert (np.diff(vectors.owners) >= 0).all()
    assert vectors.owners.max() < len(pages)


def test_questions_are_read_from_standard_input(shards, monkeypatch):
    monkeypatch.setattr(index, "shards_of", lambda *given: (DEMO, shards))
    done = CliRunner().invoke(ask, ["-", "-k", "2"], input="What was revenue?\nWhat was net income?\n")
    assert done.exit_code == 0, done.output
    assert [line.partition(".")[0] for line in done.output.splitlines()] == ["1", "2", "1", "2"]
