from types import SimpleNamespace

import pandas as pd
import pytest

from lib.analysis import decisions
from lib.analysis.budget import CHUNKS, TOKENS
from lib.analysis.decisions import Fork, Leaf, leaves, paths
from lib.methods import METHODS

BUDGETS = pd.DataFrame(
    [
        ("one", "dense", "Dense", CHUNKS, 5, 0.2, 0.1, 0.3),
        ("two", "dense", "Dense", CHUNKS, 5, 0.4, 0.3, 0.5),
        ("one", "dense", "Dense", CHUNKS, 20, 0.9, 0.8, 1.0),
        ("two", "bm25", "BM25", TOKENS, 4096, 0.6, 0.5, 0.7),
    ],
    columns=["set", "method", "title", "unit", "budget", "page_recall", "low", "high"],
)


SMALL = Fork("a?", Leaf("dense"), Fork("b?", Leaf("bm25", TOKENS, 4096), Leaf("splade")))


@pytest.fixture
def study(monkeypatch):
    monkeypatch.setattr(decisions, "times", lambda _: pd.DataFrame({"method": ["bm25"], "question_s": [0.5]}))
    return SimpleNamespace(dataset=SimpleNamespace(name="one"))


def test_each_leaf_has_the_answers_that_lead_to_it_and_its_recall_on_each_set(study):
    found = leaves(study, BUDGETS, SMALL).set_index("method")
    assert [*found.index] == ["dense", "bm25"], "what no set measures has no numbers"
    assert found["when"].tolist() == [(("a?", True),), (("a?", False), ("b?", True))]
    assert found.loc["dense", ["one", "one_low", "one_high", "two"]].tolist() == [0.2, 0.1, 0.3, 0.4]
    assert pd.isna(found.loc["bm25", "one"])
    assert found.loc["bm25", ["two", "question_s"]].tolist() == [0.6, 0.5]
    assert found.loc["bm25", "command"] == 'make measure DATASET=one METHODS="bm25"'


def test_without_measured_leaves_there_is_no_row(study):
    assert leaves(study, BUDGETS.iloc[:0], SMALL).empty


def test_every_leaf_of_the_tree_is_a_method_with_what_its_branch_says_is_there():
    for path, leaf in paths(decisions.TREE):
        needs = METHODS[leaf.method].needs
        answers = [is_yes for _, is_yes in path]
        assert ("metadata" in needs) == answers[0], leaf
        assert ("training" in needs) == dict(path).get(decisions.RANKER, False), leaf
        assert "language model" not in needs
