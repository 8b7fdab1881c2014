"""Published results as a source: the same numbers without filings, and what needs filings says so."""

import json
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

from lib import absent, published
from lib.book import notebooks, stand_in
from lib.book.manifest import stages_of
from lib.book.results import read_metrics, write_results
from lib.evaluation import evaluate
from lib.publish.outgoing import quotations_of, write_generations, write_shown
from lib.publish.publish import copy_shared, write_questions
from lib.published import SHARED, Published
from lib.study import Study
from lib.words import NeedsFilings, StudyError

from .conftest import generation

HAS_NO_FILINGS = """
import lib.published
from pathlib import Path
lib.published.RESULTS = Path({results!r})
lib.published.financebench_root = lambda: None
from lib.study import Study
study = Study.open("", artifacts=Path({artifacts!r}))
table = print
"""


@pytest.fixture
def results(study, tmp_path, monkeypatch):
    """A folder with the study's published results, as :mod:`lib.publish.publish` lays them out."""
    root = tmp_path / "results" / "financebench" / "default"
    quotes = quotations_of(study)
    root.mkdir(parents=True)
    for name in ("metrics.csv.gz", "summary.csv", "manifest.json"):
        (root / name).write_bytes((study.view / name).read_bytes())
    for path in (study.view / "runs").rglob("*.gz"):
        place = root / path.relative_to(study.view)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
    write_questions(study, root)
    write_generations(study, root, quotes[1])
    write_shown(study, root, quotes, lambda line: None)
    monkeypatch.setattr(published, "RESULTS", tmp_path / "results")
    return root


@pytest.fixture
def without(results, tmp_path, monkeypatch, capsys) -> Study:
    """The study of a machine that has no filings."""
    monkeypatch.setattr(published, "financebench_root", lambda: None)
    found = Study.open("", artifacts=tmp_path / "elsewhere")
    assert "FinanceBench's filings are not here. Published run of " in capsys.readouterr().out
    return found


def test_runs_and_metrics_are_the_published_ones(without, study):
    assert not without.has_filings
    pd.testing.assert_frame_equal(without.run("bm25"), study.run("bm25"))
    ours, theirs = evaluate(without, "bm25", "oracle-page"), evaluate(study, "bm25", "oracle-page")
    keys = ["question_id", "metric", "k"]
    both = ours.merge(theirs, on=keys, suffixes=("_ours", "_theirs"))
    assert len(both) == len(theirs) > 0
    np.testing.assert_allclose(both["value_ours"], both["value_theirs"], rtol=1e-9)


def test_what_was_written_of_a_filing_is_published_and_what_is_of_nothing_stays(study, tmp_path):
    log = study.view / "generations.jsonl"
    about = [generation("ACME_2020_10K", "Acme makes anvils."), generation("q99", "Of no question.")]
    log.write_text(log.read_text() + "\n".join(about) + "\n")
    said = []
    write_generations(study, tmp_path, quotations_of(study)[1], said.append)
    records = [json.loads(line) for line in (tmp_path / "generations.jsonl").read_text().splitlines()]
    assert {record["question_id"] for record in records} == {"q1", "q2", "ACME_2020_10K"}
    assert said == [
        "publish: 1 texts that quote a filing at length, or are of no question or filing, stay here"
    ]


def test_every_caption_says_where_the_numbers_come_from(without, study):
    commit = json.loads((study.view / "manifest.json").read_text())["commit"][:10]
    assert without.provenance.startswith(" Published run of ")
    assert without.provenance.endswith(f", commit {commit}, not recomputed here.")
    assert study.provenance == ""


def test_questions_have_ids_types_and_gold_pages_but_no_text(without):
    assert without.questions["question_id"].tolist() == ["q1", "q2", "q3"]
    assert without.questions["gold_pages"].tolist() == [[2], [1], [0]]
    assert not {"question", "answer", "evidence"} & set(without.questions)
    assert without.filings["n_pages"].tolist() == [3, 2]


@pytest.mark.parametrize("name", ["pages", "chunks", "questions_digest"])
def test_text_that_is_not_there_says_so(without, name):
    with pytest.raises(NeedsFilings, match="needs the filings, which are not on this machine"):
        getattr(without, name)


def test_a_changed_setting_is_not_answered_with_the_published_run(results, tmp_path, monkeypatch):
    monkeypatch.setattr(published, "financebench_root", lambda: None)
    changed = Study.open("", artifacts=tmp_path / "elsewhere", changes={"bm25.k1": 9.0})
    with pytest.raises(NeedsFilings, match=r"bm25 with other settings \(bm25\) has to be run"):
        evaluate(changed, "bm25")


def test_a_run_whose_bytes_changed_is_not_used(without, results):
    (results / "runs" / "standard" / "bm25.trec.gz").write_bytes(b"other")
    with pytest.raises(NeedsFilings, match="bm25 under standard was not published"):
        without.run("bm25")


def test_the_view_gets_the_contract_s_files(without, study):
    write_results(without)
    pd.testing.assert_frame_equal(read_metrics(without), read_metrics(study))
    assert (without.view / "runs" / "standard" / "bm25.trec.gz").is_file()


def test_with_filings_the_published_run_saves_computing_it(study, results, tmp_path):
    again = Study(study.dataset, study.profile, tmp_path / "elsewhere", Published(results))
    again.store.say = lambda line: None
    again.rank_method = None
    entry = again.run_entry("bm25", "standard")
    assert entry.origin == "published"
    assert entry.wall_s == Published(results).cost("runs/standard/bm25")[0]
    assert again.provenance.startswith(" Published run of ")


