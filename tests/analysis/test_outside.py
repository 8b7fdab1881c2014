"""Two sets that were measured apart: every method on every question, and means with intervals over companies."""

from lib.analysis import outside
from lib.methods import METHODS


def test_every_method_of_the_table_has_every_question_of_both_sets():
    measured = outside.values()
    assert set(measured["method"]) <= set(METHODS)
    assert set(measured["metric"]) == {"doc_recall", "page_recall"}
    assert measured["value"].between(0, 1).all()
    of_set = measured.drop_duplicates(["set", "question_id"]).groupby("set").size()
    found = outside.means(measured, {"n_draws": 50, "seed": 1})
    assert (found["n"] == found["set"].map(of_set)).all()
    assert len(found) == len(of_set) * measured["method"].nunique()
    assert found["mean"].between(found["low"], found["high"]).all()
    assert (found["doc_recall"] >= found["mean"]).all()
