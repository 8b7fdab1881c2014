"""Submissions to the leaderboard: each that is here is as it states; what is wrong with one is said in a sentence."""

import gzip
import os
import re
import shutil

import pytest
import yaml

from lib.book.build import is_current
from lib.book.submissions import ABOUT, FOLDER, checked, published_study, stated
from lib.diagnose.kept import Outside, keep
from lib.evaluation import evaluate
from lib.runs import trec_lines
from lib.schema import StudyError

EXAMPLE = FOLDER / "rank_bm25_pages"


@pytest.mark.parametrize("folder", sorted(FOLDER.iterdir()), ids=lambda folder: folder.name)
def test_every_submission_is_as_it_states(folder):
    """What continuous integration checks of a pull request: the folder's form, the run, and its metrics."""
    about = stated(folder)
    found, study = checked(folder, about), published_study(about.question_set)
    assert set(found.metrics["question_id"]) == set(study.questions["question_id"])
    assert {"doc_recall", "page_recall", "mrr", "ndcg"} <= set(found.metrics["metric"])
    assert [path.name for path in folder.iterdir() if path not in (found.run_file, folder / ABOUT)] == []


@pytest.fixture
def submit(tmp_path):
    """Checks the example's submission with other lines of its run, and what else it states."""

    def check(change=None, name: str = "mine", **about: object) -> Outside:
        folder = shutil.copytree(EXAMPLE, tmp_path / name)
        run = folder / "run.trec.gz"
        if change:
            run.write_bytes(gzip.compress(change(gzip.decompress(run.read_bytes()).decode()).encode()))
        stating = yaml.safe_load((EXAMPLE / ABOUT).read_text()) | about
        (folder / ABOUT).write_text(yaml.safe_dump({name: one for name, one in stating.items() if one is not None}))
        return checked(folder, stated(folder))

    return check


def test_the_studys_own_run_has_the_metrics_that_are_published(submit):
    published = published_study("demo").published
    theirs, run = published.metrics_of("bm25", "standard"), published.runs["standard", "bm25"]
    at_5 = theirs[(theirs["metric"] == "page_recall") & (theirs["k"] == 5)]["value"].mean()
    found = submit(lambda text: trec_lines(run, "bm25").decode(), page_recall=float(at_5)).metrics
    theirs = theirs.astype(dict.fromkeys(["metric", "question_id"], object))
    both = found.merge(theirs, on=["metric", "k", "question_id"])
    assert len(both) == len(found) > 1000
    assert (both["value_x"] == both["value_y"]).all()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"link": 'https://x.org/"onclick='}, "link: an address that begins with https://"),
        ({"needs": ["a miracle"]}, "needs: a list, maybe empty, of training"),
        ({"title": "two\nlines"}, "title: one line"),
        ({"by": None}, "by: who submits"),
        ({"prize": 1}, "'prize' is no field"),
        ({"question_set": "unheard-of"}, "say one of demo, financebench, page-questions"),
        ({"page_recall": 0.9}, "page_recall is 0.9, but the run has 0.2439"),
        ({"name": "bm25"}, "the name is taken"),
        ({"change": lambda text: re.sub(r"#p0000 ", "#p9999 ", text)}, "behind the last one of its filing"),
        ({"change": lambda text: text.replace("TARNBECK_2020", "X")}, "a document that the set does not have"),
        ({"change": lambda text: text[text.index("\n") * 30 :]}, "Questions without a row"),
        ({"change": lambda text: "no run"}, "is no run"),
    ],
)
def test_what_is_wrong_with_a_submission_is_said(submit, wrong, said):
    with pytest.raises(StudyError, match=re.escape(said)):
        submit(**wrong)


def test_a_folder_needs_one_run_and_a_yaml_file(tmp_path):
    with pytest.raises(StudyError, match=r"put one of run.trec"):
        checked(tmp_path, stated(EXAMPLE))
    (tmp_path / ABOUT).write_text("a: [")
    with pytest.raises(StudyError, match="write it as YAML"):
        stated(tmp_path)


def test_a_book_is_old_once_a_run_was_diagnosed(study, tmp_path):
    index = tmp_path / "index.html"
    assert not is_current(study, index)
    index.touch()
    assert is_current(study, index)
    keep(study, "here", study.run("bm25"), evaluate(study, "bm25").assign(method="here"))
    os.utime(index, (0, 0))
    assert not is_current(study, index)
