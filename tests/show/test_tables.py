"""Reported numbers for their dataset alone."""

from lib.show.tables import reported_runs


def test_reported_figures_are_known_of_their_dataset_alone():
    assert reported_runs("page-questions") == {}
    known = reported_runs("financebench")
    assert known["page_scorer_filing", "standard"]["page_recall"] == 0.55
    assert ("page_scorer", "standard") not in known
    assert known["dense", "oracle-document"]["ctx_bleu"] == 0.25
    assert [method for method, condition in known if condition != "standard"] == ["dense", "dense"]
    assert len(known) == 11 + 2
