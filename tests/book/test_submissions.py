"""Submissions to the leaderboard: each that is here is as it states; what is wrong with one is said in a sentence."""

import gzip
import os
import re
import shutil

import pytest
import yaml

from lib.book import board
from lib.book.board import outside_of
from lib.book.build import is_current
from lib.book.submissions import ABOUT, FOLDER, checked, published_study, stated
from lib.diagnose.kept import Outside, keep
from lib.evaluation import evaluate_given
from lib.runs import trec_lines
from lib.words import StudyError

EXAMPLE = FOLDER / "rank_bm25_pages"
ABOUT_IT = {"title": "T", "by": "B", "link": "https://example.org/a", "needs": [], "question_set": "demo"}


@pytest.mark.parametrize("folder", sorted(FOLDER.iterdir()), ids=lambda folder: folder.name)
def test_every_submission_is_as_it_states(folder):
    """What continuous integration checks of a pull request: the folder's form, the run, and its metrics."""
    about = stated(folder)
    found, study = checked(folder, about), published_study(about.question_set)
    assert set(found.metrics["question_id"]) == set(study.questions["question_id"])
    assert {"doc_recall", "page_recall", "mrr", "ndcg"} <= set(found.metrics["metric"])
    assert [path.name for path in folder.iterdir() if path not in (found.run_file, folder / ABOUT)] == []


def test_the_studys_own_run_has_the_metrics_that_are_published(submit):
    study = published_study("demo")
    published = study.published.metrics_of("bm25", "standard")
    run = study.published.runs["standard", "bm25"]
    at_5 = published[(published["metric"] == "page_recall") & (published["k"] == 5)]["value"].mean()
    found = submit(trec_lines(run, "bm25"), page_recall=float(at_5)).metrics
    keys = ["metric", "k", "question_id"]
    both = found.merge(published.astype(dict.fromkeys(["metric", "question_id"], object)), on=keys)
    assert len(both) == len(found) > 1000
    assert (both["value_x"] == both["value_y"]).all()


@pytest.fixture
def submit(tmp_path):
    """Checks a submission with a run's lines, by default the example's, and what it states."""

    def check(lines: bytes = b"", **about: object) -> Outside:
        folder = tmp_path / "mine"
        shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
        if lines:
            (folder / "run.trec.gz").write_bytes(gzip.compress(lines))
        stating = yaml.safe_load((EXAMPLE / ABOUT).read_text()) | about
        (folder / ABOUT).write_text(yaml.safe_dump({name: one for name, one in stating.items() if one is not None}))
        return checked(folder, stated(folder))

    return check


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"link": "javascript:alert(1)"}, "link: an address that begins with https://"),
        ({"link": 'https://x.org/"onclick='}, "link: an address"),
        ({"needs": ["a miracle"]}, "needs: a list, maybe empty, of training"),
        ({"title": "two\nlines"}, "title: one line"),
        ({"by": None}, "by: who submits"),
        ({"prize": 1}, "'prize' is no field"),
        ({"question_set": "../demo"}, "question_set: the name"),
        ({"question_set": "unheard-of"}, "say one of demo, financebench, page-questions"),
        ({"page_recall": 0.9}, "page_recall is 0.9, but the run has 0.2439"),
    ],
)
def test_what_a_submission_may_not_state(submit, about, said):
    with pytest.raises(StudyError, match=re.escape(said)):
        submit(**about)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: re.sub(r"#p0000 ", "#p9999 ", text), "behind the last one of its filing"),
        (lambda text: re.sub(r"TARNBECK_2020", "TARNBECK_1920", text), "a document that the set does not have"),
        (lambda text: text[text.index("\n") * 30 :], "Questions without a row"),
        (lambda text: "no run", "is no run"),
    ],
)
def test_what_a_run_may_not_have(submit, change, said):
    text = gzip.decompress((EXAMPLE / "run.trec.gz").read_bytes()).decode()
    with pytest.raises(StudyError, match=said):
        submit(change(text).encode())


def test_a_folder_needs_one_run_a_yaml_file_and_a_name_of_its_own(tmp_path):
    about = stated(EXAMPLE)
    for name, files, said in (("bm25", ["run.trec.gz"], "the name is taken"), ("mine", [], "put one of run.trec")):
        folder = tmp_path / name
        folder.mkdir()
        for file in files:
            shutil.copyfile(EXAMPLE / file, folder / file)
        with pytest.raises(StudyError, match=said):
            checked(folder, about)
    (tmp_path / "mine" / ABOUT).write_text("a: [")
    with pytest.raises(StudyError, match="write it as YAML"):
        stated(tmp_path / "mine")


def test_a_submission_and_what_was_diagnosed_here_are_rows(submit, study, monkeypatch):
    sent = submit(title="<b>Mine</b>")
    monkeypatch.setattr(board, "submissions", lambda question_set: [sent] if question_set == "demo" else [])
    keep(study.home, "here", study.run("bm25"), evaluate_given(study, study.run("bm25"), "here"))
    found = outside_of(study, "financebench")
    assert {name: one.by for name, one in found.items()} == {"here": "diagnosed here"}
    assert outside_of(study, "demo")["mine"].title == "<b>Mine</b>"
    rows = board.board(study).query("set == 'financebench'").set_index("method")
    assert rows.loc["here", "page_recall"] == rows.loc["bm25", "page_recall"]
    assert rows.loc["here", "rank"] == rows.loc["bm25", "rank"] == 1


def test_a_book_is_old_once_a_run_was_diagnosed(study, tmp_path):
    index = tmp_path / "index.html"
    assert not is_current(study, index)
    index.touch()
    assert is_current(study, index)
    keep(study.home, "here", study.run("bm25"), evaluate_given(study, study.run("bm25"), "here"))
    os.utime(index, (0, 0))
    assert not is_current(study, index)
