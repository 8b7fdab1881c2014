"""What a chapter stands on, over a small study with BM25 alone."""

from types import SimpleNamespace

import pytest

from lib.chapter import Chapter
from lib.schema import StudyError
from tests.small import bm25_alone, open_small, small_artifacts, small_folder, study  # noqa: F401


@pytest.fixture
def chapter(study):  # noqa: F811
    return Chapter.of(study)


def test_values_are_questions_by_methods_and_a_reader_s_method_is_one_more_column(chapter):
    recall = chapter.values("page_recall", ["bm25"], 5)
    assert recall["bm25"].to_dict() == {"q1": 1, "q2": 1, "q3": 1}
    recall["mine"] = [1.0, 0.0, 0.0]
    assert chapter.best(recall) == "bm25"
    assert chapter.best(recall.assign(a=1.0)) == "a", "ties go to the first name"
    assert chapter.means(recall)["mean"].round(2).tolist() == [1, 0.33]
    assert chapter.compare(recall, recall["bm25"])["difference"].round(2).to_dict() == {"mine": -0.67}


def test_gains_are_over_all_questions_or_over_those_that_are_given(chapter):
    assert chapter.gains("page_recall", {"bm25": "bm25"}, 5)["n"].to_dict() == {"bm25": 3}
    found = chapter.gains("page_recall", {"bm25": "bm25"}, 5, ["q1", "q3"])
    assert found[["n", "mean", "difference"]].to_numpy().tolist() == [[2, 1, 0]]


def test_values_are_of_methods_over_all_filings_or_of_a_run(chapter):
    run = ("bm25", "oracle-document")
    found = chapter.values("doc_recall", ["bm25", run], 3)
    assert found[run].tolist() == [1.0] * 3  # the filing is given
    assert found["bm25"].equals(chapter.values("doc_recall", ["bm25"], 3)["bm25"])
    assert found[run].equals(chapter.values("doc_recall", ["bm25"], 3, "oracle-document")["bm25"].rename(run))


@pytest.mark.parametrize(("metric", "method", "culprit"), [("page", "bm25", "page"), ("page_recall", "none", "none")])
def test_an_unknown_metric_or_method_is_named(chapter, metric, method, culprit):
    with pytest.raises(StudyError, match=f"'{culprit}'"):
        chapter.values(metric, [method], 5)


def test_nothing_is_shown_under_a_parameter_that_was_changed_since_the_study_was_opened(chapter, monkeypatch):
    chapter.parameters = {"k": 5}
    notebook = {"k": 5, "dataset": chapter.names.dataset}
    monkeypatch.setattr("lib.chapter.get_ipython", lambda: SimpleNamespace(user_ns=notebook))
    assert chapter.say("At {k}.").markdown == "At 5."
    notebook["k"] = 10
    with pytest.raises(StudyError, match="^k is 10"):
        chapter.say("At {k}.")
    notebook |= {"k": 5, "dataset": "other"}
    with pytest.raises(StudyError, match="^dataset is 'other'"):
        chapter.say("At {k}.")
