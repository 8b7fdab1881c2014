"""Values and levels of a chapter's study, on a tiny one."""

import pytest

from lib.chapter import Chapter


@pytest.fixture(scope="module")
def chapter(make_study):
    return Chapter.of(make_study())


def test_values_are_of_methods_over_all_filings_or_of_a_run(chapter):
    found = chapter.values("doc_recall", ["bm25", ("bm25", "oracle-document")], 3)
    assert found[("bm25", "oracle-document")].tolist() == [1.0] * len(chapter.questions)  # the filing is given
    assert found["bm25"].equals(chapter.values("doc_recall", ["bm25"], 3)["bm25"])
    given = chapter.values("doc_recall", ["bm25"], 3, "oracle-document")["bm25"]
    assert found[("bm25", "oracle-document")].equals(given.rename(("bm25", "oracle-document")))


def test_levels_are_the_means_of_several_metrics_with_their_ends(chapter):
    found = chapter.levels(["doc_recall", "page_recall"], ["bm25"], 3)
    assert [*found] == [f"{name}{end}" for name in ("doc_recall", "page_recall") for end in ("", "_low", "_high")]
    means = chapter.means(chapter.values("page_recall", ["bm25"], 3)).loc["bm25"]
    assert found.loc["bm25", ["page_recall", "page_recall_low"]].tolist() == means[["mean", "low"]].tolist()
