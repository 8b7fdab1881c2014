"""An archive: indexed filing by filing, resumed, with the same bits on both engines, and asked for pages."""

import json
import shutil
import subprocess
import sys
import time
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner

from lib.__main__ import ask, commands
from lib.ahead.facts import facts_of
from lib.answers.sure import fitted
from lib.archive import index
from lib.archive.ask import Archive, fits, page_picture, passages, written
from lib.archive.described import filing_facts
from lib.archive.index import PICTURES, Plan, Shards, write_shards
from lib.data import pdf
from lib.data.locate import DEMO
from lib.files import ROOT
from lib.profile import load_profile
from lib.retrievers.identity import Identity
from lib.words import StudyError

NAMES = sorted(path.stem for path in DEMO.glob("pdfs/*.pdf"))[:3]
PROGRAM = """
from pathlib import PosixPath
from lib.archive.index import Plan, Shards, write_shards
print(len(write_shards(Shards({!r}, {!r}, {!r}))[1]))
"""


@pytest.fixture(scope="module")
def plan():
    return Plan.of(load_profile("default"))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A folder of three filings of the demo."""
    folder = tmp_path_factory.mktemp("filings")
    for name in NAMES:
        shutil.copyfile(DEMO / "pdfs" / f"{name}.pdf", folder / f"{name}.pdf")
    return folder


@pytest.fixture(scope="module")
def shards(plan, root, tmp_path_factory):
    made = Shards(tmp_path_factory.mktemp("index"), plan, root)
    write_shards(made)
    return made


@pytest.fixture(scope="module")
def archive(shards):
    return Archive(shards)


@pytest.fixture(scope="module")
def asked(archive):
    """A page with some text, and its first words."""
    page = archive.pages[archive.pages["text"].str.len() > 500].iloc[0]
    return page, " ".join(page["text"].split()[:60])


def bits(shards: Shards) -> dict[str, bytes]:
    """The files of pages and windows."""
    paths = [path for kind in ("pages", "windows") for path in shards.folder.glob(f"{kind}/*")]
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in paths}


@pytest.mark.parametrize("engine", ["process", "ray"])
def test_both_engines_give_the_same_bits_in_any_order(shards, plan, root, tmp_path, engine):
    if engine == "ray":
        pytest.importorskip("ray", reason="Ray is an optional requirement")
    again = Shards(tmp_path, plan, root)
    write_shards(again, engine)
    assert bits(again) == bits(shards)
    assert write_shards(again, engine)[1].empty


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_run_that_is_killed_is_resumed_to_the_same_bits(shards, plan, root, tmp_path, seed):
    program, random = PROGRAM.format(tmp_path, plan, root), Random(seed)
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL) as run:
        while run.poll() is None and not (tmp_path / "index.lock").exists():
            time.sleep(0.02)
        time.sleep(random.uniform(0, 12))
        run.kill()
    again = Shards(tmp_path, plan, root)
    n_there = len(again.names())
    for kind in ("pages", "records"):
        (tmp_path / kind).mkdir(exist_ok=True)
        (tmp_path / kind / ".HALF.12ab34cd.parquet").touch()
    assert len(again.names()) == n_there
    assert len(write_shards(again)[1]) == 3 - n_there
    assert bits(again) == bits(shards)
    assert not list(tmp_path.glob("*/.*"))


@pytest.mark.slow
def test_of_two_indexers_at_once_one_waits_and_finds_all_done(shards, plan, root, tmp_path):
    command = [sys.executable, "-c", PROGRAM.format(tmp_path, plan, root)]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [one.communicate()[0].split() for one in both]
    assert sorted(words[-1] for words in said) == ["0", "3"]
    assert bits(Shards(tmp_path, plan, root)) == bits(shards)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (
            lambda archive, shards, folder: Shards(shards.folder, shards.plan._replace(window=128), shards.root),
            "profile",
        ),
        (lambda archive, shards, folder: Shards(shards.folder, shards.plan, folder), "is the index of"),
        (lambda archive, shards, folder: Archive(Shards(folder, shards.plan, folder)), "run make index first"),
        (lambda archive, shards, folder: archive.ask("  "), "ask a question"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(archive, shards, tmp_path, spoil, told):
    with pytest.raises(StudyError, match=told):
        spoil(archive, shards, tmp_path)


def test_an_archive_gives_the_page_whose_words_are_asked_for(archive, asked, shards):
    page, question = asked
    found = archive.ask(question, k=3)
    assert (page["doc_name"], page["page"]) in list(zip(found["doc_name"], found["page"], strict=True))
    assert found["score"].is_monotonic_decreasing
    drawn = page_picture(shards, found["doc_name"][0], found["page"][0])
    assert drawn.read_bytes()[1:4] == b"PNG"
    assert drawn.name.startswith(shards.record(found["doc_name"][0])["sha256"][:16])


def test_the_nearest_filings_are_described_with_their_own_windows(archive, asked, shards):
    page, question = asked
    pages, vectors = archive.nearest(question, n_filings=2)
    names = pages["doc_name"].unique().tolist()
    assert len(names) == 2
    assert page["doc_name"] in names
    np.testing.assert_array_equal(vectors.windows, np.concatenate([shards.windows(name)[1] for name in names]))
    assert (np.diff(vectors.owners) >= 0).all()
    assert vectors.owners.max() < len(pages)


def test_what_pages_say_is_written_with_the_index_and_made_again_where_it_is_damaged_or_of_others(archive, shards):
    pages, path = archive.pages, shards.path("facts", NAMES[0])
    texts = pages["text"][pages["doc_name"] == NAMES[0]]
    whole, made = path.read_bytes(), facts_of([*texts])
    for spoilt in (whole, whole[:-9], shards.path("facts", NAMES[1]).read_bytes()):
        path.write_bytes(spoilt)
        read = filing_facts(shards, NAMES[0], texts)
        np.testing.assert_array_equal(np.stack(read.pop("strengths")), np.stack(made["strengths"]))
        assert read.to_dict("list") == made.drop(columns="strengths").to_dict("list")
        assert path.read_bytes() == whole


@pytest.mark.parametrize("arguments", [["-"], ["-f", "-"]])
def test_questions_are_read_from_standard_input(shards, monkeypatch, arguments):
    monkeypatch.setattr(index, "shards_of", lambda *given: shards)
    given = b"What was revenue?\n\n  \nWhat was \xff net income?\n"
    done = CliRunner().invoke(ask, [*arguments, "-k", "2"], input=given)
    assert done.exit_code == 0, done.output
    ranks = [line.partition(".")[0] for line in done.output.splitlines() if line[:2] in ("1.", "2.")]
    assert ranks == ["1", "2", "1", "2"]


def test_a_question_that_is_no_utf_8_and_a_page_that_cannot_be_drawn_do_not_stop_the_answers(shards, monkeypatch):
    monkeypatch.setattr(index, "shards_of", lambda *given: shards)
    monkeypatch.setattr(pdf, "_apart", lambda *given: None)
    shutil.rmtree(shards.folder / PICTURES, ignore_errors=True)
    done = CliRunner().invoke(ask, ["What was \udcff revenue?", "-k", "2"])
    assert done.exit_code == 0, done.output
    assert done.output.count("cannot be drawn") == 2


def test_a_program_gets_an_answer_with_its_cells_and_pages_as_json(shards, monkeypatch, tmp_path):
    monkeypatch.setattr(index, "shards_of", lambda *given: shards)
    (tmp_path / "asked").write_text("What was revenue in fiscal 2022?\nWho is the auditor?\n")
    done = CliRunner().invoke(ask, ["-f", str(tmp_path / "asked"), "--json", "-k", "1"])
    assert done.exit_code == 0, done.output
    for line in done.stdout.splitlines():
        found = json.loads(line)
        assert (found["answer"] is None) == (found["confidence"] < fitted()["least"])
        assert bool(found["cells"]) == (found["answer"] is not None)
        (page,) = found["pages"]
        assert page["document"] in NAMES
        assert page["passage"].strip()
        assert page["picture"].endswith(".png")


@pytest.mark.parametrize("arguments", [[], ["What was revenue?", "-f", "-"]])
def test_a_question_or_a_file_is_needed_and_not_both(arguments):
    done = CliRunner().invoke(commands, ["ask", *arguments])
    assert done.exit_code == 1
    assert "error: give a question, or a file of questions" in done.stderr


def test_what_is_written_of_an_answer_is_its_derivation_then_the_pages():
    cell = {"item": "revenue", "document": "ACME", "page": 3, "row": "Net sales", "year": 2020, "value": "500"}
    page = {"document": "ACME", "page": 3, "score": 1.25, "filing": "Acme 2020 10-K", "fits": "company and year"}
    page |= {"passage": "Net sales\n500", "picture": "p.png"}
    found = {"answer": "$500", "formula": "net_income / revenue", "confidence": 0.93, "pages": [page]}
    assert written(found | {"cells": [cell | {"unit": "million"}]}).splitlines() == [
        "$500 = net income / revenue (chance of being right 93%)",
        "   revenue 2020 = 500 million: row “Net sales”, column 2020, ACME, page 3",
        "1. ACME, page 3: Acme 2020 10-K (company and year), score 1.25",
        "   Net sales 500",
        "   p.png",
    ]
    none = found | {"answer": None, "why_not": "no page has a table", "cells": []}
    assert written(none).splitlines()[0] == "no figure found: no page has a table"


def test_a_passage_is_the_lines_with_most_words_of_the_question():
    page = "\n".join(["filler words"] * 8 + ["Inventory turnover", "6.00"] + ["more filler"] * 8)
    (found,) = passages("What was inventory turnover?", [page])
    assert "Inventory turnover\n6.00" in found
    assert len(found.splitlines()) <= 8


@pytest.mark.parametrize(
    ("named", "year", "said"),
    [
        ({"ACME"}, 2020, "company and year"),
        ({"ACME"}, 2021, "company, -1 years"),
        ({"BOLT"}, None, "another company, year unknown"),
        ({}, 2020, "no company of the archive is named"),
    ],
)
def test_how_a_filing_fits_is_said_in_words(named, year, said):
    filing = Identity(2020, None, [], "10-K", "ACME", "Acme")
    assert fits(filing, named, Identity(year, None, [], "")) == said