def shared_by(study: Study, text: str, **params) -> Path:
    """A shared result of the study, which says ``text`` where it has to be computed."""
    stage = f"{SHARED[0]}/test"
    entry = study.shared(
        stage, lambda: params, lambda place: (place / "it.txt").write_text(text), settings=("bm25",)
    )
    return entry.path / "it.txt"


def test_a_shared_result_is_published_and_stands_in_where_it_depends_on_the_same(study, results, tmp_path):
    assert shared_by(study, "first", a=1).read_text() == "first"
    copy_shared(study, {"stages": stages_of(study)}, results)
    again = Study(study.dataset, study.profile, tmp_path / "elsewhere", Published(results))
    assert shared_by(again, "second", a=1).read_text() == "first"
    assert shared_by(again, "second", a=2).read_text() == "second"


def test_without_filings_a_shared_result_is_the_published_one(study, without, results, tmp_path, monkeypatch):
    with pytest.raises(NeedsFilings, match="page_scorer/scores/test was not published"):
        shared_by(without, "second")
    shared_by(study, "first", a=1)
    copy_shared(study, {"stages": stages_of(study)}, results)
    assert shared_by(without, "second").read_text() == "first"
    changed = Study.open("", artifacts=tmp_path / "other", changes={"bm25.k1": 9.0})
    with pytest.raises(NeedsFilings, match=r"with other settings \(bm25\)"):
        shared_by(changed, "second")


def test_a_shared_result_whose_bytes_changed_is_not_used(study, results, tmp_path):
    shared_by(study, "first", a=1)
    copy_shared(study, {"stages": stages_of(study)}, results)
    (results / "stored" / SHARED[0] / "test" / "it.txt").write_text("changed")
    again = Study(study.dataset, study.profile, tmp_path / "elsewhere", Published(results))
    assert shared_by(again, "second", a=1).read_text() == "second"


def test_other_filings_under_the_same_name_use_nothing_published(study, results):
    said = []
    made = json.loads((results / "manifest.json").read_text())
    (results / "manifest.json").write_text(json.dumps(made | {"fingerprint": "0123"}))
    assert Published.matching(study.dataset, "default", said.append) is None
    assert "is not the dataset that was published" in said[0]


def chapter(folder: Path, *sources: str) -> None:
    """Write a chapter of code cells, the first of which holds its parameters."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    cells[0].metadata["tags"] = ["parameters"]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "99_chapter.ipynb")


def test_a_chapter_without_filings_shows_what_was_published_or_one_line(results, tmp_path, monkeypatch):
    setting = HAS_NO_FILINGS.format(results=str(results.parents[1]), artifacts=str(tmp_path / "kernel"))
    sources = [
        'dataset = ""  # str: a name',
        setting,
        "table(study.pages)",
        "found = study.chunks",
        "found",
        "study.questions['question']",
        "print(len(study.run('bm25')))",
    ]
    chapter(tmp_path, *sources)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(published, "financebench_root", lambda: None)
    done = notebooks.run(
        "99_chapter", {"dataset": ""}, tmp_path / "view" / "notebooks", say=lambda line: None
    )
    shown = [cell.outputs for cell in nbformat.read(done, as_version=4).cells if cell.source in sources[2:]]
    texts = [outputs[0]["data"]["text/markdown"] for outputs in shown[:4]]
    assert texts[0].startswith("::::{table} Counts. Published run of ")
    assert (tmp_path / "view" / "tables" / "counts.csv").is_file()
    assert texts[1] == "*Not shown: the chunks' text needs the filings, which are not on this machine.*"
    assert texts[2] == "*Not shown: this needs what an earlier cell takes from the filings.*"
    assert texts[3].startswith("*Not shown: the question's text comes with the filings")
    assert shown[4][0]["text"] == f"{len(Published(results).run('bm25', 'standard'))}\n"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (NeedsFilings("no pages"), "no pages"),
        (NameError("x", name="found"), "this needs what an earlier cell takes from the filings"),
        (NameError("x", name="misspelt"), None),
        (KeyError("question"), "the question's text comes with the filings"),
        (KeyError("['question', 'doc'] not in index"), "the question's text comes with the filings"),
        (AttributeError("no", name="answer"), "the answer's text comes with the filings"),
        (AttributeError("no", name="other"), None),
    ],
)
def test_only_what_is_absent_is_forgiven(error, reason):
    found = absent.reason_of(error, {"found"})
    assert found == reason or found.startswith(reason)


def test_a_bug_in_a_chapter_is_not_taken_for_missing_filings(results, tmp_path, monkeypatch):
    setting = HAS_NO_FILINGS.format(results=str(results.parents[1]), artifacts=str(tmp_path / "kernel"))
    chapter(tmp_path, 'dataset = ""  # str: a name', setting, "misspelt")
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(published, "financebench_root", lambda: None)
    with pytest.raises(
        StudyError, match="99_chapter failed in cell 3: NameError: name 'misspelt' is not defined"
    ):
        notebooks.run("99_chapter", {"dataset": ""}, tmp_path / "view" / "notebooks", say=lambda line: None)


def test_a_cell_is_known_by_its_code_not_by_its_comments():
    assert stand_in.cell_digest("x = 1  # one\n") == stand_in.cell_digest("x  =  1")
    assert stand_in.cell_digest("x = 1") != stand_in.cell_digest("x = 2")
