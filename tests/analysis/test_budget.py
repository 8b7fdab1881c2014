"""Page recall against what is read, and the tree of methods with what its leaves find."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lib.analysis import budget, decisions
from lib.analysis.budget import CHUNKS, TOKENS, by_budget
from lib.analysis.decisions import Fork, Leaf, leaves, paths
from lib.methods import METHODS
from lib.other_sets import with_other_sets
from lib.published import Published
from lib.schema import Names
from lib.studies import open_study


def test_recalls_are_those_that_are_published_for_each_set_and_more_is_never_less(tmp_path):
    sets = with_other_sets(open_study("", artifacts=tmp_path, say=lambda line: None))
    assert [*sets] == ["financebench", "page-questions", "unseen-companies"]
    found = by_budget(sets)
    rises = found.sort_values("budget").groupby(["set", "method", "unit"])["page_recall"].diff().dropna()
    assert (rises >= -0.03).all(), "but for the draws of folds"
    found = found.set_index(["set", "method", "unit", "budget"])
    for name in sets:
        summary = pd.read_csv(Published.of(name, "default").file("summary.csv"))
        is_wanted = (summary["metric"] == "page_recall") & (summary["condition"] == "standard")
        published = summary[is_wanted].set_index(["method", "k"])
        for method, k in (("dense", 1), ("dense_records", 5), ("bm25", 20)):
            expected = published.loc[(method, k), ["mean", "low", "high"]].tolist()
            row = found.loc[(name, method, CHUNKS, k), ["page_recall", "low", "high"]]
            assert row.tolist() == pytest.approx(expected, abs=2e-3)


def test_trained_rows_have_their_strictest_folds_at_every_depth_or_at_none(monkeypatch):
    questions = pd.Index(["q1", "q2"])
    measured = {("ahead", "page_recall", k): pd.Series(0.9, questions) for k in (1, 5)}
    monkeypatch.setattr(budget, "evaluate_all", lambda *given: measured)
    monkeypatch.setattr(budget.reading, "values", lambda *given: pd.DataFrame())
    monkeypatch.setattr(budget.reading, "within", lambda *given: pd.DataFrame())
    study = SimpleNamespace(profile=SimpleNamespace(metrics=SimpleNamespace(ks=[1, 5])))
    strict = {1: {"ahead": pd.DataFrame({"page_recall": [0.1, 0.1]}, questions)}, 5: {}}
    monkeypatch.setattr(budget, "strictest_of", lambda study, names, k: strict[k])
    assert [budget.recalls(study, ["ahead"])[CHUNKS, k]["ahead"].mean() for k in (1, 5)] == [0.9, 0.9]
    strict[5] = {"ahead": pd.DataFrame({"page_recall": [0.3, 0.3]}, questions)}
    assert [budget.recalls(study, ["ahead"])[CHUNKS, k]["ahead"].mean() for k in (1, 5)] == [0.1, 0.3]


def test_each_leaf_has_the_answers_that_lead_to_it_and_its_recall_on_each_set(monkeypatch):
    rows = [
        ("one", "dense", "Dense", CHUNKS, 5, 0.2, 0.1, 0.3),
        ("two", "dense", "Dense", CHUNKS, 5, 0.4, 0.3, 0.5),
        ("one", "dense", "Dense", CHUNKS, 20, 0.9, 0.8, 1.0),
        ("two", "bm25", "BM25", TOKENS, 4096, 0.6, 0.5, 0.7),
    ]
    budgets = pd.DataFrame(rows, columns="set method title unit budget page_recall low high".split())
    monkeypatch.setattr(decisions, "times", lambda _: pd.DataFrame({"method": ["bm25"], "question_s": [0.5]}))
    study = SimpleNamespace(dataset=SimpleNamespace(name="one", collection="one"), names=Names("/my filings", "base"))
    monkeypatch.setattr(
        decisions, "TREE", Fork("a?", Leaf("dense"), Fork("b?", Leaf("bm25", TOKENS, 4096), Leaf("splade")))
    )
    found = leaves(study, budgets).set_index("method")
    assert [*found.index] == ["dense", "bm25"], "what no set measures has no numbers"
    assert found["when"].tolist() == [(("a?", True),), (("a?", False), ("b?", True))]
    assert found.loc["dense", ["one", "one_low", "one_high", "two"]].tolist() == [0.2, 0.1, 0.3, 0.4]
    assert pd.isna(found.loc["bm25", "one"])
    assert found.loc["bm25", ["two", "question_s"]].tolist() == [0.6, 0.5]
    assert found.loc["bm25", "command"] == """make measure DATASET='/my filings' PROFILE=base METHODS="bm25\""""
    assert leaves(study, budgets.iloc[:0]).empty


def test_every_leaf_of_the_tree_is_a_method_with_what_its_branch_says_is_there():
    for path, leaf in paths(decisions.TREE):
        needs = METHODS[leaf.method].needs
        assert ("metadata" in needs) == path[0][1], leaf
        assert ("training" in needs) == dict(path).get(decisions.RANKER, False), leaf
        assert "language model" not in needs
