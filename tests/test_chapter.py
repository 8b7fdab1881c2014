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
    assert (recall.index.tolist(), [*recall]) == (["q1", "q2", "q3"], ["bm25"])
    assert recall["bm25"].tolist() == [1, 1, 1]
    recall["mine"] = [1.0, 0.0, 0.0]
    assert chapter.best(recall) == "bm25"
    assert chapter.best(recall.assign(a=1.0)) == "a", "ties go to the first name"
    assert chapter.means(recall)["mean"].round(2).tolist() == [1, 0.33]
    assert chapter.compare(recall, recall["bm25"])["difference"].round(2).to_dict() == {"mine": -0.67}
    given = chapter.values("page_recall", ["bm25"], 5, "oracle-document")
    assert given["bm25"].tolist() == [1, 1, 1]


def test_what_there_is_not_is_named(chapter):
    with pytest.raises(StudyError, match="unknown metric 'page'; choose from doc_recall"):
        chapter.values("page", ["bm25"], 5)
    with pytest.raises(StudyError, match="unknown method 'none'"):
        chapter.values("page_recall", ["none"], 5)


def test_values_are_of_methods_over_all_filings_or_of_a_run(chapter):
    found = chapter.values("doc_recall", ["bm25", ("bm25", "oracle-document")], 3)
    assert found[("bm25", "oracle-document")].tolist() == [1.0] * len(chapter.questions)  # the filing is given
    assert found["bm25"].equals(chapter.values("doc_recall", ["bm25"], 3)["bm25"])
    given = chapter.values("doc_recall", ["bm25"], 3, "oracle-document")["bm25"]
    assert found[("bm25", "oracle-document")].equals(given.rename(("bm25", "oracle-document")))


def test_nothing_is_shown_under_a_parameter_that_was_changed_since_the_study_was_opened(chapter, monkeypatch):
    chapter.parameters = {"k": 5}
    chapter.opened = {"k": 5, "dataset": ""}
    monkeypatch.setattr("lib.chapter.get_ipython", lambda: SimpleNamespace(user_ns={"k": 5}))
    assert chapter.say("At {k}.").markdown == "At 5."
    monkeypatch.setattr("lib.chapter.get_ipython", lambda: SimpleNamespace(user_ns={"k": 10}))
    with pytest.raises(StudyError, match="k is 10, but the study was opened with 5: run the cell that opens the study"):
        chapter.say("At {k}.")
