"""Shards of an archive: resumed filing by filing, the same bits on both engines, searched by what they contain."""

import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

from extras.archive import search
from extras.archive.search import Archive, picture
from extras.archive.shards import Plan, Shards, sources_of, vectors_of, write_shards
from extras.commands import ask
from lib.data.locate import DEMO
from lib.files import ROOT
from lib.profile import load_profile
from lib.words import StudyError


@pytest.fixture(scope="module")
def plan():
    return Plan.of(load_profile("default"))


@pytest.fixture(scope="module")
def shards(plan, tmp_path_factory):
    made = Shards(tmp_path_factory.mktemp("index"), plan)
    write_shards(made, sources_of(DEMO)[:3])
    return made


def test_a_filing_that_is_there_is_not_read_again_and_a_changed_one_is(shards, tmp_path):
    assert write_shards(shards, sources_of(DEMO)[:3]).empty
    other = tmp_path / sources_of(DEMO)[0].name
    other.write_bytes(sources_of(DEMO)[1].read_bytes())
    assert shards.has(sources_of(DEMO)[0])
    assert not shards.has(other)


def test_the_same_filings_in_another_order_give_the_same_bits(shards, plan, tmp_path):
    again = Shards(tmp_path, plan)
    write_shards(again, sources_of(DEMO)[2::-1])
    assert again.digest() == shards.digest()


@pytest.mark.slow
def test_a_run_that_is_killed_is_resumed_to_the_same_bits(shards, plan, tmp_path):
    sources = [str(source) for source in sources_of(DEMO)[:3]]
    program = (
        "from pathlib import Path\n"
        "from extras.archive.shards import Plan, Shards, write_shards\n"
        f"shards = Shards(Path({str(tmp_path)!r}), Plan(*{tuple(plan)!r}))\n"
        f"write_shards(shards, [Path(one) for one in {sources!r}])\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL) as run:
        while run.poll() is None and not list(tmp_path.glob("pages/*.parquet")):
            time.sleep(0.02)
        run.kill()
    again = Shards(tmp_path, plan)
    n_there = len(again.names())
    assert n_there >= 1
    done = write_shards(again, sources_of(DEMO)[:3])
    assert len(done) == 3 - n_there
    assert again.digest() == shards.digest()


def test_ray_gives_the_same_bits(shards, plan, tmp_path):
    pytest.importorskip("ray", reason="Ray is an optional requirement")
    again = Shards(tmp_path, plan)
    write_shards(again, sources_of(DEMO)[:3], "ray")
    assert again.digest() == shards.digest()


def test_another_profile_does_not_write_into_the_same_folder(shards, plan):
    with pytest.raises(StudyError, match="another profile"):
        Shards(shards.folder, plan._replace(window=128))


def test_a_damaged_filing_is_left_out_with_a_sentence(plan, tmp_path):
    (tmp_path / "BROKEN_2020_10K.pdf").write_bytes(b"%PDF-1.7 nothing")
    done = write_shards(Shards(tmp_path / "index", plan), sources_of(tmp_path))
    assert "BROKEN_2020_10K.pdf" in done["problem"][0]
    assert done["n_pages"][0] == 0


def test_a_folder_without_filings_is_one_sentence(tmp_path):
    with pytest.raises(StudyError, match="put PDFs into it"):
        sources_of(tmp_path)


def test_an_archive_gives_the_page_whose_words_are_asked_for(shards, tmp_path):
    archive = Archive(shards)
    page = archive.pages[archive.pages["text"].str.len() > 500].iloc[0]
    found = archive.ask(" ".join(page["text"].split()[:60]), k=3)
    assert (page["doc_name"], page["page"]) in list(zip(found["doc_name"], found["page"], strict=True))
    assert found["score"].is_monotonic_decreasing
    drawn = picture(DEMO, found.iloc[0], tmp_path)
    assert drawn.read_bytes()[1:4] == b"PNG"


def test_a_shortlist_contains_the_nearest_filings_with_their_windows(shards):
    archive = Archive(shards)
    page = archive.pages[archive.pages["text"].str.len() > 500].iloc[0]
    pages, near = archive.nearest(" ".join(page["text"].split()[:60]), n_filings=2)
    names = pages["doc_name"].unique().tolist()
    assert len(names) == 2
    assert page["doc_name"] in names
    wanted = [vectors_of(table) for table in shards.windows(names)]
    np.testing.assert_array_equal(near.windows, np.concatenate(wanted))
    assert (np.diff(near.owners) >= 0).all()
    assert near.owners.max() < len(pages)


def test_questions_are_read_from_standard_input(shards, monkeypatch):
    monkeypatch.setattr(search, "shards_of", lambda *given: (DEMO, shards))
    done = CliRunner().invoke(ask, ["-", "-k", "2"], input="What was revenue?\nWhat was net income?\n")
    assert done.exit_code == 0, done.output
    assert [line.partition(".")[0] for line in done.output.splitlines()] == ["1", "2", "1", "2"]


def test_an_empty_question_is_one_sentence(shards):
    with pytest.raises(StudyError, match="ask a question"):
        Archive(shards).ask("  ")
